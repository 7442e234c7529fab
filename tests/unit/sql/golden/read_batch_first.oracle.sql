-- Compiled, not run.

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :place AND abreast_workspace_event.revision = abreast_workspace.head) AS head_mark, (SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = :thread) AS bound, abreast_thread_cursor.epoch AS cursor_epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :place AND abreast_workspace_event.revision = abreast_thread_cursor.revision) AS mark_found, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :place AND abreast_workspace_event.revision = :in_checkpoint) AS checkpoint_mark, CASE WHEN (EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :place AND abreast_workspace_event.revision IS NULL)) THEN :param_1 ELSE :param_2 END AS waiting
FROM abreast_workspace LEFT OUTER JOIN abreast_thread_cursor ON abreast_thread_cursor.workspace_id = abreast_workspace.workspace_id AND abreast_thread_cursor.thread_id = :thread AND abreast_thread_cursor.scope = :of_scope
WHERE abreast_workspace.workspace_id = :place;

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

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :place AND abreast_workspace_event.revision = abreast_workspace.head) AS head_mark, (SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = :thread) AS bound, abreast_thread_cursor.epoch AS cursor_epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :place AND abreast_workspace_event.revision = abreast_thread_cursor.revision) AS mark_found, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :place AND abreast_workspace_event.revision = :in_checkpoint) AS checkpoint_mark, CASE WHEN (EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :place AND abreast_workspace_event.revision IS NULL)) THEN :param_1 ELSE :param_2 END AS waiting
FROM abreast_workspace LEFT OUTER JOIN abreast_thread_cursor ON abreast_thread_cursor.workspace_id = abreast_workspace.workspace_id AND abreast_thread_cursor.thread_id = :thread AND abreast_thread_cursor.scope = :of_scope
WHERE abreast_workspace.workspace_id = :place;

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.workspace_id = :abreast_workspace ORDER BY move.move_in_date DESC, move.id
 FETCH FIRST 101 ROWS ONLY;

SELECT checklist_item.id, checklist_item.move_id, checklist_item.title, checklist_item.done
FROM checklist_item
WHERE checklist_item.move_id IN (SELECT hop0.id
FROM move hop0
WHERE hop0.workspace_id = :abreast_workspace) AND checklist_item.title IS NOT NULL ORDER BY checklist_item.id
 FETCH FIRST 101 ROWS ONLY;
