-- Compiled, not run on MySQL.

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.revision IS NULL
 LIMIT %s;

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.revision IS NULL
 LIMIT %s;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = %s;

INSERT IGNORE INTO abreast_thread (thread_id, workspace_id, opened_at) SELECT %s AS thread_id, %s AS workspace_id, %s AS opened_at FROM DUAL
WHERE NOT (EXISTS (SELECT 1
FROM abreast_thread
WHERE abreast_thread.thread_id = %s));

SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = %s;

SELECT abreast_thread_cursor.epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark
FROM abreast_thread_cursor
WHERE abreast_thread_cursor.workspace_id = %s AND abreast_thread_cursor.thread_id = %s AND abreast_thread_cursor.scope = %s;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = %s;

INSERT IGNORE INTO abreast_thread_cursor (workspace_id, thread_id, scope, epoch, revision, mark, moved_at) SELECT %s AS workspace_id, %s AS thread_id, %s AS scope, %s AS epoch, %s AS revision, %s AS mark, %s AS moved_at FROM DUAL
WHERE NOT (EXISTS (SELECT 1
FROM abreast_thread_cursor
WHERE abreast_thread_cursor.workspace_id = %s AND abreast_thread_cursor.thread_id = %s AND abreast_thread_cursor.scope = %s));

SELECT abreast_thread_cursor.epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark
FROM abreast_thread_cursor
WHERE abreast_thread_cursor.workspace_id = %s AND abreast_thread_cursor.thread_id = %s AND abreast_thread_cursor.scope = %s;
