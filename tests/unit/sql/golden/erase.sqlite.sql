UPDATE abreast_workspace_event SET "before"=?, "after"=? WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.entity_type = ? AND abreast_workspace_event.entity_id = ?;

SELECT count(*) AS count_1
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.entity_type = ? AND abreast_workspace_event.entity_id = ?;
