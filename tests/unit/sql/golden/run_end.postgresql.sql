SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = %(thread_id_1)s::VARCHAR;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR;

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.revision = %(revision_1)s::BIGINT;

UPDATE abreast_thread_cursor SET epoch=%(epoch)s::VARCHAR, revision=%(revision)s::BIGINT, mark=%(mark)s::VARCHAR, moved_at=%(moved_at)s::BIGINT WHERE abreast_thread_cursor.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_thread_cursor.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_cursor.scope = %(scope_1)s::VARCHAR AND (abreast_thread_cursor.epoch != %(epoch_1)s::VARCHAR OR abreast_thread_cursor.revision < %(revision_1)s::BIGINT OR abreast_thread_cursor.revision = %(revision_2)s::BIGINT AND abreast_thread_cursor.mark != %(mark_1)s::VARCHAR);

INSERT INTO abreast_thread_cursor (workspace_id, thread_id, scope, epoch, revision, mark, moved_at) VALUES (%(workspace_id)s::VARCHAR, %(thread_id)s::VARCHAR, %(scope)s::VARCHAR, %(epoch)s::VARCHAR, %(revision)s::BIGINT, %(mark)s::VARCHAR, %(moved_at)s::BIGINT) ON CONFLICT (workspace_id, thread_id, scope) DO NOTHING;

UPDATE abreast_run SET ended_at=CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT), outcome=%(outcome)s::VARCHAR, since=%(since)s::VARCHAR, given=%(given)s::VARCHAR, nominated=%(nominated)s::VARCHAR WHERE abreast_run.thread_id = %(thread_id_1)s::VARCHAR AND abreast_run.run_id = %(run_id_1)s::VARCHAR AND abreast_run.outcome = %(outcome_1)s::VARCHAR;

UPDATE abreast_thread_lease SET run_id=%(run_id)s::VARCHAR, expires_at=%(expires_at)s::BIGINT, stop_asked_by=%(stop_asked_by)s::VARCHAR WHERE abreast_thread_lease.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_lease.fence = %(fence_1)s::BIGINT AND abreast_thread_lease.run_id != %(run_id_1)s::VARCHAR;
