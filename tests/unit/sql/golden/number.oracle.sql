-- Compiled, not run.

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.revision IS NULL
 FETCH FIRST 1 ROWS ONLY;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = :workspace_id_1 FOR UPDATE;

SELECT abreast_workspace_event.event_id, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.revision IS NULL ORDER BY abreast_workspace_event.event_id
 FETCH FIRST 5000 ROWS ONLY;

UPDATE abreast_workspace_event SET revision=:new_revision WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.event_id = :of_event;

UPDATE abreast_workspace SET head=:head WHERE abreast_workspace.workspace_id = :workspace_id_1;
