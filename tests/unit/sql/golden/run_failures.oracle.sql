-- Compiled, not run.

SELECT count(*) AS count_1
FROM abreast_run
WHERE abreast_run.thread_id = :thread_id_1 AND abreast_run.fence > coalesce((SELECT max(abreast_run.fence) AS max_1
FROM abreast_run
WHERE abreast_run.thread_id = :thread_id_1 AND abreast_run.outcome = :outcome_1), :coalesce_1) AND (abreast_run.outcome = :outcome_2 OR CASE WHEN (abreast_run.outcome = :outcome_3 AND (SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = abreast_run.thread_id) > abreast_run.fence) THEN :param_1 ELSE abreast_run.outcome END = :param_2);
