SELECT CASE WHEN ((EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.source_thread_id = ? AND abreast_workspace_event.revision > ?)) OR (EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.source_thread_id = ? AND abreast_workspace_event.revision IS NULL))) THEN ? ELSE ? END AS anon_1;
