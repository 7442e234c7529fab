"""Transactions that belong to the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abreast.errors import InvalidInput

if TYPE_CHECKING:
    from sqlalchemy import Connection


def atomic(connection: Connection) -> Connection:
    """
    Give a caller's connection back if it has transactions.

    Raises:
        InvalidInput: It commits each statement by itself.
    """
    level = str(connection.get_execution_options().get("isolation_level", ""))
    if level == "AUTOCOMMIT" or getattr(connection.connection.dbapi_connection, "autocommit", False) is True:
        raise InvalidInput("within", "is in AUTOCOMMIT mode, where row and event are not atomic", "begin a transaction")
    return connection
