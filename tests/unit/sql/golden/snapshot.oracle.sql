-- Compiled, not run.

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.revision IS NULL
 FETCH FIRST 1 ROWS ONLY;

SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, abreast_workspace_event.event_id
FROM abreast_workspace LEFT OUTER JOIN abreast_workspace_event ON abreast_workspace_event.workspace_id = abreast_workspace.workspace_id AND abreast_workspace_event.revision = abreast_workspace.head
WHERE abreast_workspace.workspace_id = :workspace_id_1;

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.workspace_id = :abreast_workspace ORDER BY move.move_in_date DESC, move.id
 FETCH FIRST 101 ROWS ONLY;

SELECT checklist_item.id, checklist_item.move_id, checklist_item.title, checklist_item.done
FROM checklist_item
WHERE checklist_item.move_id IN (SELECT hop0.id
FROM move hop0
WHERE hop0.workspace_id = :abreast_workspace) AND checklist_item.title IS NOT NULL ORDER BY checklist_item.id
 FETCH FIRST 101 ROWS ONLY;

SELECT abreast_entity_version.entity_id, abreast_entity_version.version
FROM abreast_entity_version
WHERE abreast_entity_version.workspace_id = :workspace_id_1 AND abreast_entity_version.entity_type = :entity_type_1 AND abreast_entity_version.entity_id IN (:entity_id_1_1, :entity_id_1_2, :entity_id_1_3);
