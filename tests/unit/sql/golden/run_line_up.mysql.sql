-- Compiled, not run on MySQL.

UPDATE abreast_thread_lease SET stop_asked_by=%s WHERE abreast_thread_lease.thread_id = %s AND abreast_thread_lease.run_id != %s AND abreast_thread_lease.expires_at >= CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) AND abreast_thread_lease.stop_asked_by IS NULL;

DELETE FROM abreast_thread_waiter WHERE abreast_thread_waiter.thread_id = %s AND abreast_thread_waiter.expires_at < CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED);

SELECT abreast_thread_waiter.ticket
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = %s AND abreast_thread_waiter.run_id = %s;

INSERT IGNORE INTO abreast_thread_lease (thread_id, fence, run_id, expires_at, last_ticket) SELECT %s AS thread_id, %s AS fence, %s AS run_id, %s AS expires_at, %s AS last_ticket FROM DUAL
WHERE NOT (EXISTS (SELECT 1
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = %s));

UPDATE abreast_thread_lease SET last_ticket=(abreast_thread_lease.last_ticket + %s) WHERE abreast_thread_lease.thread_id = %s;

SELECT abreast_thread_lease.last_ticket
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = %s;

INSERT INTO abreast_thread_waiter (thread_id, ticket, run_id, expires_at) VALUES (%s, %s, %s, (CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) + %s));
