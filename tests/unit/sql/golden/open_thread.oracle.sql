-- Compiled, not run.

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.revision IS NULL
 FETCH FIRST 1 ROWS ONLY;

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.revision IS NULL
 FETCH FIRST 1 ROWS ONLY;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = :workspace_id_1;

INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX(abreast_thread (thread_id)) */ INTO abreast_thread (thread_id, workspace_id, opened_at) SELECT :param_1 AS thread_id, :param_2 AS workspace_id, :param_3 AS opened_at FROM DUAL
WHERE NOT (EXISTS (SELECT 1
FROM abreast_thread
WHERE abreast_thread.thread_id = :param_4));

SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = :thread_id_1;

SELECT abreast_thread_cursor.epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark
FROM abreast_thread_cursor
WHERE abreast_thread_cursor.workspace_id = :workspace_id_1 AND abreast_thread_cursor.thread_id = :thread_id_1 AND abreast_thread_cursor.scope = :scope_1;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = :workspace_id_1;

INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX(abreast_thread_cursor (workspace_id, thread_id, scope)) */ INTO abreast_thread_cursor (workspace_id, thread_id, scope, epoch, revision, mark, moved_at) SELECT :param_1 AS workspace_id, :param_2 AS thread_id, :param_3 AS scope, :param_4 AS epoch, :param_5 AS revision, :param_6 AS mark, :param_7 AS moved_at FROM DUAL
WHERE NOT (EXISTS (SELECT 1
FROM abreast_thread_cursor
WHERE abreast_thread_cursor.workspace_id = :param_8 AND abreast_thread_cursor.thread_id = :param_9 AND abreast_thread_cursor.scope = :param_10));

SELECT abreast_thread_cursor.epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark
FROM abreast_thread_cursor
WHERE abreast_thread_cursor.workspace_id = :workspace_id_1 AND abreast_thread_cursor.thread_id = :thread_id_1 AND abreast_thread_cursor.scope = :scope_1;
