SELECT abreast_run.outcome, CASE WHEN (abreast_run.outcome = %(outcome_1)s::VARCHAR AND (SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = abreast_run.thread_id) > abreast_run.fence) THEN %(param_1)s::VARCHAR ELSE abreast_run.outcome END AS anon_1
FROM abreast_run
WHERE abreast_run.thread_id = %(thread_id_1)s::VARCHAR AND (abreast_run.outcome IN (%(outcome_2_1)s::VARCHAR, %(outcome_2_2)s::VARCHAR, %(outcome_2_3)s::VARCHAR, %(outcome_2_4)s::VARCHAR) OR abreast_run.fence = (SELECT max(abreast_run_1.fence) AS max_1
FROM abreast_run AS abreast_run_1
WHERE abreast_run_1.thread_id = %(thread_id_2)s::VARCHAR)) ORDER BY abreast_run.fence DESC
 LIMIT %(param_2)s::INTEGER;
