SELECT abreast_thread_waiter.ticket, abreast_thread_waiter.expires_at - CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS micros_left
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_waiter.ticket <= %(ticket_1)s::BIGINT;

UPDATE abreast_thread_lease SET fence=(abreast_thread_lease.fence + %(fence_1)s::BIGINT), run_id=%(run_id)s::VARCHAR, expires_at=(CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) + %(param_1)s::BIGINT), stop_asked_by=%(stop_asked_by)s::VARCHAR WHERE abreast_thread_lease.thread_id = %(thread_id_1)s::VARCHAR AND (abreast_thread_lease.run_id = %(run_id_1)s::VARCHAR OR abreast_thread_lease.expires_at < CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)) AND NOT (EXISTS (SELECT *
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = %(thread_id_2)s::VARCHAR AND abreast_thread_waiter.expires_at >= CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AND abreast_thread_waiter.ticket < %(ticket_1)s::BIGINT));

SELECT abreast_thread_lease.fence, abreast_thread_lease.run_id
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = %(thread_id_1)s::VARCHAR;

DELETE FROM abreast_thread_waiter WHERE abreast_thread_waiter.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_waiter.ticket <= %(ticket_1)s::BIGINT;

SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = %(thread_id_1)s::VARCHAR;

SELECT abreast_run.outcome, CASE WHEN (abreast_run.outcome = %(outcome_1)s::VARCHAR AND (SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = abreast_run.thread_id) > abreast_run.fence) THEN %(param_1)s::VARCHAR ELSE abreast_run.outcome END AS anon_1
FROM abreast_run
WHERE abreast_run.thread_id = %(thread_id_1)s::VARCHAR AND (abreast_run.outcome IN (%(outcome_2_1)s::VARCHAR, %(outcome_2_2)s::VARCHAR, %(outcome_2_3)s::VARCHAR, %(outcome_2_4)s::VARCHAR) OR abreast_run.fence = (SELECT max(abreast_run_1.fence) AS max_1
FROM abreast_run AS abreast_run_1
WHERE abreast_run_1.thread_id = %(thread_id_2)s::VARCHAR)) ORDER BY abreast_run.fence DESC
 LIMIT %(param_2)s::INTEGER;

INSERT INTO abreast_run (thread_id, run_id, workspace_id, fence, started_at, outcome) VALUES (%(thread_id)s::VARCHAR, %(run_id)s::VARCHAR, %(workspace_id)s::VARCHAR, %(fence)s::BIGINT, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT), %(outcome)s::VARCHAR) ON CONFLICT (thread_id, run_id) DO NOTHING;
