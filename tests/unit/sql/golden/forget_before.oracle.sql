-- Compiled, not run.

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = :workspace_id_1 FOR UPDATE;

SELECT abreast_workspace.floor
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = :workspace_id_1;

DELETE FROM abreast_workspace_event WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.revision < :revision_1;

UPDATE abreast_workspace SET floor=:floor WHERE abreast_workspace.workspace_id = :workspace_id_1;
