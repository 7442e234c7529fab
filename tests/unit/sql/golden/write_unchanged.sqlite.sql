SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.id = ? AND move.workspace_id = ? ORDER BY move.id;
