SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR FOR UPDATE;

SELECT abreast_workspace.floor
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR;

DELETE FROM abreast_workspace_event WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.revision < %(revision_1)s::BIGINT;

UPDATE abreast_workspace SET floor=%(floor)s::BIGINT WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR;
