SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.revision IS NULL
 LIMIT %(param_1)s::INTEGER;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = %(workspace_id_1)s::VARCHAR;

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.workspace_id = %(abreast_workspace)s::VARCHAR ORDER BY move.move_in_date DESC, move.id
 LIMIT %(param_1)s::INTEGER;

SELECT checklist_item.id, checklist_item.move_id, checklist_item.title, checklist_item.done
FROM checklist_item
WHERE checklist_item.move_id IN (SELECT hop0.id
FROM move AS hop0
WHERE hop0.workspace_id = %(abreast_workspace)s::VARCHAR) AND checklist_item.title IS NOT NULL ORDER BY checklist_item.id
 LIMIT %(param_1)s::INTEGER;

SELECT abreast_entity_version.entity_id, abreast_entity_version.version
FROM abreast_entity_version
WHERE abreast_entity_version.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_entity_version.entity_type = %(entity_type_1)s::VARCHAR AND abreast_entity_version.entity_id IN (%(entity_id_1_1)s::VARCHAR, %(entity_id_1_2)s::VARCHAR, %(entity_id_1_3)s::VARCHAR);
