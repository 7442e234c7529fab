-- Compiled, not run.

DELETE FROM abreast_thread_waiter WHERE abreast_thread_waiter.thread_id = :thread_id_1 AND abreast_thread_waiter.run_id = :run_id_1;

UPDATE abreast_thread_lease SET run_id=:run_id, expires_at=:expires_at, stop_asked_by=:stop_asked_by WHERE abreast_thread_lease.thread_id = :thread_id_1 AND abreast_thread_lease.run_id = :run_id_1;
