SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = ?;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = ?;

SELECT abreast_workspace.floor
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = ?;

DELETE FROM abreast_workspace_event WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision < ?;

UPDATE abreast_workspace SET floor=? WHERE abreast_workspace.workspace_id = ?;

SELECT abreast_workspace_event.created_at
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision = ?;

DELETE FROM abreast_refusal WHERE abreast_refusal.workspace_id = ? AND abreast_refusal.created_at < ?;
