SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage
FROM move
WHERE move.id = %(abreast_bound_1)s::VARCHAR AND move.workspace_id = %(abreast_bound_2)s::VARCHAR ORDER BY move.id FOR NO KEY UPDATE OF move;
