-- Compiled, not run.

SELECT abreast_run.outcome, CASE WHEN (abreast_run.outcome = :outcome_1 AND (SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = abreast_run.thread_id) > abreast_run.fence) THEN :param_1 ELSE abreast_run.outcome END AS anon_1
FROM abreast_run
WHERE abreast_run.thread_id = :thread_id_1 ORDER BY abreast_run.fence DESC
 FETCH FIRST 50 ROWS ONLY;
