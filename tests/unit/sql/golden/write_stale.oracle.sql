-- Compiled, not run.

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.id = :abreast_bound_1 AND move.workspace_id = :abreast_bound_2 ORDER BY move.id FOR UPDATE OF move.id;

SELECT abreast_workspace_event.workspace_id, abreast_workspace_event.event_id, abreast_workspace_event.revision, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation, abreast_workspace_event.changed_fields, abreast_workspace_event.before, abreast_workspace_event.after, abreast_workspace_event.actor_type, abreast_workspace_event.actor_id, abreast_workspace_event.on_behalf_of, abreast_workspace_event.source_thread_id, abreast_workspace_event.run_id, abreast_workspace_event.mutation_id, abreast_workspace_event.created_at
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.entity_type = :entity_type_1 AND abreast_workspace_event.entity_id = :entity_id_1 AND abreast_workspace_event.version > :version_1 ORDER BY abreast_workspace_event.version, abreast_workspace_event.event_id
 FETCH FIRST 20 ROWS ONLY;

INSERT INTO abreast_refusal (workspace_id, refusal_id, actor_type, actor_id, on_behalf_of, source_thread_id, run_id, mutation_id, entity_type, entity_id, operation, changed_fields, reason, created_at) VALUES (:workspace_id, :refusal_id, :actor_type, :actor_id, :on_behalf_of, :source_thread_id, :run_id, :mutation_id, :entity_type, :entity_id, :operation, :changed_fields, :reason, :created_at);
