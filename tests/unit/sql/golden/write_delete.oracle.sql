-- Compiled, not run.

SELECT hop0.workspace_id
FROM move hop0
WHERE hop0.id = (SELECT checklist_item.move_id
FROM checklist_item
WHERE checklist_item.id = :abreast_bound_1 AND checklist_item.move_id IN (SELECT hop0.id
FROM move hop0
WHERE hop0.workspace_id = :abreast_bound_2)) FOR UPDATE;

SELECT checklist_item.id, checklist_item.move_id, checklist_item.title, checklist_item.done
FROM checklist_item
WHERE checklist_item.id = :abreast_bound_1 AND checklist_item.move_id IN (SELECT hop0.id
FROM move hop0
WHERE hop0.workspace_id = :abreast_bound_2) ORDER BY checklist_item.id FOR UPDATE OF checklist_item.id;

SELECT abreast_entity_version.version
FROM abreast_entity_version
WHERE abreast_entity_version.workspace_id = :workspace_id_1 AND abreast_entity_version.entity_type = :entity_type_1 AND abreast_entity_version.entity_id = :entity_id_1 FOR UPDATE;

DELETE FROM checklist_item WHERE checklist_item.id = :abreast_bound_1;

UPDATE abreast_entity_version SET version=:version WHERE abreast_entity_version.workspace_id = :workspace_id_1 AND abreast_entity_version.entity_type = :entity_type_1 AND abreast_entity_version.entity_id = :entity_id_1 AND abreast_entity_version.version < :version_1;

INSERT INTO abreast_workspace_event (workspace_id, event_id, revision, entity_type, entity_id, version, operation, changed_fields, before, after, actor_type, actor_id, on_behalf_of, source_thread_id, run_id, mutation_id, created_at) VALUES (:workspace_id, :event_id, :revision, :entity_type, :entity_id, :version, :operation, :changed_fields, :before, :after, :actor_type, :actor_id, :on_behalf_of, :source_thread_id, :run_id, :mutation_id, :created_at);

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.revision IS NULL
 FETCH FIRST 1 ROWS ONLY;

SELECT abreast_workspace.head
FROM abreast_workspace
WHERE abreast_workspace.workspace_id = :workspace_id_1 FOR UPDATE;

SELECT abreast_workspace_event.event_id, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.revision IS NULL ORDER BY abreast_workspace_event.event_id
 FETCH FIRST 5000 ROWS ONLY;

UPDATE abreast_workspace_event SET revision=:new_revision WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.event_id = :of_event;

UPDATE abreast_workspace SET head=:head WHERE abreast_workspace.workspace_id = :workspace_id_1;
