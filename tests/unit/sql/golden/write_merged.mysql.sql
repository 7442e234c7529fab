-- Compiled, not run on MySQL.

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.id = %s AND move.workspace_id = %s ORDER BY move.id FOR UPDATE;

SELECT abreast_workspace_event.workspace_id, abreast_workspace_event.event_id, abreast_workspace_event.revision, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation, abreast_workspace_event.changed_fields, abreast_workspace_event.`before`, abreast_workspace_event.after, abreast_workspace_event.actor_type, abreast_workspace_event.actor_id, abreast_workspace_event.on_behalf_of, abreast_workspace_event.source_thread_id, abreast_workspace_event.run_id, abreast_workspace_event.mutation_id, abreast_workspace_event.created_at
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.entity_type = %s AND abreast_workspace_event.entity_id = %s AND abreast_workspace_event.version > %s ORDER BY abreast_workspace_event.version, abreast_workspace_event.event_id
 LIMIT %s;

UPDATE move SET version=%s, move_in_date=%s WHERE move.id = %s AND move.workspace_id = %s AND move.version = %s;

INSERT INTO abreast_workspace_event (workspace_id, event_id, revision, entity_type, entity_id, version, operation, changed_fields, `before`, after, actor_type, actor_id, on_behalf_of, source_thread_id, run_id, mutation_id, created_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s);

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.revision IS NULL
 LIMIT %s;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %s FOR UPDATE;

SELECT abreast_workspace_event.event_id, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.revision IS NULL ORDER BY abreast_workspace_event.event_id
 LIMIT %s;

UPDATE abreast_workspace_event SET revision=%s WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.event_id = %s;

UPDATE abreast_workspace SET head=%s WHERE abreast_workspace.workspace_id = %s;
