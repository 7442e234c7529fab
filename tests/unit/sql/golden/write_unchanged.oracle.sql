-- Compiled, not run.

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.id = :id_1 AND move.workspace_id = :workspace_id_1 ORDER BY move.id FOR UPDATE OF move.id;
