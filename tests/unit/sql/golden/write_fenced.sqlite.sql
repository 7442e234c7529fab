SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.id = ? AND move.workspace_id = ? ORDER BY move.id;

UPDATE move SET version=?, stage=? WHERE move.id = ? AND move.workspace_id = ? AND move.version = ?;

INSERT INTO abreast_workspace_event (workspace_id, event_id, revision, entity_type, entity_id, version, operation, changed_fields, "before", "after", actor_type, actor_id, on_behalf_of, source_thread_id, run_id, mutation_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision IS NULL
 LIMIT ? OFFSET ?;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = ?;

SELECT abreast_workspace_event.event_id, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision IS NULL ORDER BY abreast_workspace_event.event_id
 LIMIT ? OFFSET ?;

UPDATE abreast_workspace_event SET revision=? WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.event_id = ?;

UPDATE abreast_workspace SET head=? WHERE abreast_workspace.workspace_id = ?;

SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = ? AND abreast_thread_lease.fence = ? AND abreast_thread_lease.run_id != ?;
