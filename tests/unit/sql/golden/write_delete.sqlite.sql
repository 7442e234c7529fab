SELECT hop0.workspace_id
FROM move AS hop0
WHERE hop0.id = (SELECT checklist_item.move_id
FROM checklist_item
WHERE checklist_item.id = ? AND checklist_item.move_id IN (SELECT hop0.id
FROM move AS hop0
WHERE hop0.workspace_id = ?));

SELECT checklist_item.id, checklist_item.move_id, checklist_item.title, checklist_item.done
FROM checklist_item
WHERE checklist_item.id = ? AND checklist_item.move_id IN (SELECT hop0.id
FROM move AS hop0
WHERE hop0.workspace_id = ?) ORDER BY checklist_item.id;

SELECT abreast_entity_version.version
FROM abreast_entity_version
WHERE abreast_entity_version.workspace_id = ? AND abreast_entity_version.entity_type = ? AND abreast_entity_version.entity_id = ?;

DELETE FROM checklist_item WHERE checklist_item.id = ?;

UPDATE abreast_entity_version SET version=? WHERE abreast_entity_version.workspace_id = ? AND abreast_entity_version.entity_type = ? AND abreast_entity_version.entity_id = ? AND abreast_entity_version.version < ?;

INSERT INTO abreast_workspace_event (workspace_id, event_id, revision, entity_type, entity_id, version, operation, changed_fields, "before", "after", actor_type, actor_id, on_behalf_of, source_thread_id, run_id, mutation_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision IS NULL
 LIMIT ? OFFSET ?;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = ?;

SELECT abreast_workspace_event.event_id, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision IS NULL ORDER BY abreast_workspace_event.event_id
 LIMIT ? OFFSET ?;

UPDATE abreast_workspace_event SET revision=? WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.event_id = ?;

UPDATE abreast_workspace SET head=? WHERE abreast_workspace.workspace_id = ?;
