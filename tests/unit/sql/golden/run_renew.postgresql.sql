UPDATE abreast_thread_lease SET expires_at=(CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) + CASE WHEN (abreast_thread_lease.thread_id IN (%(thread_id_1_1)s::VARCHAR)) THEN %(param_1)s::BIGINT ELSE %(param_2)s::BIGINT END) WHERE abreast_thread_lease.thread_id IN (%(thread_id_2_1)s::VARCHAR, %(thread_id_2_2)s::VARCHAR) AND abreast_thread_lease.run_id IN (%(run_id_1_1)s::VARCHAR, %(run_id_1_2)s::VARCHAR);

SELECT abreast_thread_lease.thread_id, abreast_thread_lease.fence, abreast_thread_lease.run_id, CASE WHEN (abreast_thread_lease.run_id != %(run_id_1)s::VARCHAR AND abreast_thread_lease.expires_at >= CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)) THEN %(param_1)s::INTEGER ELSE %(param_2)s::INTEGER END AS valid, abreast_thread_lease.stop_asked_by
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id IN (%(thread_id_1_1)s::VARCHAR, %(thread_id_1_2)s::VARCHAR);
