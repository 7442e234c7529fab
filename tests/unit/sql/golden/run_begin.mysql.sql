-- Compiled, not run on MySQL.

SELECT abreast_thread.workspace_id
FROM abreast_thread
WHERE abreast_thread.thread_id = %s;

UPDATE abreast_thread_lease SET fence=(abreast_thread_lease.fence + %s), run_id=%s, expires_at=(CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) + %s), stop_asked_by=%s WHERE abreast_thread_lease.thread_id = %s AND (abreast_thread_lease.run_id = %s OR abreast_thread_lease.expires_at < CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)) AND NOT (EXISTS (SELECT *
FROM abreast_thread_waiter
WHERE abreast_thread_waiter.thread_id = %s AND abreast_thread_waiter.expires_at >= CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)));

SELECT abreast_thread_lease.fence, abreast_thread_lease.run_id
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = %s;

SELECT abreast_run.outcome, CASE WHEN (abreast_run.outcome = %s AND (SELECT abreast_thread_lease.fence
FROM abreast_thread_lease
WHERE abreast_thread_lease.thread_id = abreast_run.thread_id) > abreast_run.fence) THEN %s ELSE abreast_run.outcome END AS anon_1
FROM abreast_run
WHERE abreast_run.thread_id = %s AND (abreast_run.outcome IN (%s, %s, %s, %s) OR abreast_run.fence = (SELECT max(abreast_run_1.fence) AS max_1
FROM abreast_run AS abreast_run_1
WHERE abreast_run_1.thread_id = %s)) ORDER BY abreast_run.fence DESC
 LIMIT %s;

INSERT IGNORE INTO abreast_run (thread_id, run_id, workspace_id, fence, started_at, outcome) SELECT %s AS thread_id, %s AS run_id, %s AS workspace_id, %s AS fence, CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) AS started_at, %s AS outcome FROM DUAL
WHERE NOT (EXISTS (SELECT 1
FROM abreast_run
WHERE abreast_run.thread_id = %s AND abreast_run.run_id = %s));
