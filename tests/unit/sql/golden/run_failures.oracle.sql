-- Compiled, not run.

SELECT abreast_run.outcome, CASE WHEN (abreast_run.outcome = :outcome_1 AND (SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = abreast_run.thread_id) > abreast_run.fence) THEN :param_1 ELSE abreast_run.outcome END AS anon_1
FROM abreast_run
WHERE abreast_run.thread_id = :thread_id_1 AND (abreast_run.outcome IN (:outcome_2_1, :outcome_2_2, :outcome_2_3, :outcome_2_4) OR abreast_run.fence = (SELECT max(abreast_run_1.fence) AS max_1
FROM abreast_run abreast_run_1
WHERE abreast_run_1.thread_id = :thread_id_2)) ORDER BY abreast_run.fence DESC
 FETCH FIRST 20 ROWS ONLY;
