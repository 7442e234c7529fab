-- Compiled, not run on MySQL.

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.id = %s AND move.workspace_id = %s ORDER BY move.id FOR UPDATE;

SELECT abreast_workspace_event.workspace_id, abreast_workspace_event.event_id, abreast_workspace_event.revision, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation, abreast_workspace_event.changed_fields, abreast_workspace_event.`before`, abreast_workspace_event.after, abreast_workspace_event.actor_type, abreast_workspace_event.actor_id, abreast_workspace_event.on_behalf_of, abreast_workspace_event.source_thread_id, abreast_workspace_event.run_id, abreast_workspace_event.mutation_id, abreast_workspace_event.created_at
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.entity_type = %s AND abreast_workspace_event.entity_id = %s AND abreast_workspace_event.version > %s ORDER BY abreast_workspace_event.version, abreast_workspace_event.event_id
 LIMIT %s;

INSERT INTO abreast_refusal (workspace_id, refusal_id, actor_type, actor_id, on_behalf_of, source_thread_id, run_id, mutation_id, entity_type, entity_id, operation, changed_fields, reason, created_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s);
