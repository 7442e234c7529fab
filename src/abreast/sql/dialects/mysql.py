"""MySQL and MariaDB (InnoDB): writers at READ COMMITTED, readers on one consistent snapshot."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, event, literal_column, text
from sqlalchemy.exc import InterfaceError

from abreast.errors import DatabaseUnavailable
from abreast.sql.dialects.insert_select import insert_unless_there

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import URL, ColumnElement, Connection, Engine, PoolProxiedConnection, Table
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.sql.dml import Insert

_DUPLICATE, _DUPLICATE_NAMED = 1062, 1586
_DEADLOCK, _CHANGED_SINCE_READ, _LOCK_TIMEOUT, _LOCK_HELD, _NODE_NOT_READY = 1213, 1020, 1205, 3572, 1047
_DENIED = frozenset({1044, 1142, 1143})
_NOT_THERE = frozenset({1054, 1146})
_AWAY = frozenset({1040, 1053, 1080, 1203, 1927, 2002, 2003, 2005, 2006, 2013, 2055, 4031})
_REASONS = {
    1205: "a lock was waited for longer than innodb_lock_wait_timeout",
    3572: "a lock is held",
    **dict.fromkeys((1290, 1792, 1836), "the server is read-only and cannot number or open: connect to the primary"),
    **dict.fromkeys((1317, 1969, 3024), "the statement ran longer than the server allows, or somebody cancelled it"),
    **dict.fromkeys((1021, 1114), "the server's disk or a table is full"),
    **dict.fromkeys((1037, 1038, 1041, 1206, 1226), "the server is out of memory or at a limit"),
    **dict.fromkeys((1026, 1030, 1034, 1194, 1195, 1712), "the server cannot read or write its files"),
}
"""Numbers of what has nothing to do with the values; it is not tried again."""
_CONSTRAINT = re.compile(r"for key '([\w.$]+)'$|CONSTRAINT `([\w$]+)`|Check constraint '([\w$]+)'")
_MIGRATION_SECONDS = 60


class MysqlDialect:
    """
    MySQL 8 and MariaDB through PyMySQL (sync) and asyncmy (async).

    Its SQL is compiled for MySQL, not run there.
    """

    write_options: Mapping[str, Any] = {"isolation_level": "READ COMMITTED"}
    read_options: Mapping[str, Any] = {"isolation_level": "REPEATABLE READ"}
    alone_options: Mapping[str, Any] = {"isolation_level": "AUTOCOMMIT"}
    one_writer = False
    inserts_in_ctes = False
    closes_after_fork = False
    locked_when_dropped = False

    def urls(self, url: URL) -> tuple[URL | None, URL | None]:
        """Give both: PyMySQL and asyncmy stand for each other, aiomysql is async only, others sync only."""
        kind = url.get_backend_name()
        driver = url.get_driver_name() if "+" in url.drivername else "pymysql"
        if driver in ("pymysql", "asyncmy"):
            return url.set(drivername=f"{kind}+pymysql"), url.set(drivername=f"{kind}+asyncmy")
        return (None, url) if driver == "aiomysql" else (url, None)

    def prepare(self, engine: Engine, *, lock_timeout: float | None) -> None:
        """Refuse values that do not fit, where the server would cut them, and bound the wait for a row."""
        settings = ["sql_mode = CONCAT_WS(',', NULLIF(@@SESSION.sql_mode, ''), 'STRICT_TRANS_TABLES')"]
        if lock_timeout is not None:
            settings.append(f"innodb_lock_wait_timeout = {max(1, round(lock_timeout))}")

        @event.listens_for(engine, "connect")
        def on_connect(dbapi_connection: Any, _record: object) -> None:
            cursor = dbapi_connection.cursor()
            cursor.execute(f"SET SESSION {', '.join(settings)}")
            cursor.close()

    def clock(self) -> ColumnElement[int]:
        """Build the server's wall clock; NOW() would be the statement's beginning."""
        return literal_column("CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)", BigInteger)

    def insert_missing(self, table: Table, values: Mapping[str, Any]) -> Insert:
        """
        Insert a row unless its key is there.

        ON DUPLICATE KEY UPDATE would count one row in either case, as the found-rows flag is set. IGNORE
        alone would make a warning of every row that is there, which asyncmy logs with its key. It also cuts
        values that do not fit: abreast checks its own before.
        """
        return insert_unless_there(table, values).prefix_with("IGNORE")

    def is_duplicate(self, error: DBAPIError) -> bool:
        """Say whether a unique key refused the statement."""
        return _code(error) in (_DUPLICATE, _DUPLICATE_NAMED)

    def is_transient(self, error: DBAPIError) -> bool:
        """Say whether the server rolled back for a deadlock or a changed row, or went away."""
        return _code(error) in (_DEADLOCK, _CHANGED_SINCE_READ, _NODE_NOT_READY) or _is_away(error)

    def is_unavailable(self, error: DBAPIError) -> bool:
        """Say whether the server was away, out of time or resources, read-only, or a row stayed locked."""
        return self.is_transient(error) or _code(error) in _REASONS

    def is_locked(self, error: DBAPIError) -> bool:
        """Say whether a lock was waited for in vain."""
        return _code(error) in (_LOCK_TIMEOUT, _LOCK_HELD)

    def denied(self, error: DBAPIError) -> str | None:
        """Tell what the account may not do."""
        return str(error.orig.args[-1]) if error.orig is not None and _code(error) in _DENIED else None

    def is_missing_table(self, error: DBAPIError) -> bool:
        """Say whether a table or one of its columns does not exist."""
        return _code(error) in _NOT_THERE

    def holders(self, _connection: PoolProxiedConnection, /) -> list[str]:
        """Nobody yet: the server tells only an administrator."""
        return []

    def describe(self, error: DBAPIError) -> tuple[str, str | None]:
        """Name class, number and constraint; the rest of the server's text can hold values."""
        code, name = _code(error), type(error.orig).__name__
        found = _CONSTRAINT.search(str(error.orig.args[-1])) if error.orig is not None and error.orig.args else None
        constraint = next(filter(None, found.groups()), None) if found else None
        reason = f": {_REASONS[code]}" if code in _REASONS else ""
        return (f"{name} {code}{reason}" if code else name), constraint

    def begin_within(self, _connection: Connection, /) -> bool:
        """Nothing: the driver has begun it."""
        return True

    def begin_snapshot(self, connection: Connection) -> None:
        """Fix the snapshot now, not at the first SELECT, and refuse writes."""
        connection.exec_driver_sql("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")

    def migration_lock(self, connection: Connection, name: str) -> None:
        """
        Take a lock of the session, which outlives the commits that CREATE TABLE brings.

        The session leaves the pool and ends with the connection, after COMMIT; the lock with it.
        """
        connection.detach()
        wait = text("SELECT GET_LOCK(MD5(CONCAT(DATABASE(), '.', :name)), :seconds)")
        if connection.execute(wait, {"name": name, "seconds": _MIGRATION_SECONDS}).scalar() != 1:
            raise DatabaseUnavailable(
                connection.engine.url.render_as_string(), "another process migrates it and does not end"
            )


def _code(error: DBAPIError) -> int | None:
    arguments = error.orig.args if error.orig is not None else ()
    return arguments[0] if arguments and isinstance(arguments[0], int) else None


def _is_away(error: DBAPIError) -> bool:
    return _code(error) in _AWAY or error.connection_invalidated or isinstance(error, InterfaceError)


DIALECT = MysqlDialect()
