-- Compiled, not run on MySQL.

SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.id = %s AND move.workspace_id = %s ORDER BY move.id FOR UPDATE;
