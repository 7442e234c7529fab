-- Compiled, not run.

SELECT abreast_thread_waiter.ticket, abreast_thread_waiter.expires_at - ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000 AS micros_left
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = :thread_id_1 AND abreast_thread_waiter.ticket <= :ticket_1;

UPDATE abreast_thread_lease SET stop_asked_by=:stop_asked_by WHERE abreast_thread_lease.thread_id = :thread_id_1 AND abreast_thread_lease.run_id != :run_id_1 AND abreast_thread_lease.expires_at >= ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000 AND abreast_thread_lease.stop_asked_by IS NULL;
