"""The way from a row to its workspace: its own column, or foreign keys that lead to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from sqlalchemy import (
    Column,
    ColumnElement,
    FromClause,
    Integer,
    PrimaryKeyConstraint,
    Select,
    Table,
    UniqueConstraint,
    bindparam,
    literal,
    select,
)

from abreast.errors import InvalidEntity, InvalidInput
from abreast.sql.values import from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True)
class Hop:
    """One step from a row towards its workspace: a foreign key column and the column it points to."""

    column: Column[Any]
    target: Column[Any]


def bound(value: Any, column: Column[Any]) -> ColumnElement[Any]:
    """Bind a value for a comparison; a name SQLAlchemy chose could be that of a column that the statement sets."""
    return bindparam("abreast_bound", value, column.type, unique=True)


WORKSPACE: Final = "abreast_workspace"
"""Parameter of a condition that is built once for all workspaces."""


class WorkspacePath:
    """
    How the workspace of a table's rows is found.

    Attributes:
        name: The entity, for errors.
        hops: Foreign keys to follow until the table that holds the workspace column.
        workspace_column: The column that holds the workspace id.
    """

    def __init__(
        self,
        name: str,
        table: Table,
        fields: Mapping[str, Column[Any]],
        path: str,
        names_of: Callable[[Table], Mapping[str, Column[Any]]],
    ) -> None:
        """
        Resolve a path: a column, or foreign keys and a column, joined by dots.

        Args:
            names_of: Gives the columns of a further table on the way by the names they may have in the path.

        Raises:
            InvalidEntity: A part of it does not exist, or does not lead to one row.
        """
        self.name = name
        self.table = table
        self._written = path
        self.hops, self.workspace_column = self._path(fields, names_of)
        self._targets = [hop.target.table.alias(f"hop{place}") for place, hop in enumerate(self.hops)]

    def in_workspace(self, workspace_id: str) -> ColumnElement[bool]:
        """Build the condition that a row belongs to a workspace."""
        return self._in(bound(self.native_workspace(workspace_id), self.workspace_column))

    def in_given_workspace(self) -> ColumnElement[bool]:
        """Build the condition that a row belongs to the workspace that `WORKSPACE` gives, as a native value."""
        return self._in(bindparam(WORKSPACE, type_=self.workspace_column.type))

    def _in(self, here: ColumnElement[Any]) -> ColumnElement[bool]:
        last = self._last_table().c[self.workspace_column.key]
        return self._through(last == here, len(self.hops))

    def below(self, values: Mapping[Column[Any], Any]) -> Iterator[ColumnElement[bool]]:
        """
        Build the conditions that a row lies below a row of another table on the way to its workspace.

        Args:
            values: What the other row holds in the columns that such rows point to.
        """
        for reached, hop in enumerate(self.hops):
            if values.get(hop.target) is not None:
                condition: ColumnElement[bool] = self._source(reached) == bound(values[hop.target], hop.column)
                yield self._through(condition, reached)

    def _source(self, position: int) -> ColumnElement[Any]:
        column = self.hops[position].column
        return column if position == 0 else self._target(position - 1).c[column.key]

    def _through(self, condition: ColumnElement[bool], hops: int) -> ColumnElement[bool]:
        """Carry a condition on a table up the path down to the row's own table."""
        for position in range(hops - 1, -1, -1):
            target = self._target(position)
            reached = select(target.c[self.hops[position].target.key]).where(condition)
            condition = self._source(position).in_(reached)
        return condition

    def native_workspace(self, workspace_id: str) -> Any:
        """
        Turn a workspace id into what the product's column holds, a number or UUID for example.

        Raises:
            InvalidInput: It cannot be one, or is written in another way than the value: each way would be another log.
        """
        kind = self.workspace_column.type
        number = isinstance(kind, Integer) and workspace_id.isdecimal()
        native = from_json("workspace_id", int(workspace_id) if number else workspace_id, kind)
        written = self.workspace_text(native)
        if written != workspace_id:
            raise InvalidInput("workspace_id", f"{workspace_id!r} is another spelling", f"write it as {written!r}")
        return native

    def workspace_text(self, value: Any) -> str:
        """Write what the product's column holds as a workspace id."""
        return str(to_json("workspace_id", value, self.workspace_column.type))

    def workspace_by_parent(self, value: Any) -> Select[Any]:
        """
        Select the workspace that a first foreign key of this value leads to.

        The rows on the way are locked against moving and deletion, and against nothing else.
        """
        kind = self.hops[0].column.type
        reached: ColumnElement[Any] = cast("Any", value) if isinstance(value, ColumnElement) else literal(value, kind)
        conditions: list[ColumnElement[bool]] = []
        for position, hop in enumerate(self.hops):
            target = self._target(position)
            conditions.append(target.c[hop.target.key] == reached)
            last = position + 1 == len(self.hops)
            reached = target.c[self.workspace_column.key if last else self.hops[position + 1].column.key]
        return select(reached).where(*conditions).with_for_update(read=True, key_share=True)

    def _target(self, position: int) -> FromClause:
        """Give a hop's table under an alias of its own, as a path may pass one table twice."""
        return self._targets[position]

    def _last_table(self) -> FromClause:
        return self._targets[-1] if self._targets else self.table

    def _path(
        self, fields: Mapping[str, Column[Any]], names_of: Callable[[Table], Mapping[str, Column[Any]]]
    ) -> tuple[tuple[Hop, ...], Column[Any]]:
        *steps, last = self._written.split(".")
        columns = fields
        hops: list[Hop] = []
        for step in steps:
            hop = self._hop(columns, step)
            hops.append(hop)
            columns = names_of(hop.target.table)
        return tuple(hops), self._path_column(columns, last)

    def _hop(self, columns: Mapping[str, Column[Any]], step: str) -> Hop:
        column = self._path_column(columns, step)
        if len(column.foreign_keys) != 1:
            raise InvalidEntity(
                self.name,
                f"workspace={self._written!r}: {step!r} is no foreign key to one table",
                "name a column with one ForeignKey, or the workspace column itself",
            )
        key = next(iter(column.foreign_keys))
        composite = key.constraint is not None and len(key.constraint.elements) > 1
        if composite or not _is_unique(key.column):
            raise InvalidEntity(
                self.name,
                f"workspace={self._written!r}: {step!r} alone does not name one row",
                "give the table a workspace column of its own, or point to a column that is unique by itself",
            )
        return Hop(column, key.column)

    def _path_column(self, columns: Mapping[str, Column[Any]], name: str) -> Column[Any]:
        if name not in columns:
            raise InvalidEntity(
                self.name,
                f"workspace={self._written!r}: there is no column {name!r} among {', '.join(sorted(columns))}",
                'pass workspace="<column>" or a path of foreign keys like "move_id.workspace_id", named as the '
                "attributes of the mapped class, or as the table's columns",
            )
        return columns[name]


def _is_unique(column: Column[Any]) -> bool:
    table: Any = column.table
    keys = [
        constraint
        for constraint in table.constraints
        if isinstance(constraint, (PrimaryKeyConstraint, UniqueConstraint))
    ]
    indexes = [index for index in table.indexes if index.unique]
    return bool(column.unique) or any(list(key.columns) == [column] for key in (*keys, *indexes))
