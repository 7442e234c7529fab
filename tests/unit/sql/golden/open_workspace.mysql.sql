-- Compiled, not run on MySQL.

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = %s;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %s FOR UPDATE;

INSERT IGNORE INTO abreast_workspace (workspace_id, epoch, head, floor) SELECT %s AS workspace_id, %s AS epoch, %s AS head, %s AS floor FROM DUAL
WHERE NOT (EXISTS (SELECT 1
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %s));

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %s FOR UPDATE;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = %s;
