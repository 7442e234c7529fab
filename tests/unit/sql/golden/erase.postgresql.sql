UPDATE abreast_workspace_event SET before=%(before)s::VARCHAR, after=%(after)s::VARCHAR WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.entity_type = %(entity_type_1)s::VARCHAR AND abreast_workspace_event.entity_id = %(entity_id_1)s::VARCHAR;

SELECT count(*) AS count_1
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.entity_type = %(entity_type_1)s::VARCHAR AND abreast_workspace_event.entity_id = %(entity_id_1)s::VARCHAR;
