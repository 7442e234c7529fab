"""Transactions that belong to the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy.exc import DBAPIError

from abreast.errors import AccessDenied, DatabaseBusy, DatabaseUnavailable, InvalidInput, WriteRefused
from abreast.sql.dialects import dialect_of, rights_of

if TYPE_CHECKING:
    from collections.abc import Callable

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
    try:
        with connection.begin_nested():
            return step(connection, *args, **kwargs)
    except DBAPIError as error:
        told = _told(connection, error)
    # Raised out here, where it is not chained to the error above, whose text can hold values.
    raise told


def _is_transactional(connection: Connection) -> bool:
    of_engine = getattr(connection.dialect, "_on_connect_isolation_level", None)
    level = connection.get_execution_options().get("isolation_level", of_engine)
    return level != "AUTOCOMMIT" and getattr(connection.connection.dbapi_connection, "autocommit", False) is not True


def _told(connection: Connection, error: DBAPIError) -> Exception:
    """Give what the caller is told; a failure that passes stays the driver's error, which his own retries know."""
    dialect = dialect_of(connection)
    name = connection.engine.url.render_as_string(hide_password=True)
    reason, constraint = dialect.describe(error)
    denied = dialect.denied(error)
    if denied is not None:
        return AccessDenied(name, denied, rights_of(error.statement))
    if dialect.is_locked(error):
        return DatabaseBusy(name, reason)
    if dialect.is_transient(error):
        return _without_text(error, reason)
    if dialect.is_unavailable(error):
        return DatabaseUnavailable(name, reason)
    return WriteRefused("a row", reason, constraint)


def _without_text(error: DBAPIError, reason: str) -> DBAPIError:
    """Make the same error with our words in place of the server's, in which a trigger can have written a value."""
    kind: Any = type(error.orig)
    bare = kind.__new__(kind, reason)
    bare.args = (reason,)
    for code in ("sqlstate", "pgcode", "sqlite_errorcode", "sqlite_errorname"):
        if getattr(error.orig, code, None) != getattr(bare, code, None):
            setattr(bare, code, getattr(error.orig, code))
    invalidated = error.connection_invalidated
    return type(error)(None, None, bare, hide_parameters=True, connection_invalidated=invalidated)
