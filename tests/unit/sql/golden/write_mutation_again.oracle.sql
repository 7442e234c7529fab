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

SELECT abreast_workspace_event.workspace_id, abreast_workspace_event.event_id, abreast_workspace_event.revision, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.version, abreast_workspace_event.operation, abreast_workspace_event.changed_fields, abreast_workspace_event.before, abreast_workspace_event.after, abreast_workspace_event.actor_type, abreast_workspace_event.actor_id, abreast_workspace_event.on_behalf_of, abreast_workspace_event.source_thread_id, abreast_workspace_event.run_id, abreast_workspace_event.mutation_id, abreast_workspace_event.created_at
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.entity_type = :entity_type_1 AND abreast_workspace_event.entity_id = :entity_id_1 AND abreast_workspace_event.version > :version_1 ORDER BY abreast_workspace_event.version, abreast_workspace_event.event_id
 FETCH FIRST 20 ROWS ONLY;

SELECT abreast_mutation.payload_hash, abreast_mutation.result
FROM abreast_mutation
WHERE abreast_mutation.workspace_id = :workspace_id_1 AND abreast_mutation.mutation_id = :mutation_id_1;

SELECT abreast_workspace_event.revision
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.event_id = :event_id_1;

SELECT abreast_workspace_event.event_id
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = :workspace_id_1 AND abreast_workspace_event.revision IS NULL
 FETCH FIRST 1 ROWS ONLY;
