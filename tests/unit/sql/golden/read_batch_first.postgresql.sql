SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(place)s::VARCHAR AND abreast_workspace_event.revision = abreast_workspace.head) AS head_mark, (SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = %(thread)s::VARCHAR) AS bound, abreast_thread_cursor.epoch AS cursor_epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(place)s::VARCHAR AND abreast_workspace_event.revision = abreast_thread_cursor.revision) AS mark_found, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(place)s::VARCHAR AND abreast_workspace_event.revision = %(in_checkpoint)s::BIGINT) AS checkpoint_mark, CASE WHEN (EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(place)s::VARCHAR AND abreast_workspace_event.revision IS NULL)) THEN %(param_1)s::INTEGER ELSE %(param_2)s::INTEGER END AS waiting
FROM abreast_workspace LEFT OUTER JOIN abreast_thread_cursor ON abreast_thread_cursor.workspace_id = abreast_workspace.workspace_id AND abreast_thread_cursor.thread_id = %(thread)s::VARCHAR AND abreast_thread_cursor.scope = %(of_scope)s::VARCHAR
WHERE abreast_workspace.workspace_id = %(place)s::VARCHAR;

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.revision IS NULL
 LIMIT %(param_1)s::INTEGER;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR;

INSERT INTO abreast_thread (thread_id, workspace_id, opened_at) VALUES (%(thread_id)s::VARCHAR, %(workspace_id)s::VARCHAR, %(opened_at)s::BIGINT) ON CONFLICT (thread_id) DO NOTHING;

SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = %(thread_id_1)s::VARCHAR;

SELECT abreast_thread_cursor.epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark
FROM abreast_thread_cursor
WHERE abreast_thread_cursor.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_thread_cursor.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_cursor.scope = %(scope_1)s::VARCHAR;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR;

INSERT INTO abreast_thread_cursor (workspace_id, thread_id, scope, epoch, revision, mark, moved_at) VALUES (%(workspace_id)s::VARCHAR, %(thread_id)s::VARCHAR, %(scope)s::VARCHAR, %(epoch)s::VARCHAR, %(revision)s::BIGINT, %(mark)s::VARCHAR, %(moved_at)s::BIGINT) ON CONFLICT (workspace_id, thread_id, scope) DO NOTHING;

SELECT abreast_thread_cursor.epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark
FROM abreast_thread_cursor
WHERE abreast_thread_cursor.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_thread_cursor.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_cursor.scope = %(scope_1)s::VARCHAR;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(place)s::VARCHAR AND abreast_workspace_event.revision = abreast_workspace.head) AS head_mark, (SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = %(thread)s::VARCHAR) AS bound, abreast_thread_cursor.epoch AS cursor_epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(place)s::VARCHAR AND abreast_workspace_event.revision = abreast_thread_cursor.revision) AS mark_found, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(place)s::VARCHAR AND abreast_workspace_event.revision = %(in_checkpoint)s::BIGINT) AS checkpoint_mark, CASE WHEN (EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(place)s::VARCHAR AND abreast_workspace_event.revision IS NULL)) THEN %(param_1)s::INTEGER ELSE %(param_2)s::INTEGER END AS waiting
FROM abreast_workspace LEFT OUTER JOIN abreast_thread_cursor ON abreast_thread_cursor.workspace_id = abreast_workspace.workspace_id AND abreast_thread_cursor.thread_id = %(thread)s::VARCHAR AND abreast_thread_cursor.scope = %(of_scope)s::VARCHAR
WHERE abreast_workspace.workspace_id = %(place)s::VARCHAR;

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.workspace_id = %(abreast_workspace)s::VARCHAR ORDER BY move.move_in_date DESC, move.id
 LIMIT %(param_1)s::INTEGER;

SELECT checklist_item.id, checklist_item.move_id, checklist_item.title, checklist_item.done
FROM checklist_item
WHERE checklist_item.move_id IN (SELECT hop0.id
FROM move AS hop0
WHERE hop0.workspace_id = %(abreast_workspace)s::VARCHAR) AND checklist_item.title IS NOT NULL ORDER BY checklist_item.id
 LIMIT %(param_1)s::INTEGER;
