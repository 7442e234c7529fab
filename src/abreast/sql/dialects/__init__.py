"""What differs between databases, one file each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from abreast.errors import InvalidDatabase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import URL, ColumnElement, Connection, Engine, PoolProxiedConnection, Table
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.sql.dml import Insert

_MODULES = {
    "sqlite": "sqlite",
    "postgresql": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "oracle": "oracle",
}


class Dialect(Protocol):
    """
    Everything abreast asks of one kind of database.

    Attributes:
        write_options: Execution options of a connection that writes (READ COMMITTED or the like).
        read_options: Execution options of a connection that reads one snapshot.
        alone_options: Execution options of a connection whose statements each commit by themselves.
        one_writer: Whether one transaction writes at a time, so that it sees all that was committed before.
        inserts_in_ctes: Whether one statement can insert into two tables.
        closes_after_fork: Whether a forked process closes the connections it inherits, or only forgets them: a
            server would end the parent's session, while SQLite takes locks the process does not have for its own.
        locked_when_dropped: Whether a dropped connection of an async driver keeps its locks until it is rolled back.
    """

    write_options: Mapping[str, Any]
    read_options: Mapping[str, Any]
    alone_options: Mapping[str, Any]
    one_writer: bool
    inserts_in_ctes: bool
    closes_after_fork: bool
    locked_when_dropped: bool

    def urls(self, url: URL) -> tuple[URL | None, URL | None]:
        """Give the URL with a sync and with an async driver; None where the named driver has no such twin."""
        ...

    def prepare(self, engine: Engine, *, lock_timeout: float | None) -> None:
        """Install what each new connection and transaction of an engine of ours needs."""
        ...

    def clock(self) -> ColumnElement[int]:
        """Build the database's own time in UTC microseconds, as of the statement and not the transaction."""
        ...

    def insert_missing(self, table: Table, values: Mapping[str, Any]) -> Insert:
        """Insert a row unless its key is there; the row count says which. Waits for a concurrent insert."""
        ...

    def is_duplicate(self, error: DBAPIError) -> bool:
        """Say whether a unique constraint refused the statement."""
        ...

    def is_transient(self, error: DBAPIError) -> bool:
        """Say whether the transaction was rolled back for a reason that goes away when it is tried again."""
        ...

    def is_unavailable(self, error: DBAPIError) -> bool:
        """Say whether the database was away, locked or gone in mid-statement."""
        ...

    def is_locked(self, error: DBAPIError) -> bool:
        """Say whether somebody else's transaction held a row or the file for too long."""
        ...

    def denied(self, error: DBAPIError) -> str | None:
        """Tell in the server's words what the role may not do; None for another error. They hold no values."""
        ...

    def is_missing_table(self, error: DBAPIError) -> bool:
        """Say whether a table that the statement names does not exist, or a column of it."""
        ...

    def holders(self, connection: PoolProxiedConnection, /) -> list[str]:
        """Name the sessions that may hold a lock that was waited for in vain, as far as the server tells."""
        ...

    def describe(self, error: DBAPIError) -> tuple[str, str | None]:
        """Name the error's class or SQLSTATE, and the constraint, without any text that can hold values."""
        ...

    def begin_within(self, connection: Connection, /) -> bool:
        """
        Begin a caller's transaction where his driver has not: what it reads must still hold when it writes.

        Returns:
            False if the driver was told to commit each statement by itself.
        """
        ...

    def begin_snapshot(self, connection: Connection) -> None:
        """Send what must come first in a reading transaction beyond `read_options`; usually nothing."""
        ...

    def migration_lock(self, connection: Connection, name: str) -> None:
        """Wait until no other process migrates under this name; held until the transaction ends."""
        ...


def dialect_named(name: str) -> Dialect:
    """
    Find the dialect for a SQLAlchemy dialect name.

    Raises:
        InvalidDatabase: abreast does not know this kind of database.
    """
    if name not in _MODULES:
        raise InvalidDatabase(
            name, "is not a kind of database abreast knows", f"use one of: {', '.join(sorted(_MODULES))}"
        )
    dialect: Dialect = import_module(f"abreast.sql.dialects.{_MODULES[name]}").DIALECT
    return dialect


def dialect_of(connection: Connection) -> Dialect:
    """Find the dialect of an open connection."""
    return dialect_named(connection.dialect.name)


def rights_of(statement: str | None) -> str:
    """Name the rights that a statement needs; a SELECT that locks needs the one to change, too."""
    words = (statement or "").split()
    command = words[0].upper() if words else "more rights"
    return "SELECT and UPDATE" if command == "SELECT" and "FOR" in words else command


def insert_missing(connection: Connection, table: Table, values: Mapping[str, Any]) -> bool:
    """
    Insert a row unless its key is there; says whether it did.

    Waits for a transaction that is inserting the same key.
    """
    statement = dialect_of(connection).insert_missing(table, values)
    # SQLAlchemy keeps the row count of UPDATE and DELETE only, unless it is told.
    count = connection.execute(statement, execution_options={"preserve_rowcount": True}).rowcount
    if count not in (0, 1):
        raise AssertionError(f"the driver gave row count {count} for an INSERT")
    return count == 1
