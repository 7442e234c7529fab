-- Compiled, not run on MySQL.

UPDATE abreast_thread_lease SET stop_asked_by=%s WHERE abreast_thread_lease.thread_id = %s AND abreast_thread_lease.run_id != %s AND abreast_thread_lease.expires_at >= CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) AND abreast_thread_lease.stop_asked_by IS NULL;

UPDATE abreast_thread_lease SET fence=(abreast_thread_lease.fence + %s), run_id=%s, expires_at=%s, stop_asked_by=%s WHERE abreast_thread_lease.thread_id = %s AND abreast_thread_lease.run_id != %s AND abreast_thread_lease.expires_at < CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED);

SELECT abreast_thread_lease.thread_id, abreast_thread_lease.fence, abreast_thread_lease.run_id, CASE WHEN (abreast_thread_lease.run_id != %s AND abreast_thread_lease.expires_at >= CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)) THEN %s ELSE %s END AS valid, abreast_thread_lease.stop_asked_by
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id IN (%s);
