SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = ?;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = ?;

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision = ?;

UPDATE abreast_thread_cursor SET epoch=?, revision=?, mark=?, moved_at=? WHERE abreast_thread_cursor.workspace_id = ? AND abreast_thread_cursor.thread_id = ? AND abreast_thread_cursor.scope = ? AND (abreast_thread_cursor.epoch != ? OR abreast_thread_cursor.revision < ? OR abreast_thread_cursor.revision = ? AND abreast_thread_cursor.mark != ?);

INSERT INTO abreast_thread_cursor (workspace_id, thread_id, scope, epoch, revision, mark, moved_at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workspace_id, thread_id, scope) DO NOTHING;

UPDATE abreast_run SET ended_at=CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER), outcome=?, since=?, given=?, nominated=? WHERE abreast_run.thread_id = ? AND abreast_run.run_id = ? AND abreast_run.outcome = ?;

UPDATE abreast_thread_lease SET run_id=?, expires_at=?, stop_asked_by=? WHERE abreast_thread_lease.thread_id = ? AND abreast_thread_lease.fence = ? AND abreast_thread_lease.run_id != ?;
