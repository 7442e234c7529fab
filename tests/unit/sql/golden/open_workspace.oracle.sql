-- Compiled, not run.

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = :workspace_id_1;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = :workspace_id_1 FOR UPDATE;

INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX(abreast_workspace (workspace_id)) */ INTO abreast_workspace (workspace_id, epoch, head, floor) SELECT :param_1 AS workspace_id, :param_2 AS epoch, :param_3 AS head, :param_4 AS floor FROM DUAL
WHERE NOT (EXISTS (SELECT 1
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = :param_5));

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = :workspace_id_1 FOR UPDATE;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = :workspace_id_1;
