-- Compiled, not run on MySQL.

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage, move.changed_at
FROM move
WHERE move.id = %s AND move.workspace_id = %s ORDER BY move.id FOR UPDATE;

SELECT abreast_entity_version.version
FROM abreast_entity_version
WHERE abreast_entity_version.workspace_id = %s AND abreast_entity_version.entity_type = %s AND abreast_entity_version.entity_id = %s FOR UPDATE;

SELECT max(abreast_workspace_event.version) AS max_1
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.entity_type = %s AND abreast_workspace_event.entity_id = %s;

SELECT move.id
FROM move
WHERE move.id = %s AND move.workspace_id = %s;

SELECT checklist_item.id, checklist_item.move_id, checklist_item.title, checklist_item.done
FROM checklist_item
WHERE checklist_item.move_id = %s AND checklist_item.move_id IN (SELECT hop0.id
FROM move AS hop0
WHERE hop0.workspace_id = %s) ORDER BY checklist_item.id FOR UPDATE;

UPDATE move SET workspace_id=%s, version=%s WHERE move.id = %s AND move.workspace_id = %s AND move.version = %s;

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

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.revision IS NULL
 LIMIT %s;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %s FOR UPDATE;

INSERT IGNORE INTO abreast_workspace (workspace_id, epoch, head, floor) SELECT %s AS workspace_id, %s AS epoch, %s AS head, %s AS floor FROM DUAL
WHERE NOT (EXISTS (SELECT 1
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %s));

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = %s FOR UPDATE;

SELECT abreast_workspace_event.event_id, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.revision IS NULL ORDER BY abreast_workspace_event.event_id
 LIMIT %s;

UPDATE abreast_workspace_event SET revision=%s WHERE abreast_workspace_event.workspace_id = %s AND abreast_workspace_event.event_id = %s;

UPDATE abreast_workspace SET head=%s WHERE abreast_workspace.workspace_id = %s;
