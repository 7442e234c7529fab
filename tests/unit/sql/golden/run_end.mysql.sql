-- Compiled, not run on MySQL.

SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = %s;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = %s;

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.revision = %s;

UPDATE abreast_thread_cursor SET epoch=%s, revision=%s, mark=%s, moved_at=%s WHERE abreast_thread_cursor.workspace_id = %s AND abreast_thread_cursor.thread_id = %s AND abreast_thread_cursor.scope = %s AND (abreast_thread_cursor.epoch != %s OR abreast_thread_cursor.revision < %s OR abreast_thread_cursor.revision = %s AND abreast_thread_cursor.mark != %s);

INSERT IGNORE INTO abreast_thread_cursor (workspace_id, thread_id, scope, epoch, revision, mark, moved_at) SELECT %s AS workspace_id, %s AS thread_id, %s AS scope, %s AS epoch, %s AS revision, %s AS mark, %s AS moved_at FROM DUAL
WHERE NOT (EXISTS (SELECT 1
FROM abreast_thread_cursor
WHERE abreast_thread_cursor.workspace_id = %s AND abreast_thread_cursor.thread_id = %s AND abreast_thread_cursor.scope = %s));

UPDATE abreast_run SET ended_at=CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED), outcome=%s, since=%s, given=%s, nominated=%s WHERE abreast_run.thread_id = %s AND abreast_run.run_id = %s AND abreast_run.outcome = %s;

UPDATE abreast_thread_lease SET run_id=%s, expires_at=%s, stop_asked_by=%s WHERE abreast_thread_lease.thread_id = %s AND abreast_thread_lease.fence = %s AND abreast_thread_lease.run_id != %s;
