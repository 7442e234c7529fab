-- Compiled, not run on MySQL.

SELECT count(*) AS count_1
FROM abreast_run
WHERE abreast_run.thread_id = %s AND abreast_run.fence > coalesce((SELECT max(abreast_run.fence) AS max_1
FROM abreast_run
WHERE abreast_run.thread_id = %s AND abreast_run.outcome = %s), %s) AND (abreast_run.outcome = %s OR CASE WHEN (abreast_run.outcome = %s AND (SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = abreast_run.thread_id) > abreast_run.fence) THEN %s ELSE abreast_run.outcome END = %s);
