"""SQLite: WAL, one writer at a time (BEGIN IMMEDIATE), readers on a snapshot."""

from __future__ import annotations

import logging
import re
from contextlib import suppress
from sqlite3 import Error
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, event, literal_column
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import IntegrityError

from abreast.errors import InvalidDatabase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import URL, ColumnElement, Connection, Engine, PoolProxiedConnection, Table
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.sql.dml import Insert

_BUSY, _LOCKED = 5, 6
_PERM, _NOMEM, _READONLY, _INTERRUPT, _IOERR, _CORRUPT, _FULL, _CANTOPEN, _PROTOCOL = 3, 7, 8, 9, 10, 11, 13, 14, 15
_NOLFS, _NOTADB = 22, 26
_UNAVAILABLE = frozenset(
    {_BUSY, _LOCKED, _PERM, _NOMEM, _READONLY, _INTERRUPT, _IOERR, _CORRUPT, _FULL, _CANTOPEN, _PROTOCOL}
) | {_NOLFS, _NOTADB}
_BUSY_RECOVERY, _BUSY_SNAPSHOT = 261, 517
_PRIMARY_CODE = 0xFF
_NOT_THERE = re.compile(r"no such (?:table|column): |table \S+ has no column named ")
_DEFAULT_BUSY_SECONDS = 10.0


class SqliteDialect:
    """SQLite through pysqlite and aiosqlite."""

    write_options: Mapping[str, Any] = {"abreast_begin": "BEGIN IMMEDIATE"}
    read_options: Mapping[str, Any] = {"abreast_begin": "BEGIN"}
    alone_options: Mapping[str, Any] = write_options
    one_writer = True
    inserts_in_ctes = False
    closes_after_fork = True
    locked_when_dropped = True

    def urls(self, url: URL) -> tuple[URL | None, URL | None]:
        """Give both drivers; an in-memory database is refused: sync and async would see two databases."""
        if url.database in (None, "", ":memory:") or "memory" in (url.query.get("mode"), *_parts(str(url.database))):
            raise InvalidDatabase(
                url.render_as_string(),
                "is in memory, where sync and async calls would see two databases",
                "use a file, or Database.temporary()",
            )
        return url.set(drivername="sqlite+pysqlite"), url.set(drivername="sqlite+aiosqlite")

    def prepare(self, engine: Engine, *, lock_timeout: float | None) -> None:
        """
        Begin transactions ourselves: sqlite3 sends no BEGIN before a SELECT, so reads would be torn.

        aiosqlite logs each statement with its values at DEBUG. It is told not to, unless the application has set
        the level of that logger itself.
        """
        if logging.getLogger("aiosqlite").level == logging.NOTSET:
            logging.getLogger("aiosqlite").setLevel(logging.INFO)
        seconds = _DEFAULT_BUSY_SECONDS if lock_timeout is None else lock_timeout

        @event.listens_for(engine, "connect")
        def on_connect(dbapi_connection: Any, _record: object) -> None:
            dbapi_connection.isolation_level = None
            cursor = dbapi_connection.cursor()
            for pragma in (
                f"busy_timeout={int(seconds * 1000)}",
                "journal_mode=WAL",
                "synchronous=NORMAL",
                "foreign_keys=ON",
                "recursive_triggers=ON",
            ):
                cursor.execute(f"PRAGMA {pragma}")
            cursor.close()

        @event.listens_for(engine, "invalidate")
        def on_invalidate(dbapi_connection: Any, _record: object, _error: object) -> None:
            """Unlock the file: what was closed while a cursor is left keeps its transaction until that goes too."""
            if not engine.dialect.is_async:
                with suppress(Error):
                    dbapi_connection.rollback()

        @event.listens_for(engine, "begin")
        def on_begin(connection: Connection) -> None:
            connection.exec_driver_sql(connection.get_execution_options().get("abreast_begin", "BEGIN"))

    def clock(self) -> ColumnElement[int]:
        """Build the host's time, to the millisecond: SQLite has no finer one before 3.42."""
        return literal_column("CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)", BigInteger)

    def insert_missing(self, table: Table, values: Mapping[str, Any]) -> Insert:
        """Insert a row unless its key is there."""
        return insert(table).values(**values).on_conflict_do_nothing(index_elements=list(table.primary_key))

    def is_duplicate(self, error: DBAPIError) -> bool:
        """Say whether a unique constraint refused the statement."""
        return isinstance(error, IntegrityError) and "UNIQUE" in str(error.orig)

    def is_transient(self, error: DBAPIError) -> bool:
        """Say whether SQLite gave up without waiting; a file still locked after the busy time-out is not retried."""
        return _extended_code(error) in (_BUSY_RECOVERY, _BUSY_SNAPSHOT) or _code(error) == _LOCKED

    def is_unavailable(self, error: DBAPIError) -> bool:
        """Say whether the file stayed locked, or cannot be opened, read or written."""
        return _code(error) in _UNAVAILABLE or error.connection_invalidated

    def is_locked(self, error: DBAPIError) -> bool:
        """Say whether another writer held the file longer than the busy time-out."""
        return _code(error) in (_BUSY, _LOCKED)

    def denied(self, _error: DBAPIError) -> str | None:
        """Nothing: a file has no roles, and one that cannot be written is told as unavailable."""
        return None

    def is_missing_table(self, error: DBAPIError) -> bool:
        """Say whether a table or one of its columns does not exist, for which SQLite has words alone."""
        return _NOT_THERE.match(str(error.orig)) is not None

    def holders(self, _connection: PoolProxiedConnection, /) -> list[str]:
        """Nobody: the file does not say who locks it."""
        return []

    def describe(self, error: DBAPIError) -> tuple[str, str | None]:
        """Name the error; SQLite names columns, not constraints, in its text, which holds no values."""
        name = getattr(error.orig, "sqlite_errorname", None) or type(error.orig).__name__
        if self.is_unavailable(error):
            name = f"{name}: {error.orig}"
        columns = str(error.orig).rpartition(": ")[2] if isinstance(error, IntegrityError) else ""
        return str(name), columns if "." in columns else None

    def begin_within(self, connection: Connection) -> bool:
        """Send BEGIN: Python's driver would send it with the first change, and a version read before could be old."""
        driver: Any = connection.connection.driver_connection
        if not driver.in_transaction:
            if driver.isolation_level is None:
                return False
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        return True

    def begin_snapshot(self, connection: Connection) -> None:
        """Nothing: the first SELECT after BEGIN fixes the snapshot."""

    def migration_lock(self, connection: Connection, name: str) -> None:
        """Nothing: BEGIN IMMEDIATE is the lock."""


def _parts(name: str) -> list[str]:
    """Split a `file:` URI, which may say by itself that it is in memory."""
    return re.split(r"[:?&=]", name) if name.startswith("file:") else []


def _code(error: DBAPIError) -> int | None:
    code = _extended_code(error)
    return None if code is None else code & _PRIMARY_CODE


def _extended_code(error: DBAPIError) -> int | None:
    code = getattr(error.orig, "sqlite_errorcode", None)
    return None if code is None else int(code)


DIALECT = SqliteDialect()
