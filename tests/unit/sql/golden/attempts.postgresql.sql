SELECT abreast_workspace_event.event_id AS id, abreast_workspace_event.revision AS own, abreast_workspace_event.workspace_id, abreast_workspace_event.entity_type, abreast_workspace_event.entity_id, abreast_workspace_event.operation, abreast_workspace_event.changed_fields, abreast_workspace_event.actor_type, abreast_workspace_event.actor_id, abreast_workspace_event.on_behalf_of, abreast_workspace_event.source_thread_id, abreast_workspace_event.run_id, abreast_workspace_event.mutation_id, abreast_workspace_event.created_at
FROM abreast_workspace_event
WHERE abreast_workspace_event.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_workspace_event.actor_type = %(actor_type_1)s::VARCHAR AND abreast_workspace_event.actor_id = %(actor_id_1)s::VARCHAR AND abreast_workspace_event.created_at >= %(created_at_1)s::BIGINT ORDER BY abreast_workspace_event.event_id DESC
 LIMIT %(param_1)s::INTEGER;

SELECT abreast_refusal.refusal_id AS id, abreast_refusal.reason AS own, abreast_refusal.workspace_id, abreast_refusal.entity_type, abreast_refusal.entity_id, abreast_refusal.operation, abreast_refusal.changed_fields, abreast_refusal.actor_type, abreast_refusal.actor_id, abreast_refusal.on_behalf_of, abreast_refusal.source_thread_id, abreast_refusal.run_id, abreast_refusal.mutation_id, abreast_refusal.created_at
FROM abreast_refusal
WHERE abreast_refusal.workspace_id = %(workspace_id_1)s::VARCHAR AND abreast_refusal.actor_type = %(actor_type_1)s::VARCHAR AND abreast_refusal.actor_id = %(actor_id_1)s::VARCHAR AND abreast_refusal.created_at >= %(created_at_1)s::BIGINT ORDER BY abreast_refusal.refusal_id DESC
 LIMIT %(param_1)s::INTEGER;
