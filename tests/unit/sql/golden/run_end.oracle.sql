-- Compiled, not run.

SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = :thread_id_1;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = :workspace_id_1;

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.revision = :revision_1;

UPDATE abreast_thread_cursor SET epoch=:epoch, revision=:revision, mark=:mark, moved_at=:moved_at WHERE abreast_thread_cursor.workspace_id = :workspace_id_1 AND abreast_thread_cursor.thread_id = :thread_id_1 AND abreast_thread_cursor.scope = :scope_1 AND (abreast_thread_cursor.epoch != :epoch_1 OR abreast_thread_cursor.revision < :revision_1 OR abreast_thread_cursor.revision = :revision_2 AND abreast_thread_cursor.mark != :mark_1);

INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX(abreast_thread_cursor (workspace_id, thread_id, scope)) */ INTO abreast_thread_cursor (workspace_id, thread_id, scope, epoch, revision, mark, moved_at) SELECT :param_1 AS workspace_id, :param_2 AS thread_id, :param_3 AS scope, :param_4 AS epoch, :param_5 AS revision, :param_6 AS mark, :param_7 AS moved_at FROM DUAL
WHERE NOT (EXISTS (SELECT 1
FROM abreast_thread_cursor
WHERE abreast_thread_cursor.workspace_id = :param_8 AND abreast_thread_cursor.thread_id = :param_9 AND abreast_thread_cursor.scope = :param_10));

UPDATE abreast_run SET ended_at=ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000, outcome=:outcome, since=:since, given=:given, nominated=:nominated WHERE abreast_run.thread_id = :thread_id_1 AND abreast_run.run_id = :run_id_1 AND abreast_run.outcome = :outcome_1;

UPDATE abreast_thread_lease SET run_id=:run_id, expires_at=:expires_at, stop_asked_by=:stop_asked_by WHERE abreast_thread_lease.thread_id = :thread_id_1 AND abreast_thread_lease.fence = :fence_1 AND abreast_thread_lease.run_id != :run_id_1;
