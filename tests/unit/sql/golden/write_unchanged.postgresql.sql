SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.id = %(id_1)s::VARCHAR AND move.workspace_id = %(workspace_id_1)s::VARCHAR ORDER BY move.id FOR NO KEY UPDATE OF move;
