-- Compiled, not run on MySQL.

DELETE FROM abreast_thread_waiter WHERE abreast_thread_waiter.thread_id = %s AND abreast_thread_waiter.run_id = %s;

UPDATE abreast_thread_lease SET run_id=%s, expires_at=%s, stop_asked_by=%s WHERE abreast_thread_lease.thread_id = %s AND abreast_thread_lease.run_id = %s;
