-- Compiled, not run on MySQL.

SELECT abreast_thread_waiter.ticket, abreast_thread_waiter.expires_at - CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) AS micros_left
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = %s AND abreast_thread_waiter.ticket <= %s;

UPDATE abreast_thread_lease SET stop_asked_by=%s WHERE abreast_thread_lease.thread_id = %s AND abreast_thread_lease.run_id != %s AND abreast_thread_lease.expires_at >= CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) AND abreast_thread_lease.stop_asked_by IS NULL;
