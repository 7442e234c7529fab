SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision IS NULL
 LIMIT ? OFFSET ?;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = ?;

SELECT abreast_workspace_event.event_id, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision IS NULL ORDER BY abreast_workspace_event.event_id
 LIMIT ? OFFSET ?;

UPDATE abreast_workspace_event SET revision=? WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.event_id = ?;

UPDATE abreast_workspace SET head=? WHERE abreast_workspace.workspace_id = ?;
