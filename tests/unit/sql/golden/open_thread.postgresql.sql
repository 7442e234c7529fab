SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.revision IS NULL
 LIMIT %(param_1)s::INTEGER;

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
