"""PostgreSQL: writers at READ COMMITTED, readers on one REPEATABLE READ snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, event, literal_column, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import InterfaceError, OperationalError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import URL, ColumnElement, Connection, Engine, Table
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.sql.dml import Insert

_SERIALIZATION_FAILURE, _DEADLOCK, _UNIQUE_VIOLATION, _LOCK_TIMEOUT = "40001", "40P01", "23505", "55P03"
_READ_ONLY = "25006"
_AWAY_CLASSES = ("08", "53", "57P")


class PostgresqlDialect:
    """PostgreSQL through psycopg (sync and async) or asyncpg (async only)."""

    write_options: Mapping[str, Any] = {"isolation_level": "READ COMMITTED"}
    read_options: Mapping[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    alone_options: Mapping[str, Any] = {"isolation_level": "AUTOCOMMIT"}

    def urls(self, url: URL) -> tuple[URL | None, URL | None]:
        """Give both: psycopg serves sync and async, asyncpg async only, psycopg2 sync only."""
        driver = url.get_driver_name() if "+" in url.drivername else "psycopg"
        url = url.set(drivername=f"postgresql+{driver}")
        if driver == "asyncpg":
            return None, url
        return url, url if driver == "psycopg" else None

    def prepare(self, engine: Engine, *, lock_timeout: float | None) -> None:
        """Bound the wait for a row somebody else holds."""
        if lock_timeout is None:
            return

        @event.listens_for(engine, "connect")
        def on_connect(dbapi_connection: Any, _record: object) -> None:
            cursor = dbapi_connection.cursor()
            cursor.execute(f"SET lock_timeout = {int(lock_timeout * 1000)}")
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
        return _sqlstate(error) in (_SERIALIZATION_FAILURE, _DEADLOCK) or _is_away(error)

    def is_unavailable(self, error: DBAPIError) -> bool:
        """Say whether the server was away or a row stayed locked."""
        return self.is_transient(error) or _sqlstate(error) in (_LOCK_TIMEOUT, _READ_ONLY)

    def is_locked(self, error: DBAPIError) -> bool:
        """Say whether the wait for a lock ran into `lock_timeout`."""
        return _sqlstate(error) == _LOCK_TIMEOUT

    def describe(self, error: DBAPIError) -> tuple[str, str | None]:
        """Name SQLSTATE and constraint; the server's DETAIL would hold values."""
        constraint = getattr(getattr(error.orig, "diag", None), "constraint_name", None)
        constraint = constraint or getattr(error.orig, "constraint_name", None)
        name = type(error.orig).__name__
        state = _sqlstate(error)
        if state is None and _is_away(error):
            # The connection's own words: it speaks of hosts and users, not of rows.
            name = f"{name}: {str(error.orig).partition(chr(10))[0]}"
        if state == _READ_ONLY:
            name = "a read-only server cannot number or open: connect to the primary"
        return f"{name} {state}" if state else name, constraint

    def begin_snapshot(self, connection: Connection) -> None:
        """Nothing: the isolation level travels in BEGIN."""

    def migration_lock(self, connection: Connection, name: str) -> None:
        """Take an advisory lock that ends with the transaction."""
        connection.execute(text("SET LOCAL lock_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": name})


def _sqlstate(error: DBAPIError) -> str | None:
    state = getattr(error.orig, "sqlstate", None)
    return state if isinstance(state, str) else None


def _is_away(error: DBAPIError) -> bool:
    state = _sqlstate(error)
    if state is not None:
        return state.startswith(_AWAY_CLASSES)
    return error.connection_invalidated or isinstance(error, (OperationalError, InterfaceError))


DIALECT = PostgresqlDialect()
