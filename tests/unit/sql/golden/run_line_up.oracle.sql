-- Compiled, not run.

UPDATE abreast_thread_lease SET stop_asked_by=:stop_asked_by WHERE abreast_thread_lease.thread_id = :thread_id_1 AND abreast_thread_lease.run_id != :run_id_1 AND abreast_thread_lease.expires_at >= ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000 AND abreast_thread_lease.stop_asked_by IS NULL;

DELETE FROM abreast_thread_waiter WHERE abreast_thread_waiter.thread_id = :thread_id_1 AND abreast_thread_waiter.expires_at < ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000;

SELECT abreast_thread_waiter.ticket
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = :thread_id_1 AND abreast_thread_waiter.run_id = :run_id_1;

INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX(abreast_thread_lease (thread_id)) */ INTO abreast_thread_lease (thread_id, fence, run_id, expires_at, last_ticket) SELECT :param_1 AS thread_id, :param_2 AS fence, :param_3 AS run_id, :param_4 AS expires_at, :param_5 AS last_ticket FROM DUAL
WHERE NOT (EXISTS (SELECT 1
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = :param_6));

UPDATE abreast_thread_lease SET last_ticket=(abreast_thread_lease.last_ticket + :last_ticket_1) WHERE abreast_thread_lease.thread_id = :thread_id_1;

SELECT abreast_thread_lease.last_ticket
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = :thread_id_1;

INSERT INTO abreast_thread_waiter (thread_id, ticket, run_id, expires_at) VALUES (:thread_id, :ticket, :run_id, (ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000 + :param_1));
