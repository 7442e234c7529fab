"""PostgreSQL: writers at READ COMMITTED, readers on one REPEATABLE READ snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, event, literal_column, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import URL, ColumnElement, Connection, Engine, PoolProxiedConnection, Table
    from sqlalchemy.engine import ExceptionContext
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.sql.dml import Insert

_UNIQUE_VIOLATION, _LOCK_TIMEOUT, _READ_ONLY = "23505", "55P03", "25006"
_NOT_SUPPORTED, _CHECKS_SETTING = "0A000", "call_bool_check_hook"
"""What a standby answers to psycopg's BEGIN READ WRITE: a number that means much else, and who answers it."""
_DENIED, _CHECKS_RIGHTS = "42501", frozenset({"aclcheck_error", "aclcheck_error_col", "ExecWithCheckOptions"})
"""The number of what the role may not, and who says so in the server; a trigger may give the number to its own text."""
_NOT_THERE = frozenset({"42P01", "42703", "3F000"})
_ROLLED_BACK = frozenset({"40001", "40P01"})
_AWAY = ("08", "53300", "57P01", "57P02", "57P03", "57P05", "25P03")
"""SQLSTATEs, or how they begin, of a connection that is gone or could not be made: the next may succeed."""
_UNAVAILABLE = ("08", "53", "57", "58", "XX", "25P", _LOCK_TIMEOUT, _READ_ONLY)
"""As above, of what has nothing to do with the values: out of time, memory or disk, broken files."""
_BINARY = 1
"""The format of results in which the server sends bytes as they are."""
_REASONS = {
    "08003": "the connection was lost",
    "08006": "the connection was lost",
    "25006": "the server is read-only and cannot number or open: connect to the primary",
    "25P02": "the transaction failed before: roll it back",
    "25P04": "the transaction ran longer than transaction_timeout",
    "53100": "the server's disk is full",
    "53200": "the server is out of memory",
    "53300": "the server has no free connection",
    "55P03": "a lock was waited for longer than lock_timeout",
    "57014": "the statement ran longer than statement_timeout, or somebody cancelled it",
    "57P01": "the server ended the connection",
    "57P03": "the server starts, stops or recovers",
}

_HOLDERS = """
SELECT pid, CASE application_name WHEN '' THEN '' ELSE application_name || ', ' END, coalesce(state, 'of another user'),
       CAST(extract(epoch FROM clock_timestamp() - xact_start) AS INTEGER)
FROM pg_stat_activity
WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()
  AND xact_start <= clock_timestamp() - CAST(current_setting('lock_timeout') AS INTERVAL)
ORDER BY xact_start LIMIT 3
"""


class PostgresqlDialect:
    """PostgreSQL through psycopg (sync and async) or asyncpg (async only)."""

    write_options: Mapping[str, Any] = {"isolation_level": "READ COMMITTED"}
    read_options: Mapping[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    alone_options: Mapping[str, Any] = {"isolation_level": "AUTOCOMMIT"}
    one_writer = False
    inserts_in_ctes = True
    closes_after_fork = False
    locked_when_dropped = False

    def urls(self, url: URL) -> tuple[URL | None, URL | None]:
        """Give both: psycopg serves sync and async, asyncpg async only, psycopg2 sync only."""
        driver = url.get_driver_name() if "+" in url.drivername else "psycopg"
        url = url.set(drivername=f"postgresql+{driver}")
        if driver == "asyncpg":
            return None, url
        return url, url if driver == "psycopg" else None

    def prepare(self, engine: Engine, *, lock_timeout: float | None) -> None:
        """Bound the wait for a row somebody else holds; have lost connections told as such."""
        event.listen(engine, "handle_error", _system_error)
        if engine.dialect.driver == "psycopg":
            event.listen(engine, "before_cursor_execute", _in_binary)
        if lock_timeout is None:
            return

        @event.listens_for(engine, "connect")
        def on_connect(dbapi_connection: Any, _record: object) -> None:
            cursor = dbapi_connection.cursor()
            cursor.execute(f"SET lock_timeout = {round(lock_timeout * 1000)}")
            cursor.close()
            dbapi_connection.commit()

    def clock(self) -> ColumnElement[int]:
        """Build the server's wall clock; now() would be the transaction's beginning."""
        return literal_column("CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)", BigInteger)

    def insert_missing(self, table: Table, values: Mapping[str, Any]) -> Insert:
        """Insert a row unless its key is there."""
        return insert(table).values(**values).on_conflict_do_nothing(index_elements=list(table.primary_key))

    def is_duplicate(self, error: DBAPIError) -> bool:
        """Say whether a unique constraint refused the statement."""
        return _sqlstate(error) == _UNIQUE_VIOLATION

    def is_transient(self, error: DBAPIError) -> bool:
        """Say whether the server rolled back for a serialization failure or deadlock, or went away."""
        return _sqlstate(error) in _ROLLED_BACK or _is_away(error)

    def is_unavailable(self, error: DBAPIError) -> bool:
        """Say whether the server was away, out of time or resources, read-only, or a row stayed locked."""
        state = _sqlstate(error) or ""
        return self.is_transient(error) or state.startswith(_UNAVAILABLE) or isinstance(error.orig, TimeoutError)

    def is_locked(self, error: DBAPIError) -> bool:
        """Say whether the wait for a lock ran into `lock_timeout`."""
        return _sqlstate(error) == _LOCK_TIMEOUT

    def denied(self, error: DBAPIError) -> str | None:
        """Tell what the role may not do; asyncpg's own words stand in the error behind SQLAlchemy's."""
        if _sqlstate(error) != _DENIED or error.orig is None or _told_by(error) not in _CHECKS_RIGHTS:
            return None
        return str(error.orig.__cause__ or error.orig).partition("\n")[0]

    def is_missing_table(self, error: DBAPIError) -> bool:
        """Say whether a table, its schema or one of its columns does not exist."""
        return _sqlstate(error) in _NOT_THERE

    def holders(self, connection: PoolProxiedConnection, /) -> list[str]:
        """Name the oldest sessions that have written and not committed since the wait began."""
        cursor = connection.cursor()
        cursor.execute(_HOLDERS)
        found = cursor.fetchall()
        cursor.close()
        connection.rollback()
        return [f"session {pid} ({name}{state} for {seconds} s)" for pid, name, state, seconds in found]

    def describe(self, error: DBAPIError) -> tuple[str, str | None]:
        """Name SQLSTATE and constraint; the server's DETAIL would hold values."""
        constraint = getattr(getattr(error.orig, "diag", None), "constraint_name", None)
        constraint = constraint or getattr(error.orig, "constraint_name", None)
        name = type(error.orig).__name__
        state = _sqlstate(error)
        if state is not None:
            name = f"{name} {state}"
        reason = _REASONS.get(state or "")
        if isinstance(error.orig, TimeoutError):
            reason = "no answer within the driver's time limit"
        elif state is None and _is_away(error):
            # The connection's own words: it speaks of hosts and users, not of rows.
            reason = str(error.orig).partition("\n")[0]
        return f"{name}: {reason}" if reason else name, constraint

    def begin_within(self, _connection: Connection, /) -> bool:
        """Nothing: the driver has begun it."""
        return True

    def begin_snapshot(self, connection: Connection) -> None:
        """Nothing: the isolation level travels in BEGIN."""

    def migration_lock(self, connection: Connection, name: str) -> None:
        """Take an advisory lock that ends with the transaction."""
        connection.execute(text("SET LOCAL lock_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": name})


def _in_binary(
    _connection: Connection, cursor: Any, _statement: str, _parameters: object, context: Any, _many: object
) -> None:
    """Ask for bytes as bytes where a statement says so: as text they are twice as long and have to be decoded."""
    if context is not None and context.execution_options.get("abreast_binary"):
        getattr(cursor, "_cursor", cursor).format = _BINARY


def _system_error(context: ExceptionContext) -> DBAPIError | None:
    """Name an error of the system's own, which asyncpg passes on: a connection lost, `command_timeout` run out."""
    error = context.original_exception
    if not isinstance(error, OSError):
        return None
    context.is_disconnect = True
    return OperationalError(None, None, error, hide_parameters=True, connection_invalidated=True)


def _sqlstate(error: DBAPIError) -> str | None:
    state = getattr(error.orig, "sqlstate", None)
    refused_by = getattr(getattr(error.orig, "diag", None), "source_function", None)
    if state == _NOT_SUPPORTED and refused_by == _CHECKS_SETTING:
        return _READ_ONLY
    return state if isinstance(state, str) else None


def _told_by(error: DBAPIError) -> str | None:
    """Name the server's function that refused the statement."""
    told = getattr(getattr(error.orig, "diag", None), "source_function", None)
    return told or getattr(error.orig.__cause__ if error.orig else None, "server_source_function", None)


def _is_away(error: DBAPIError) -> bool:
    state = _sqlstate(error)
    if state is not None:
        return state.startswith(_AWAY)
    # asyncpg's for a value that it cannot send is an InterfaceError by its class, and shows the value.
    if isinstance(error.orig.__cause__ if error.orig else None, ValueError) or isinstance(error.orig, TimeoutError):
        return False
    return error.connection_invalidated or isinstance(error, (OperationalError, InterfaceError, InternalError))


DIALECT = PostgresqlDialect()
