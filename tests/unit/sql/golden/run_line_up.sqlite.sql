UPDATE abreast_thread_lease SET stop_asked_by=? WHERE abreast_thread_lease.thread_id = ? AND abreast_thread_lease.run_id != ? AND abreast_thread_lease.expires_at >= CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) AND abreast_thread_lease.stop_asked_by IS NULL;

DELETE FROM abreast_thread_waiter WHERE abreast_thread_waiter.thread_id = ? AND abreast_thread_waiter.expires_at < CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER);

SELECT abreast_thread_waiter.ticket
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = ? AND abreast_thread_waiter.run_id = ?;

INSERT INTO abreast_thread_lease (thread_id, fence, run_id, expires_at, last_ticket) VALUES (?, ?, ?, ?, ?) ON CONFLICT (thread_id) DO NOTHING;

UPDATE abreast_thread_lease SET last_ticket=(abreast_thread_lease.last_ticket + ?) WHERE abreast_thread_lease.thread_id = ?;

SELECT abreast_thread_lease.last_ticket
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = ?;

INSERT INTO abreast_thread_waiter (thread_id, ticket, run_id, expires_at) VALUES (?, ?, ?, (CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) + ?));
