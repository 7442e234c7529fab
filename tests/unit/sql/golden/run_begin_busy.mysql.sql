-- Compiled, not run on MySQL.

SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = %s;

UPDATE abreast_thread_lease SET fence=(abreast_thread_lease.fence + %s), run_id=%s, expires_at=(CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) + %s), stop_asked_by=%s WHERE abreast_thread_lease.thread_id = %s AND (abreast_thread_lease.run_id = %s OR abreast_thread_lease.expires_at < CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)) AND NOT (EXISTS (SELECT *
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = %s AND abreast_thread_waiter.expires_at >= CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)));

SELECT abreast_thread_lease.fence, abreast_thread_lease.run_id
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = %s;
