-- Compiled, not run.

SELECT CASE WHEN ((EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :place AND abreast_workspace_event.source_thread_id = :thread AND abreast_workspace_event.revision > :after)) OR (EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :place AND abreast_workspace_event.source_thread_id = :thread AND abreast_workspace_event.revision IS NULL))) THEN :param_1 ELSE :param_2 END AS anon_1 FROM DUAL;
