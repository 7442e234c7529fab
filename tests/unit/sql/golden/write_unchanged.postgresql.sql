SELECT move.id, move.workspace_id, move.version, move.move_in_date, move.stage, move.changed_at
FROM move
WHERE move.id = %(id_1)s::VARCHAR AND move.workspace_id = %(workspace_id_1)s::VARCHAR ORDER BY move.id FOR UPDATE OF move;
