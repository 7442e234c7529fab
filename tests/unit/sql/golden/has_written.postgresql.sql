SELECT CASE WHEN ((EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(place)s::VARCHAR AND abreast_workspace_event.source_thread_id = %(thread)s::VARCHAR AND abreast_workspace_event.revision > %(after)s::BIGINT)) OR (EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(place)s::VARCHAR AND abreast_workspace_event.source_thread_id = %(thread)s::VARCHAR AND abreast_workspace_event.revision IS NULL))) THEN %(param_1)s::INTEGER ELSE %(param_2)s::INTEGER END AS anon_1;
