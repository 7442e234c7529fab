SELECT abreast_workspace.epoch, abreast_workspace.head, abreast_workspace.floor, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision = abreast_workspace.head) AS head_mark, (SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = ?) AS bound, abreast_thread_cursor.epoch AS cursor_epoch, abreast_thread_cursor.revision, abreast_thread_cursor.mark, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision = abreast_thread_cursor.revision) AS mark_found, (SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision = ?) AS checkpoint_mark, CASE WHEN (EXISTS (SELECT *
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision IS NULL)) THEN ? ELSE ? END AS waiting
FROM abreast_workspace LEFT OUTER JOIN abreast_thread_cursor ON abreast_thread_cursor.workspace_id = abreast_workspace.workspace_id AND abreast_thread_cursor.thread_id = ? AND abreast_thread_cursor.scope = ?
WHERE abreast_workspace.workspace_id = ?;

SELECT abreast_workspace_event.workspace_id, abreast_workspace_event.event_id, abreast_workspace_event.revision, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation, abreast_workspace_event.changed_fields, abreast_workspace_event."before", abreast_workspace_event."after", abreast_workspace_event.actor_type, abreast_workspace_event.actor_id, abreast_workspace_event.on_behalf_of, abreast_workspace_event.source_thread_id, abreast_workspace_event.run_id, abreast_workspace_event.mutation_id, abreast_workspace_event.created_at
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision > ? AND abreast_workspace_event.revision <= ? ORDER BY abreast_workspace_event.revision
 LIMIT ? OFFSET ?;

SELECT abreast_workspace_event.entity_type, abreast_workspace_event.operation, abreast_workspace_event.actor_type, abreast_workspace_event.actor_id, abreast_workspace_event.on_behalf_of, count(*) AS events, count(DISTINCT abreast_workspace_event.entity_id) AS entities, min(abreast_workspace_event.revision) AS first_revision, max(abreast_workspace_event.revision) AS last_revision, min(abreast_workspace_event.created_at) AS first_at, max(abreast_workspace_event.created_at) AS last_at
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision > ? AND abreast_workspace_event.revision <= ? AND (abreast_workspace_event.entity_type NOT IN (?)) GROUP BY abreast_workspace_event.entity_type, abreast_workspace_event.operation, abreast_workspace_event.actor_type, abreast_workspace_event.actor_id, abreast_workspace_event.on_behalf_of;

SELECT abreast_workspace_event.entity_type, abreast_workspace_event.operation, abreast_workspace_event.actor_type, abreast_workspace_event.actor_id, abreast_workspace_event.on_behalf_of, abreast_workspace_event.entity_id, count(*) AS events, count(DISTINCT abreast_workspace_event.entity_id) AS entities, min(abreast_workspace_event.revision) AS first_revision, max(abreast_workspace_event.revision) AS last_revision, min(abreast_workspace_event.created_at) AS first_at, max(abreast_workspace_event.created_at) AS last_at
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision > ? AND abreast_workspace_event.revision <= ? AND abreast_workspace_event.entity_type = ? GROUP BY abreast_workspace_event.entity_type, abreast_workspace_event.operation, abreast_workspace_event.actor_type, abreast_workspace_event.actor_id, abreast_workspace_event.on_behalf_of, abreast_workspace_event.entity_id;

SELECT checklist_item.id, checklist_item.move_id, checklist_item.title, checklist_item.done
FROM checklist_item
WHERE checklist_item.move_id IN (SELECT hop0.id
FROM move AS hop0
WHERE hop0.workspace_id = ?) AND checklist_item.title IS NOT NULL AND checklist_item.id IN (?, ?);

SELECT abreast_entity_version.entity_id, abreast_entity_version.version
FROM abreast_entity_version
WHERE abreast_entity_version.workspace_id = ? AND abreast_entity_version.entity_type = ? AND abreast_entity_version.entity_id IN (?, ?);

SELECT count(*) AS count_1
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = ? AND abreast_workspace_event.revision > ? AND abreast_workspace_event.revision <= ?;

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.workspace_id = ? ORDER BY move.move_in_date DESC, move.id
 LIMIT ? OFFSET ?;

SELECT checklist_item.id, checklist_item.move_id, checklist_item.title, checklist_item.done
FROM checklist_item
WHERE checklist_item.move_id IN (SELECT hop0.id
FROM move AS hop0
WHERE hop0.workspace_id = ?) AND checklist_item.title IS NOT NULL ORDER BY checklist_item.id
 LIMIT ? OFFSET ?;

SELECT abreast_entity_version.entity_id, abreast_entity_version.version
FROM abreast_entity_version
WHERE abreast_entity_version.workspace_id = ? AND abreast_entity_version.entity_type = ? AND abreast_entity_version.entity_id IN (?, ?, ?);
