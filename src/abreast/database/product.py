"""The product's own tables of a database in which abreast's need not be there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abreast.database.database import Database

if TYPE_CHECKING:
    from sqlalchemy import Connection


class ProductDatabase(Database):
    """A database for steps that touch the product's tables alone; it shares the connections of another."""

    def __init__(self, database: Database) -> None:
        vars(self).update(vars(database))
        self._folder = None

    def _check(self, connection: Connection) -> None:
        """Ask for no table of abreast's."""
