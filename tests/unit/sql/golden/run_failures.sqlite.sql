SELECT abreast_run.outcome, CASE WHEN (abreast_run.outcome = ? AND (SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = abreast_run.thread_id) > abreast_run.fence) THEN ? ELSE abreast_run.outcome END AS anon_1
FROM abreast_run
WHERE abreast_run.thread_id = ? AND (abreast_run.outcome IN (?, ?, ?, ?) OR abreast_run.fence = (SELECT max(abreast_run_1.fence) AS max_1
FROM abreast_run AS abreast_run_1
WHERE abreast_run_1.thread_id = ?)) ORDER BY abreast_run.fence DESC
 LIMIT ? OFFSET ?;
