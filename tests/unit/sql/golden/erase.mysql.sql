-- Compiled, not run on MySQL.

UPDATE abreast_workspace_event SET `before`=%s, after=%s WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.entity_type = %s AND abreast_workspace_event.entity_id = %s;

SELECT count(*) AS count_1
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.entity_type = %s AND abreast_workspace_event.entity_id = %s;
