SELECT abreast_run.outcome, CASE WHEN (abreast_run.outcome = %(outcome_1)s::VARCHAR AND (SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = abreast_run.thread_id) > abreast_run.fence) THEN %(param_1)s::VARCHAR ELSE abreast_run.outcome END AS anon_1
FROM abreast_run
WHERE abreast_run.thread_id = %(thread_id_1)s::VARCHAR ORDER BY abreast_run.fence DESC
 LIMIT %(param_2)s::INTEGER;
