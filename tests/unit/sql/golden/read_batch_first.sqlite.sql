SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision = abreast_workspace.head) AS head_mark, (SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = ?) AS bound, abreast_thread_cursor.epoch AS cursor_epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision = abreast_thread_cursor.revision) AS mark_found, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision = ?) AS checkpoint_mark, CASE WHEN (EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision IS NULL)) THEN ? ELSE ? END AS waiting
FROM abreast_workspace LEFT OUTER JOIN abreast_thread_cursor ON abreast_thread_cursor.workspace_id = abreast_workspace.workspace_id AND abreast_thread_cursor.thread_id = ? AND abreast_thread_cursor.scope = ?
WHERE abreast_workspace.workspace_id = ?;

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision IS NULL
 LIMIT ? OFFSET ?;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = ?;

INSERT INTO abreast_thread (thread_id, workspace_id, opened_at) VALUES (?, ?, ?) ON CONFLICT (thread_id) DO NOTHING;

SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = ?;

SELECT abreast_thread_cursor.epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark
FROM abreast_thread_cursor
WHERE abreast_thread_cursor.workspace_id = ? AND abreast_thread_cursor.thread_id = ? AND abreast_thread_cursor.scope = ?;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = ?;

INSERT INTO abreast_thread_cursor (workspace_id, thread_id, scope, epoch, revision, mark, moved_at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workspace_id, thread_id, scope) DO NOTHING;

SELECT abreast_thread_cursor.epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark
FROM abreast_thread_cursor
WHERE abreast_thread_cursor.workspace_id = ? AND abreast_thread_cursor.thread_id = ? AND abreast_thread_cursor.scope = ?;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision = abreast_workspace.head) AS head_mark, (SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = ?) AS bound, abreast_thread_cursor.epoch AS cursor_epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision = abreast_thread_cursor.revision) AS mark_found, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision = ?) AS checkpoint_mark, CASE WHEN (EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision IS NULL)) THEN ? ELSE ? END AS waiting
FROM abreast_workspace LEFT OUTER JOIN abreast_thread_cursor ON abreast_thread_cursor.workspace_id = abreast_workspace.workspace_id AND abreast_thread_cursor.thread_id = ? AND abreast_thread_cursor.scope = ?
WHERE abreast_workspace.workspace_id = ?;

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.workspace_id = ? ORDER BY move.move_in_date DESC, move.id
 LIMIT ? OFFSET ?;

SELECT checklist_item.id, checklist_item.move_id, checklist_item.title, checklist_item.done
FROM checklist_item
WHERE checklist_item.move_id IN (SELECT hop0.id
FROM move AS hop0
WHERE hop0.workspace_id = ?) AND checklist_item.title IS NOT NULL ORDER BY checklist_item.id
 LIMIT ? OFFSET ?;
