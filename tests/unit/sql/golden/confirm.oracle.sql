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
