UPDATE abreast_thread_lease SET stop_asked_by=? WHERE abreast_thread_lease.thread_id = ? AND abreast_thread_lease.run_id != ? AND abreast_thread_lease.expires_at >= CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) AND abreast_thread_lease.stop_asked_by IS NULL;

UPDATE abreast_thread_lease SET fence=(abreast_thread_lease.fence + ?), run_id=?, expires_at=?, stop_asked_by=? WHERE abreast_thread_lease.thread_id = ? AND abreast_thread_lease.run_id != ? AND abreast_thread_lease.expires_at < CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER);

SELECT abreast_thread_lease.thread_id, abreast_thread_lease.fence, abreast_thread_lease.run_id, CASE WHEN (abreast_thread_lease.run_id != ? AND abreast_thread_lease.expires_at >= CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)) THEN ? ELSE ? END AS valid, abreast_thread_lease.stop_asked_by
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id IN (?);
