SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = ?;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = ?;

UPDATE abreast_workspace SET epoch=? WHERE abreast_workspace.workspace_id = ?;
