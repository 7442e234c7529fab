-- Compiled, not run.

UPDATE abreast_workspace_event SET before=:before, after=:after WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.entity_type = :entity_type_1 AND abreast_workspace_event.entity_id = :entity_id_1;

SELECT count(*) AS count_1
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.entity_type = :entity_type_1 AND abreast_workspace_event.entity_id = :entity_id_1;
