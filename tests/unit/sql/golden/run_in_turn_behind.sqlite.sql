SELECT abreast_thread_waiter.ticket, abreast_thread_waiter.expires_at - CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) AS micros_left
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = ? AND abreast_thread_waiter.ticket <= ?;

UPDATE abreast_thread_lease SET stop_asked_by=? WHERE abreast_thread_lease.thread_id = ? AND abreast_thread_lease.run_id != ? AND abreast_thread_lease.expires_at >= CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) AND abreast_thread_lease.stop_asked_by IS NULL;
