-- Compiled, not run.

SELECT abreast_thread_waiter.ticket, abreast_thread_waiter.expires_at - ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000 AS micros_left
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = :thread_id_1 AND abreast_thread_waiter.ticket <= :ticket_1;

UPDATE abreast_thread_lease SET fence=(abreast_thread_lease.fence + :fence_1), run_id=:run_id, expires_at=(ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000 + :param_1), stop_asked_by=:stop_asked_by WHERE abreast_thread_lease.thread_id = :thread_id_1 AND (abreast_thread_lease.run_id = :run_id_1 OR abreast_thread_lease.expires_at < ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000) AND NOT (EXISTS (SELECT *
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = :thread_id_2 AND abreast_thread_waiter.expires_at >= ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000 AND abreast_thread_waiter.ticket < :ticket_1));

SELECT abreast_thread_lease.fence, abreast_thread_lease.run_id
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = :thread_id_1;

DELETE FROM abreast_thread_waiter WHERE abreast_thread_waiter.thread_id = :thread_id_1 AND abreast_thread_waiter.ticket <= :ticket_1;

SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = :thread_id_1;

SELECT abreast_run.outcome, CASE WHEN (abreast_run.outcome = :outcome_1 AND (SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = abreast_run.thread_id) > abreast_run.fence) THEN :param_1 ELSE abreast_run.outcome END AS anon_1
FROM abreast_run
WHERE abreast_run.thread_id = :thread_id_1 AND (abreast_run.outcome IN (:outcome_2_1, :outcome_2_2, :outcome_2_3, :outcome_2_4) OR abreast_run.fence = (SELECT max(abreast_run_1.fence) AS max_1
FROM abreast_run abreast_run_1
WHERE abreast_run_1.thread_id = :thread_id_2)) ORDER BY abreast_run.fence DESC
 FETCH FIRST 20 ROWS ONLY;

INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX(abreast_run (thread_id, run_id)) */ INTO abreast_run (thread_id, run_id, workspace_id, fence, started_at, outcome) SELECT :param_1 AS thread_id, :param_2 AS run_id, :param_3 AS workspace_id, :param_4 AS fence, ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000 AS started_at, :param_5 AS outcome FROM DUAL
WHERE NOT (EXISTS (SELECT 1
FROM abreast_run
WHERE abreast_run.thread_id = :param_6 AND abreast_run.run_id = :param_7));
