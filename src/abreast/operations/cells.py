"""Read product rows whatever stands in their cells, and without a value in any error."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import JSON, Interval, case, cast, literal
from sqlalchemy.exc import DBAPIError, SQLAlchemyError, StatementError

from abreast.errors import InvalidInput, TableMissing
from abreast.sql.columns import CELL_TEXT
from abreast.sql.dialects import dialect_of
from abreast.sql.values import from_json

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, Executable, Row, Select

    from abreast.sql.mapping import EntityTable


_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - as it is stored
_LONGEST = timedelta(days=986_000_000)
"""A database that counts 30 days a month finds years of 365 days too short: these still fit Python's."""


class Unreadable(Exception):
    """
    Neither the driver nor a column's type could read what stands in a row, or write what it is looked for by.

    Attributes:
        reason: The class of their error; its text can hold the value.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Cells:
    """
    The values of one entity's rows.

    Attributes:
        refused: Makes the error that tells of a statement the database refuses, of its reason and constraint.
        given: Values of the parameters that the statements leave open, by name.
    """

    connection: Connection
    entity: EntityTable
    refused: Callable[[str, str | None], Exception]
    given: Mapping[str, Any] | None = None

    def execute(self, statement: Executable) -> Any:
        """
        Execute a statement over product rows.

        Raises:
            TableMissing: The table is not there.
            Exception: What `refused` makes; the driver's own text, which can hold values, is left out.
        """
        try:
            return self._executed(statement)
        except Unreadable as error:
            reason = error.reason
        raise self.refused(reason, None)

    def fetch(self, statement: Executable) -> Sequence[Row[Any]]:
        """Execute a statement and read all of its rows; raises as `execute`."""
        try:
            return self._fetched(statement)
        except Unreadable as error:
            reason = error.reason
        raise self.refused(reason, None)

    def rows(
        self, wanted: Select[Any], columns: Mapping[str, ColumnElement[Any]], needed: Collection[str]
    ) -> list[dict[str, Any]]:
        """Read native values by field name; as `tuples`."""
        return [dict(zip(columns, row, strict=True)) for row in self.tuples(wanted, columns, needed)]

    def tuples(
        self,
        wanted: Select[Any],
        columns: Mapping[str, ColumnElement[Any]],
        needed: Collection[str],
        whole: Select[Any] | None = None,
    ) -> Sequence[Sequence[Any]]:
        """
        Read native values in the order of the columns; of those that cannot be read, the text where it has to be.

        Args:
            wanted: A SELECT without its columns.
            needed: Fields that text cannot stand for.
            whole: The SELECT with these columns, where there is one already: to build it takes as long as to run it.

        Raises:
            TableMissing: The table is not there.
            Unreadable: A field that is needed cannot be read.
            Exception: What `refused` makes.
        """
        try:
            return self._fetched(wanted.add_columns(*columns.values()) if whole is None else whole)
        except Unreadable:
            pass
        return self._as_text(wanted, columns, needed)

    def _as_text(
        self, wanted: Select[Any], columns: Mapping[str, ColumnElement[Any]], needed: Collection[str]
    ) -> list[tuple[Any, ...]]:
        self._fetched(wanted.add_columns(*(columns[name] for name in needed)))
        doubtful = [name for name in columns if name not in needed and not self._reads(wanted, columns[name])]
        chosen = [cast(column, CELL_TEXT) if name in doubtful else column for name, column in columns.items()]
        fitting = {name: column for name in doubtful for column in self._fitting(wanted, columns[name])}
        found = self._fetched(wanted.add_columns(*chosen, *fitting.values()))
        natives = [dict(zip(fitting, row[len(columns) :], strict=True)) for row in found]
        return [
            tuple(
                _native(columns[name], value, native.get(name)) if name in doubtful else value
                for name, value in zip(columns, row, strict=False)
            )
            for row, native in zip(found, natives, strict=True)
        ]

    def _fitting(self, wanted: Select[Any], column: ColumnElement[Any]) -> list[ColumnElement[Any]]:
        """
        Build an interval where Python has one of its length, else NULL; nothing where that is of no use.

        A database with intervals of its own writes them in words that only its driver reads back.
        """
        is_own = isinstance(column.type, Interval) and not isinstance(
            column.type.dialect_impl(self.connection.dialect), Interval
        )
        if not is_own:
            return []
        shortest, longest = literal(-_LONGEST, column.type), literal(_LONGEST, column.type)
        fitting = case((column.between(shortest, longest), column))
        return [fitting] if self._reads(wanted, fitting) else []

    def _reads(self, wanted: Select[Any], column: ColumnElement[Any]) -> bool:
        try:
            self._fetched(wanted.add_columns(column))
        except Unreadable:
            return False
        return True

    def _fetched(self, statement: Executable) -> Sequence[Row[Any]]:
        result = self._executed(statement)
        return self._guarded(result.all)  # type: ignore[no-any-return]

    def _executed(self, statement: Executable) -> Any:
        return self._guarded(lambda: self.connection.execute(statement, self.given))

    def _guarded(self, step: Callable[[], Any]) -> Any:
        try:
            return step()
        except Exception as error:  # noqa: BLE001 - a column's own type can raise anything
            told = self._told(error)
        raise told

    def _told(self, error: Exception) -> Exception:
        """Give what is raised in an error's place, outside of its handling: it is not to be chained to it."""
        if isinstance(error, DBAPIError):
            return self._told_by_driver(error)
        if isinstance(error, StatementError):
            return Unreadable(type(error.orig).__name__)
        return error if isinstance(error, SQLAlchemyError) else Unreadable(type(error).__name__)

    def _told_by_driver(self, error: DBAPIError) -> Exception:
        error.hide_parameters, error.params = True, None
        dialect = dialect_of(self.connection)
        if dialect.is_unavailable(error) or dialect.denied(error) is not None:
            return error
        if dialect.is_missing_table(error):
            hops = (hop.target.table.fullname for hop in self.entity.hops)
            return TableMissing(self.entity.name, list(dict.fromkeys([self.entity.table.fullname, *hops])))
        if _is_servers(error):
            return self.refused(*dialect.describe(error))
        return Unreadable(dialect.describe(error)[0])


def _is_servers(error: DBAPIError) -> bool:
    """Say whether the database refused the statement; a driver that cannot read a value has no code for that."""
    code = getattr(error.orig, "sqlstate", None) or getattr(error.orig, "sqlite_errorcode", None)
    return code is not None or bool(error.orig and error.orig.args and isinstance(error.orig.args[0], int))


def _native(column: ColumnElement[Any], found: Any, native: Any) -> Any:
    """Give a value as it was read, or read it back from its text where that gives one; else the text stands for it."""
    if native is not None:
        return native
    text: Any = found.decode(errors="replace") if isinstance(found, bytes) else found
    try:
        value = json.loads(text) if isinstance(column.type, JSON) and text is not None else text
        if isinstance(column.type, Interval):
            # Where a database has no intervals, they are moments after this one.
            return datetime.fromisoformat(str(value)) - _EPOCH
        return from_json("stored", value, column.type)
    except (InvalidInput, ValueError, TypeError, RecursionError):
        return text
