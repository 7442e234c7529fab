DELETE FROM abreast_thread_waiter WHERE abreast_thread_waiter.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_waiter.run_id = %(run_id_1)s::VARCHAR;

UPDATE abreast_thread_lease SET run_id=%(run_id)s::VARCHAR, expires_at=%(expires_at)s::BIGINT, stop_asked_by=%(stop_asked_by)s::VARCHAR WHERE abreast_thread_lease.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_lease.run_id = %(run_id_1)s::VARCHAR;
