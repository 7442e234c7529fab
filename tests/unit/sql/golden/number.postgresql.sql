SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.revision IS NULL
 LIMIT %(param_1)s::INTEGER;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR FOR UPDATE;

SELECT abreast_workspace_event.event_id, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.revision IS NULL ORDER BY abreast_workspace_event.event_id
 LIMIT %(param_1)s::INTEGER;

UPDATE abreast_workspace_event SET revision=%(new_revision)s::BIGINT WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.event_id = %(of_event)s::VARCHAR;

UPDATE abreast_workspace SET head=%(head)s::BIGINT WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR;
