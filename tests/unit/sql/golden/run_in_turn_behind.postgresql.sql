SELECT abreast_thread_waiter.ticket, abreast_thread_waiter.expires_at - CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS micros_left
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_waiter.ticket <= %(ticket_1)s::BIGINT;

UPDATE abreast_thread_lease SET stop_asked_by=%(stop_asked_by)s::VARCHAR WHERE abreast_thread_lease.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_lease.run_id != %(run_id_1)s::VARCHAR AND abreast_thread_lease.expires_at >= CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AND abreast_thread_lease.stop_asked_by IS NULL;
