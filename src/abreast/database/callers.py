"""Transactions that belong to the caller."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from sqlalchemy.exc import DBAPIError

from abreast.errors import AccessDenied, InvalidInput
from abreast.sql.dialects import dialect_of, rights_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from sqlalchemy import Connection

P = ParamSpec("P")
T = TypeVar("T")


def run_within(
    connection: Connection, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
) -> T:
    """
    Run a step in a caller's transaction, wholly or not at all: who catches its error may commit the rest.

    Raises:
        InvalidInput: The connection commits each statement by itself.
    """
    if not connection.in_transaction():
        connection.begin()
    if not (_is_transactional(connection) and dialect_of(connection).begin_within(connection)):
        raise InvalidInput("within", "is in AUTOCOMMIT mode, where row and event are not atomic", "begin a transaction")
    with _values_hidden(connection), connection.begin_nested():
        return step(connection, *args, **kwargs)


def _is_transactional(connection: Connection) -> bool:
    of_engine = getattr(connection.dialect, "_on_connect_isolation_level", None)
    level = connection.get_execution_options().get("isolation_level", of_engine)
    return level != "AUTOCOMMIT" and getattr(connection.connection.dbapi_connection, "autocommit", False) is not True


@contextmanager
def _values_hidden(connection: Connection) -> Generator[None]:
    """Keep a statement's values out of an error, into which an engine of the caller's would write them."""
    try:
        yield
    except DBAPIError as error:
        error.hide_parameters, error.params = True, None
        denied = dialect_of(connection).denied(error)
        if denied is None:
            raise
        name = connection.engine.url.render_as_string(hide_password=True)
        told = AccessDenied(name, denied, rights_of(error.statement))
    else:
        return
    raise told
