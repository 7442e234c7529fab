SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = ?;

UPDATE abreast_thread_lease SET fence=(abreast_thread_lease.fence + ?), run_id=?, expires_at=(CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) + ?), stop_asked_by=? WHERE abreast_thread_lease.thread_id = ? AND (abreast_thread_lease.run_id = ? OR abreast_thread_lease.expires_at < CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)) AND NOT (EXISTS (SELECT *
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = ? AND abreast_thread_waiter.expires_at >= CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)));

SELECT abreast_thread_lease.fence, abreast_thread_lease.run_id
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = ?;

SELECT abreast_run.outcome, CASE WHEN (abreast_run.outcome = ? AND (SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = abreast_run.thread_id) > abreast_run.fence) THEN ? ELSE abreast_run.outcome END AS anon_1
FROM abreast_run
WHERE abreast_run.thread_id = ? AND (abreast_run.outcome IN (?, ?, ?, ?) OR abreast_run.fence = (SELECT max(abreast_run_1.fence) AS max_1
FROM abreast_run AS abreast_run_1
WHERE abreast_run_1.thread_id = ?)) ORDER BY abreast_run.fence DESC
 LIMIT ? OFFSET ?;

INSERT INTO abreast_run (thread_id, run_id, workspace_id, fence, started_at, outcome) VALUES (?, ?, ?, ?, CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER), ?) ON CONFLICT (thread_id, run_id) DO NOTHING;
