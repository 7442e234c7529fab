-- Compiled, not run on MySQL.

SELECT CASE WHEN ((EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.source_thread_id = %s AND abreast_workspace_event.revision > %s)) OR (EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.source_thread_id = %s AND abreast_workspace_event.revision IS NULL))) THEN %s ELSE %s END AS anon_1;
