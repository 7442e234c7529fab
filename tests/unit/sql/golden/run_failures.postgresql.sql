SELECT count(*) AS count_1
FROM abreast_run
WHERE abreast_run.thread_id = %(thread_id_1)s::VARCHAR AND abreast_run.fence > coalesce((SELECT max(abreast_run.fence) AS max_1
FROM abreast_run
WHERE abreast_run.thread_id = %(thread_id_1)s::VARCHAR AND abreast_run.outcome = %(outcome_1)s::VARCHAR), %(coalesce_1)s::INTEGER) AND (abreast_run.outcome = %(outcome_2)s::VARCHAR OR CASE WHEN (abreast_run.outcome = %(outcome_3)s::VARCHAR AND (SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = abreast_run.thread_id) > abreast_run.fence) THEN %(param_1)s::VARCHAR ELSE abreast_run.outcome END = %(param_2)s::VARCHAR);
