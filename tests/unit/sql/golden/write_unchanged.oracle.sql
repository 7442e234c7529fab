-- Compiled, not run.

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.id = :abreast_bound_1 AND move.workspace_id = :abreast_bound_2 ORDER BY move.id FOR UPDATE OF move.id;
