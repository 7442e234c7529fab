SELECT hop0.workspace_id
FROM move AS hop0
WHERE hop0.id = (SELECT checklist_item.move_id
FROM checklist_item
WHERE checklist_item.id = %(abreast_bound_1)s::INTEGER AND checklist_item.move_id IN (SELECT hop0.id
FROM move AS hop0
WHERE hop0.workspace_id = %(abreast_bound_2)s::VARCHAR)) FOR KEY SHARE;

SELECT checklist_item.id, checklist_item.move_id, checklist_item.title, checklist_item.done
FROM checklist_item
WHERE checklist_item.id = %(abreast_bound_1)s::INTEGER AND checklist_item.move_id IN (SELECT hop0.id
FROM move AS hop0
WHERE hop0.workspace_id = %(abreast_bound_2)s::VARCHAR) ORDER BY checklist_item.id FOR UPDATE OF checklist_item;

SELECT abreast_entity_version.version
FROM abreast_entity_version
WHERE abreast_entity_version.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_entity_version.entity_type = %(entity_type_1)s::VARCHAR AND abreast_entity_version.entity_id = %(entity_id_1)s::VARCHAR FOR UPDATE;

DELETE FROM checklist_item WHERE checklist_item.id = %(abreast_bound_1)s::INTEGER;

UPDATE abreast_entity_version SET version=%(version)s::BIGINT WHERE abreast_entity_version.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_entity_version.entity_type = %(entity_type_1)s::VARCHAR AND abreast_entity_version.entity_id = %(entity_id_1)s::VARCHAR AND abreast_entity_version.version < %(version_1)s::BIGINT;

INSERT INTO abreast_workspace_event (workspace_id, event_id, revision, entity_type, entity_id, version, operation, changed_fields, before, after, actor_type, actor_id, on_behalf_of, source_thread_id, run_id, mutation_id, created_at) VALUES (%(workspace_id)s::VARCHAR, %(event_id)s::VARCHAR, %(revision)s::BIGINT, %(entity_type)s::VARCHAR, %(entity_id)s::VARCHAR, %(version)s::BIGINT, %(operation)s::VARCHAR, %(changed_fields)s::VARCHAR, %(before)s::VARCHAR, %(after)s::VARCHAR, %(actor_type)s::VARCHAR, %(actor_id)s::VARCHAR, %(on_behalf_of)s::VARCHAR, %(source_thread_id)s::VARCHAR, %(run_id)s::VARCHAR, %(mutation_id)s::VARCHAR, %(created_at)s::BIGINT);

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
