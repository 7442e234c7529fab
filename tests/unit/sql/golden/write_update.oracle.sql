-- Compiled, not run.

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.id = :abreast_bound_1 AND move.workspace_id = :abreast_bound_2 ORDER BY move.id FOR UPDATE OF move.id;

UPDATE move SET version=:version, stage=:stage WHERE move.id = :abreast_bound_1 AND move.workspace_id = :abreast_bound_2 AND move.version = :abreast_bound_3;

INSERT INTO abreast_workspace_event (workspace_id, event_id, revision, entity_type, entity_id, version, operation, changed_fields, before, after, actor_type, actor_id, on_behalf_of, source_thread_id, run_id, mutation_id, created_at) VALUES (:workspace_id, :event_id, :revision, :entity_type, :entity_id, :version, :operation, :changed_fields, :before, :after, :actor_type, :actor_id, :on_behalf_of, :source_thread_id, :run_id, :mutation_id, :created_at);

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.revision IS NULL
 FETCH FIRST 1 ROWS ONLY;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = :workspace_id_1 FOR UPDATE;

SELECT abreast_workspace_event.event_id, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.revision IS NULL ORDER BY abreast_workspace_event.event_id
 FETCH FIRST 5000 ROWS ONLY;

UPDATE abreast_workspace_event SET revision=:new_revision WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.event_id = :of_event;

UPDATE abreast_workspace SET head=:head WHERE abreast_workspace.workspace_id = :workspace_id_1;
