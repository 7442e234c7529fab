SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR FOR UPDATE;

SELECT abreast_workspace.floor
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR;

DELETE FROM abreast_workspace_event WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.revision < %(revision_1)s::BIGINT;

UPDATE abreast_workspace SET floor=%(floor)s::BIGINT WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR;

SELECT abreast_workspace_event.created_at
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.revision = %(revision_1)s::BIGINT;

DELETE FROM abreast_refusal WHERE abreast_refusal.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_refusal.created_at < %(created_at_1)s::BIGINT;
