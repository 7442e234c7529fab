SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.id = %(abreast_bound_1)s::VARCHAR AND move.workspace_id = %(abreast_bound_2)s::VARCHAR ORDER BY move.id FOR UPDATE OF move;

SELECT abreast_workspace_event.workspace_id, abreast_workspace_event.event_id, abreast_workspace_event.revision, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation, abreast_workspace_event.changed_fields, abreast_workspace_event.before, abreast_workspace_event.after, abreast_workspace_event.actor_type, abreast_workspace_event.actor_id, abreast_workspace_event.on_behalf_of, abreast_workspace_event.source_thread_id, abreast_workspace_event.run_id, abreast_workspace_event.mutation_id, abreast_workspace_event.created_at
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.entity_type = %(entity_type_1)s::VARCHAR AND abreast_workspace_event.entity_id = %(entity_id_1)s::VARCHAR AND abreast_workspace_event.version > %(version_1)s::BIGINT ORDER BY abreast_workspace_event.version, abreast_workspace_event.event_id
 LIMIT %(param_1)s::INTEGER;
