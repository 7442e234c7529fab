UPDATE abreast_thread_lease SET stop_asked_by=%(stop_asked_by)s::VARCHAR WHERE abreast_thread_lease.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_lease.run_id != %(run_id_1)s::VARCHAR AND abreast_thread_lease.expires_at >= CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AND abreast_thread_lease.stop_asked_by IS NULL;

DELETE FROM abreast_thread_waiter WHERE abreast_thread_waiter.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_waiter.expires_at < CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT);

SELECT abreast_thread_waiter.ticket
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_waiter.run_id = %(run_id_1)s::VARCHAR;

INSERT INTO abreast_thread_lease (thread_id, fence, run_id, expires_at, last_ticket) VALUES (%(thread_id)s::VARCHAR, %(fence)s::BIGINT, %(run_id)s::VARCHAR, %(expires_at)s::BIGINT, %(last_ticket)s::BIGINT) ON CONFLICT (thread_id) DO NOTHING;

UPDATE abreast_thread_lease SET last_ticket=(abreast_thread_lease.last_ticket + %(last_ticket_1)s::BIGINT) WHERE abreast_thread_lease.thread_id = %(thread_id_1)s::VARCHAR;

SELECT abreast_thread_lease.last_ticket
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = %(thread_id_1)s::VARCHAR;

INSERT INTO abreast_thread_waiter (thread_id, ticket, run_id, expires_at) VALUES (%(thread_id)s::VARCHAR, %(ticket)s::BIGINT, %(run_id)s::VARCHAR, (CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) + %(param_1)s::BIGINT));
