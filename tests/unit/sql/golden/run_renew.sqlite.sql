UPDATE abreast_thread_lease SET expires_at=(CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) + CASE WHEN (abreast_thread_lease.thread_id IN (?)) THEN ? ELSE ? END) WHERE abreast_thread_lease.thread_id IN (?, ?) AND abreast_thread_lease.run_id IN (?, ?);

SELECT abreast_thread_lease.thread_id, abreast_thread_lease.fence, abreast_thread_lease.run_id, CASE WHEN (abreast_thread_lease.run_id != ? AND abreast_thread_lease.expires_at >= CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)) THEN ? ELSE ? END AS valid, abreast_thread_lease.stop_asked_by
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id IN (?, ?);
