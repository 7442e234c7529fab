-- Compiled, not run.

UPDATE abreast_thread_lease SET stop_asked_by=:stop_asked_by WHERE abreast_thread_lease.thread_id = :thread_id_1 AND abreast_thread_lease.run_id != :run_id_1 AND abreast_thread_lease.expires_at >= ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000 AND abreast_thread_lease.stop_asked_by IS NULL;

UPDATE abreast_thread_lease SET fence=(abreast_thread_lease.fence + :fence_1), run_id=:run_id, expires_at=:expires_at, stop_asked_by=:stop_asked_by WHERE abreast_thread_lease.thread_id = :thread_id_1 AND abreast_thread_lease.run_id != :run_id_1 AND abreast_thread_lease.expires_at < ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000;

SELECT abreast_thread_lease.thread_id, abreast_thread_lease.fence, abreast_thread_lease.run_id, CASE WHEN (abreast_thread_lease.run_id != :run_id_1 AND abreast_thread_lease.expires_at >= ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000) THEN :param_1 ELSE :param_2 END AS valid, abreast_thread_lease.stop_asked_by
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id IN (:thread_id_1_1);
