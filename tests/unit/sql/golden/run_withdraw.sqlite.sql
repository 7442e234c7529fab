DELETE FROM abreast_thread_waiter WHERE abreast_thread_waiter.thread_id = ? AND abreast_thread_waiter.run_id = ?;

UPDATE abreast_thread_lease SET run_id=?, expires_at=?, stop_asked_by=? WHERE abreast_thread_lease.thread_id = ? AND abreast_thread_lease.run_id = ?;
