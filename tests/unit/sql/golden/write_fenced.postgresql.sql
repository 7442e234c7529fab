SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.id = %(abreast_bound_1)s::VARCHAR AND move.workspace_id = %(abreast_bound_2)s::VARCHAR ORDER BY move.id FOR NO KEY UPDATE OF move;

UPDATE move SET version=%(version)s::BIGINT, stage=%(stage)s::VARCHAR WHERE move.id = %(abreast_bound_1)s::VARCHAR AND move.workspace_id = %(abreast_bound_2)s::VARCHAR AND move.version = %(abreast_bound_3)s::BIGINT;

INSERT INTO abreast_workspace_event (workspace_id, event_id, revision, entity_type, entity_id, version, operation, changed_fields, before, after, actor_type, actor_id, on_behalf_of, source_thread_id, run_id, mutation_id, created_at) VALUES (%(workspace_id)s::VARCHAR, %(event_id)s::VARCHAR, %(revision)s::BIGINT, %(entity_type)s::VARCHAR, %(entity_id)s::VARCHAR, %(version)s::BIGINT, %(operation)s::VARCHAR, %(changed_fields)s::VARCHAR, %(before)s::VARCHAR, %(after)s::VARCHAR, %(actor_type)s::VARCHAR, %(actor_id)s::VARCHAR, %(on_behalf_of)s::VARCHAR, %(source_thread_id)s::VARCHAR, %(run_id)s::VARCHAR, %(mutation_id)s::VARCHAR, %(created_at)s::BIGINT);

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.revision IS NULL
 LIMIT %(param_1)s::INTEGER;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR FOR UPDATE;

SELECT abreast_workspace_event.event_id, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.revision IS NULL ORDER BY abreast_workspace_event.event_id
 LIMIT %(param_1)s::INTEGER;

UPDATE abreast_workspace_event SET revision=%(new_revision)s::BIGINT WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.event_id = %(of_event)s::VARCHAR;

UPDATE abreast_workspace SET head=%(head)s::BIGINT WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR;

SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_lease.fence = %(fence_1)s::BIGINT AND abreast_thread_lease.run_id != %(run_id_1)s::VARCHAR FOR SHARE;
