"""Transactions that belong to the caller."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from abreast.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Generator

    from sqlalchemy import Connection


def atomic(connection: Connection) -> Connection:
    """
    Give a caller's connection back if it has transactions.

    Raises:
        InvalidInput: It commits each statement by itself.
    """
    of_engine = getattr(connection.dialect, "_on_connect_isolation_level", None)
    level = connection.get_execution_options().get("isolation_level", of_engine)
    if level == "AUTOCOMMIT" or getattr(connection.connection.dbapi_connection, "autocommit", False) is True:
        raise InvalidInput("within", "is in AUTOCOMMIT mode, where row and event are not atomic", "begin a transaction")
    return connection


@contextmanager
def values_hidden() -> Generator[None]:
    """Keep a statement's values out of an error, into which an engine of the caller's would write them."""
    try:
        yield
    except DBAPIError as error:
        error.hide_parameters, error.params = True, None
        raise
