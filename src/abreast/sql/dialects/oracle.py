"""Oracle: writers at READ COMMITTED, readers in a READ ONLY transaction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from zlib import crc32

from sqlalchemy import BigInteger, event, literal_column, text

from abreast.sql.dialects.insert_select import insert_unless_there

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import URL, ColumnElement, Connection, Engine, PoolProxiedConnection, Table
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.sql.dml import Insert

_DUPLICATE, _DEADLOCK, _CANNOT_SERIALIZE, _SNAPSHOT_TOO_OLD = (
    "ORA-00001",
    "ORA-00060",
    "ORA-08177",
    "ORA-01555",
)
_MIGRATING = "ORA-20713"
_DENIED = "ORA-01031"
_NOT_THERE = frozenset({"ORA-00942", "ORA-00904"})
_LOCKED = frozenset({"ORA-00054", "ORA-30006", "ORA-02049", "ORA-04021"})
_AWAY = frozenset(
    f"ORA-{number:05}"
    for number in (
        *(18, 20, 28, 1012, 1033, 1034, 1089, 1090, 1092, 2391, 3113, 3114, 3135),
        *(12170, 12514, 12516, 12518, 12519, 12520, 12528, 12537, 12541, 12547, 12571, 25408),
    )
) | {"DPY-1001", "DPY-4011", "DPY-6005"}
_REASONS = {
    _MIGRATING: "another process migrates",
    **dict.fromkeys(_LOCKED, "a lock was waited for in vain"),
    **dict.fromkeys(("ORA-01456", "ORA-16000"), "the database is read-only: connect to the primary"),
    **dict.fromkeys(("ORA-01013", "DPY-4024"), "the statement ran longer than allowed, or somebody cancelled it"),
    **dict.fromkeys(("ORA-00257", "ORA-01536", "ORA-01652", "ORA-01653", "ORA-01654"), "the server's disk is full"),
    **dict.fromkeys(("ORA-04030", "ORA-04031"), "the server is out of memory"),
    **dict.fromkeys(("ORA-00600", "ORA-01110", "ORA-01578", "ORA-07445"), "the server cannot read its files"),
}
"""Numbers of what has nothing to do with the values; it is not tried again."""
_CONSTRAINT = re.compile(r"constraint \(([\w$#.]+)\)")

_MIGRATION_LOCK = f"""
DECLARE
  answer INTEGER;
BEGIN
  answer := DBMS_LOCK.REQUEST(
    id => :lock_id, lockmode => DBMS_LOCK.X_MODE, timeout => 60, release_on_commit => FALSE
  );
  IF answer NOT IN (0, 4) THEN
    RAISE_APPLICATION_ERROR(-{_MIGRATING[4:]}, 'another process migrates');
  END IF;
END;
"""
_LARGEST_LOCK_ID = 1_073_741_823


class OracleDialect:
    """
    Oracle 12.2 and newer through python-oracledb, sync and async.

    Its SQL is compiled, not run.
    """

    write_options: Mapping[str, Any] = {"isolation_level": "READ COMMITTED"}
    read_options: Mapping[str, Any] = {"isolation_level": "READ COMMITTED"}
    alone_options: Mapping[str, Any] = {"isolation_level": "AUTOCOMMIT"}
    one_writer = False
    inserts_in_ctes = False
    closes_after_fork = False
    locked_when_dropped = False

    def urls(self, url: URL) -> tuple[URL | None, URL | None]:
        """Give both: python-oracledb serves sync and async; cx_Oracle is sync only."""
        driver = url.get_driver_name() if "+" in url.drivername else "oracledb"
        url = url.set(drivername=f"oracle+{driver}")
        if driver == "oracledb_async":
            return None, url
        return url, url if driver == "oracledb" else None

    def prepare(self, engine: Engine, *, lock_timeout: float | None) -> None:  # noqa: ARG002 - has no such setting
        """Compare and sort bytes whatever the client's language; the wait for a row cannot be bounded."""

        @event.listens_for(engine, "connect")
        def on_connect(dbapi_connection: Any, _record: object) -> None:
            cursor = dbapi_connection.cursor()
            cursor.execute("ALTER SESSION SET NLS_COMP = BINARY NLS_SORT = BINARY")
            cursor.close()

    def clock(self) -> ColumnElement[int]:
        """Build the server's wall clock in UTC, to the second."""
        return literal_column(
            "ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) * 1000000", BigInteger
        )

    def insert_missing(self, table: Table, values: Mapping[str, Any]) -> Insert:
        """
        Insert a row unless its key is there.

        There is no ON CONFLICT. The hint is one that changes the meaning: a key that another transaction
        brings between the look and the insert is passed over, not raised.
        """
        key = ", ".join(column.name for column in table.primary_key)
        hint = f"/*+ IGNORE_ROW_ON_DUPKEY_INDEX({table.name} ({key})) */"
        return insert_unless_there(table, values).prefix_with(hint)

    def is_duplicate(self, error: DBAPIError) -> bool:
        """Say whether a unique constraint refused the statement."""
        return _code(error) == _DUPLICATE

    def is_transient(self, error: DBAPIError) -> bool:
        """Say whether the server gave up for a deadlock or lost snapshot, or went away."""
        return _code(error) in (_DEADLOCK, _CANNOT_SERIALIZE, _SNAPSHOT_TOO_OLD) or _is_away(error)

    def is_unavailable(self, error: DBAPIError) -> bool:
        """Say whether the server was away, out of time or resources, read-only, or something stayed locked."""
        return self.is_transient(error) or _code(error) in _REASONS

    def is_locked(self, error: DBAPIError) -> bool:
        """Say whether a lock was waited for in vain."""
        return _code(error) in _LOCKED

    def denied(self, error: DBAPIError) -> str | None:
        """Tell that the user may not; a table that he may not even see is told as one that is not there."""
        return "insufficient privileges" if _code(error) == _DENIED else None

    def is_missing_table(self, error: DBAPIError) -> bool:
        """Say whether a table or one of its columns does not exist, or not for this user."""
        return _code(error) in _NOT_THERE

    def holders(self, _connection: PoolProxiedConnection, /) -> list[str]:
        """Nobody: the server tells only an administrator."""
        return []

    def describe(self, error: DBAPIError) -> tuple[str, str | None]:
        """Name class, number and constraint; newer servers put column values into the rest of the text."""
        code, name = _code(error), type(error.orig).__name__
        found = _CONSTRAINT.search(str(error.orig))
        reason = f": {_REASONS[code]}" if code in _REASONS else ""
        return f"{name} {code}{reason}" if code else name, found[1] if found else None

    def begin_within(self, _connection: Connection, /) -> bool:
        """Nothing: the driver has begun it."""
        return True

    def begin_snapshot(self, connection: Connection) -> None:
        """Read one snapshot: it has to be the transaction's first statement, and is no isolation level."""
        connection.exec_driver_sql("SET TRANSACTION READ ONLY")

    def migration_lock(self, connection: Connection, name: str) -> None:
        """
        Take a lock of the session, which outlives the commits that CREATE TABLE brings.

        The session leaves the pool and ends with the connection, after COMMIT; the lock with it. The account
        needs EXECUTE on DBMS_LOCK.
        """
        connection.detach()
        connection.execute(text(_MIGRATION_LOCK), {"lock_id": crc32(name.encode()) & _LARGEST_LOCK_ID})


def _code(error: DBAPIError) -> str | None:
    details = error.orig.args[0] if error.orig is not None and error.orig.args else None
    code = getattr(details, "full_code", None)
    return code if isinstance(code, str) else None


def _is_away(error: DBAPIError) -> bool:
    return _code(error) in _AWAY or error.connection_invalidated


DIALECT = OracleDialect()
