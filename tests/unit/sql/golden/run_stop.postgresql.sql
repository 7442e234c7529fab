UPDATE abreast_thread_lease SET stop_asked_by=%(stop_asked_by)s::VARCHAR WHERE abreast_thread_lease.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_lease.run_id != %(run_id_1)s::VARCHAR AND abreast_thread_lease.expires_at >= CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AND abreast_thread_lease.stop_asked_by IS NULL;

UPDATE abreast_thread_lease SET fence=(abreast_thread_lease.fence + %(fence_1)s::BIGINT), run_id=%(run_id)s::VARCHAR, expires_at=%(expires_at)s::BIGINT, stop_asked_by=%(stop_asked_by)s::VARCHAR WHERE abreast_thread_lease.thread_id = %(thread_id_1)s::VARCHAR AND abreast_thread_lease.run_id != %(run_id_1)s::VARCHAR AND abreast_thread_lease.expires_at < CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT);

SELECT abreast_thread_lease.thread_id, abreast_thread_lease.fence, abreast_thread_lease.run_id, CASE WHEN (abreast_thread_lease.run_id != %(run_id_1)s::VARCHAR AND abreast_thread_lease.expires_at >= CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)) THEN %(param_1)s::INTEGER ELSE %(param_2)s::INTEGER END AS valid, abreast_thread_lease.stop_asked_by
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id IN (%(thread_id_1_1)s::VARCHAR);
