-- Compiled, not run on MySQL.

SELECT abreast_installation.secret
FROM abreast_installation
WHERE abreast_installation.name = %s;

SELECT abreast_entity_version.version
FROM abreast_entity_version
WHERE abreast_entity_version.workspace_id = %s AND abreast_entity_version.entity_type = %s AND abreast_entity_version.entity_id = %s FOR UPDATE;

SELECT max(abreast_workspace_event.version) AS max_1
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.entity_type = %s AND abreast_workspace_event.entity_id = %s;

INSERT INTO move (id, workspace_id, version, move_in_date, stage) VALUES (%s, %s, %s, %s, %s);

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage, (SELECT abreast_entity_version.version
FROM abreast_entity_version
WHERE abreast_entity_version.workspace_id = %s AND abreast_entity_version.entity_type = %s AND abreast_entity_version.entity_id = %s) AS anon_1, (SELECT max(abreast_workspace_event.version) AS max_1
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.entity_type = %s AND abreast_workspace_event.entity_id = %s) AS anon_2
FROM move
WHERE move.id = %s AND move.workspace_id = %s;

INSERT INTO abreast_workspace_event (workspace_id, event_id, revision, entity_type, entity_id, version, operation, changed_fields, `before`, after, actor_type, actor_id, on_behalf_of, source_thread_id, run_id, mutation_id, created_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s);

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.revision IS NULL
 LIMIT %s;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %s FOR UPDATE;

SELECT abreast_workspace_event.event_id, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.revision IS NULL ORDER BY abreast_workspace_event.event_id
 LIMIT %s;

UPDATE abreast_workspace_event SET revision=%s WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.event_id = %s;

UPDATE abreast_workspace SET head=%s WHERE abreast_workspace.workspace_id = %s;
