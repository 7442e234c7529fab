SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage, move.changed_at
FROM move
WHERE move.id = ? AND move.workspace_id = ? ORDER BY move.id;

SELECT abreast_entity_version.version
FROM abreast_entity_version
WHERE abreast_entity_version.workspace_id = ? AND abreast_entity_version.entity_type = ? AND abreast_entity_version.entity_id = ?;

SELECT max(abreast_workspace_event.version) AS max_1
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.entity_type = ? AND abreast_workspace_event.entity_id = ?;

SELECT move.id
FROM move
WHERE move.id = ? AND move.workspace_id = ?;

SELECT checklist_item.id, checklist_item.move_id, checklist_item.title, checklist_item.done
FROM checklist_item
WHERE checklist_item.move_id = ? AND checklist_item.move_id IN (SELECT hop0.id
FROM move AS hop0
WHERE hop0.workspace_id = ?) ORDER BY checklist_item.id;

UPDATE move SET workspace_id=?, version=? WHERE move.id = ? AND move.workspace_id = ? AND move.version = ?;

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

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision IS NULL
 LIMIT ? OFFSET ?;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = ?;

INSERT INTO abreast_workspace (workspace_id, epoch, head, floor) VALUES (?, ?, ?, ?) ON CONFLICT (workspace_id) DO NOTHING;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = ?;

SELECT abreast_workspace_event.event_id, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision IS NULL ORDER BY abreast_workspace_event.event_id
 LIMIT ? OFFSET ?;

UPDATE abreast_workspace_event SET revision=? WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.event_id = ?;

UPDATE abreast_workspace SET head=? WHERE abreast_workspace.workspace_id = ?;
