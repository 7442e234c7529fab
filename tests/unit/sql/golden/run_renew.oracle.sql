-- Compiled, not run.

UPDATE abreast_thread_lease SET expires_at=(ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000 + CASE WHEN (abreast_thread_lease.thread_id IN (:thread_id_1_1)) THEN :param_1 ELSE :param_2 END) WHERE abreast_thread_lease.thread_id IN (:thread_id_2_1, :thread_id_2_2) AND abreast_thread_lease.run_id IN (:run_id_1_1, :run_id_1_2);

SELECT abreast_thread_lease.thread_id, abreast_thread_lease.fence, abreast_thread_lease.run_id, CASE WHEN (abreast_thread_lease.run_id != :run_id_1 AND abreast_thread_lease.expires_at >= ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000) THEN :param_1 ELSE :param_2 END AS valid, abreast_thread_lease.stop_asked_by
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id IN (:thread_id_1_1, :thread_id_1_2);
