SELECT abreast_installation.secret
FROM abreast_installation
WHERE abreast_installation.name = ?;

SELECT abreast_entity_version.version
FROM abreast_entity_version
WHERE abreast_entity_version.workspace_id = ? AND abreast_entity_version.entity_type = ? AND abreast_entity_version.entity_id = ?;

SELECT max(abreast_workspace_event.version) AS max_1
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.entity_type = ? AND abreast_workspace_event.entity_id = ?;

INSERT INTO move (id, workspace_id, version, move_in_date, stage) VALUES (?, ?, ?, ?, ?);

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage, (SELECT abreast_entity_version.version
FROM abreast_entity_version
WHERE abreast_entity_version.workspace_id = ? AND abreast_entity_version.entity_type = ? AND abreast_entity_version.entity_id = ?) AS anon_1, (SELECT max(abreast_workspace_event.version) AS max_1
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.entity_type = ? AND abreast_workspace_event.entity_id = ?) AS anon_2
FROM move
WHERE move.id = ? AND move.workspace_id = ?;

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
