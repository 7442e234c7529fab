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
