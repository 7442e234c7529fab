-- Compiled, not run on MySQL.

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.revision IS NULL
 LIMIT %s;

SELECT abreast_workspace_event.workspace_id, abreast_workspace_event.event_id, abreast_workspace_event.revision, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation, abreast_workspace_event.changed_fields, abreast_workspace_event.`before`, abreast_workspace_event.after, abreast_workspace_event.actor_type, abreast_workspace_event.actor_id, abreast_workspace_event.on_behalf_of, abreast_workspace_event.source_thread_id, abreast_workspace_event.run_id, abreast_workspace_event.mutation_id, abreast_workspace_event.created_at
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.revision > %s AND abreast_workspace_event.entity_type = %s AND abreast_workspace_event.entity_id = %s ORDER BY abreast_workspace_event.revision
 LIMIT %s;
