"""The product's own tables of a database in which abreast's need not be there."""

from __future__ import annotations

from abreast.database.database import Database


class ProductDatabase(Database):
    """A database for steps that touch the product's tables alone; it shares the connections of another."""

    def __init__(self, database: Database) -> None:
        vars(self).update(vars(database))
        self._checked, self._folder = True, None
