"""Read the current rows a viewer may see, as they are in the transaction's snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, func, literal, or_, select

from abreast.errors import InvalidEntity, InvalidInput
from abreast.model.entity import EntityRows, Row
from abreast.operations.cells import Cells, Unreadable
from abreast.operations.rows import FIRST_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from abreast.sql.mapping import EntityTable
    from abreast.sql.tables import Tables

_KEYS_PER_STATEMENT = 200


@dataclass(frozen=True)
class Reader:
    """
    Reads the rows of one workspace for one viewer.

    Attributes:
        tables: None where abreast's are not there: rows without a version column then have version 0.
    """

    connection: Connection
    tables: Tables | None
    workspace_id: str
    viewer: object

    def listed(self, entity: EntityTable) -> EntityRows:
        """List an entity's rows in its order, at most its limit, and count them all; also those it cannot show."""
        conditions = self._conditions(entity, display=True)
        wanted, limit = select().where(*conditions).order_by(*_order(entity)), entity.entity.limit
        stored, unreadable = self._windows(entity, wanted, 0, limit + 1)
        rows = self._rows(entity, stored)
        if not unreadable and len(stored) <= limit:
            return EntityRows(entity.name, tuple(rows), len(stored))
        counted = select(func.count()).select_from(entity.table).where(*conditions)
        ((total,),) = _cells(self.connection, entity).fetch(counted)
        return EntityRows(entity.name, tuple(rows[:limit]), int(total))

    def named(self, entity: EntityTable, entity_ids: Sequence[str]) -> dict[str, Row]:
        """
        Read rows by id, also those that the entity's `where` keeps out of the list.

        There is no row of an id that does not fit the key's column: it was recorded when that had another type.
        """
        keys = [key for key in (_key(entity, entity_id) for entity_id in entity_ids) if key is not None]
        found: dict[str, Row] = {}
        for start in range(0, len(keys), _KEYS_PER_STATEMENT):
            stored = self._by_key(entity, keys[start : start + _KEYS_PER_STATEMENT])
            found.update((row.entity_id, row) for row in self._rows(entity, stored))
        return found

    def _by_key(self, entity: EntityTable, keys: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Read rows by key; those that cannot be read, or asked for, are left out."""
        wanted = select().where(*self._conditions(entity, display=False), _any_of(entity, keys))
        try:
            return self._stored(entity, wanted)
        except Unreadable:
            half = len(keys) // 2
        return self._by_key(entity, keys[:half]) + self._by_key(entity, keys[half:]) if half else []

    def _windows(
        self, entity: EntityTable, wanted: Select[Any], first: int, most: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Read rows; where one cannot be read, search for it by halves and count it."""
        try:
            return self._stored(entity, wanted.limit(most).offset(first or None)), 0
        except Unreadable:
            half = most // 2
        if not half:
            return [], 1
        (before, lost_before), (behind, lost_behind) = (
            self._windows(entity, wanted, start, size) for start, size in ((first, half), (first + half, most - half))
        )
        return before + behind, lost_before + lost_behind

    def _conditions(self, entity: EntityTable, *, display: bool) -> list[ColumnElement[bool]]:
        conditions = [entity.in_workspace(self.workspace_id)]
        columns = SimpleNamespace(**entity.fields)
        if entity.entity.visible is not None:
            conditions.append(entity.entity.visible(columns, self.viewer))
        if display and entity.entity.where is not None:
            conditions.append(entity.entity.where(columns, self.viewer))
        return conditions

    def _stored(self, entity: EntityTable, wanted: Select[Any]) -> list[dict[str, Any]]:
        version = () if entity.version_field is None else (entity.version_field,)
        return _cells(self.connection, entity).rows(wanted, entity.readable(), (*entity.key, *version))

    def _rows(self, entity: EntityTable, stored: list[dict[str, Any]]) -> list[Row]:
        """Show rows; one whose key makes no id, put there past the log, is left out."""
        shown = {entity_id: values for values in stored if (entity_id := _id(entity, values)) is not None}
        versions = self._versions(entity, shown)
        first = FIRST_VERSION if self.tables is not None or entity.version_field is not None else 0
        return [
            Row(entity.name, entity_id, _version(versions.get(entity_id), first), entity.exposed(values))
            for entity_id, values in shown.items()
        ]

    def _versions(self, entity: EntityTable, stored: dict[str, dict[str, Any]]) -> dict[str, Any]:
        if entity.version_field is not None:
            field = entity.version_field
            return {entity_id: values[field] for entity_id, values in stored.items()}
        found, ids = dict[str, Any](), list(stored)
        if self.tables is None:
            return found
        owned = self.tables.entity_version
        for start in range(0, len(ids), _KEYS_PER_STATEMENT):
            wanted = select(owned.c.entity_id, owned.c.version).where(
                owned.c.workspace_id == self.workspace_id,
                owned.c.entity_type == entity.name,
                owned.c.entity_id.in_(ids[start : start + _KEYS_PER_STATEMENT]),
            )
            found.update({row.entity_id: int(row.version) for row in self.connection.execute(wanted)})
        return found


def _version(found: Any, first: int) -> int:
    """Give a row's version; what is no number counts as none."""
    return found if isinstance(found, int) else first


def _key(entity: EntityTable, entity_id: str) -> dict[str, Any] | None:
    try:
        return entity.key_values(entity_id)
    except InvalidInput:
        return None


def _id(entity: EntityTable, values: dict[str, Any]) -> str | None:
    try:
        return entity.entity_id(values)
    except InvalidInput:
        return None


def has_rows(connection: Connection, entity: EntityTable, workspace_id: str) -> bool:
    """Say whether a workspace has at least one row of an entity."""
    wanted = select(literal(1)).select_from(entity.table).where(entity.in_workspace(workspace_id)).limit(1)
    return bool(_cells(connection, entity).fetch(wanted))


def _cells(connection: Connection, entity: EntityTable) -> Cells:
    return Cells(connection, entity, lambda reason, _constraint: _unread(entity, reason))


def _unread(entity: EntityTable, reason: str) -> InvalidEntity:
    """Tell of a read that the database refuses: nothing of it but its conditions depends on what is in the rows."""
    problem = f"the database refuses to read its rows ({reason})"
    return InvalidEntity(entity.name, problem, "check its where= and visible=: they fail on what a row holds")


def _order(entity: EntityTable) -> list[ColumnElement[Any]]:
    named = [
        entity.fields[name.lstrip("-")].desc() if name.startswith("-") else entity.fields[name].asc()
        for name in entity.entity.order_by
    ]
    return [*named, *(entity.fields[name] for name in entity.key)]


def _any_of(entity: EntityTable, keys: Sequence[dict[str, Any]]) -> ColumnElement[bool]:
    if len(entity.key) == 1:
        (name,) = entity.key
        return entity.fields[name].in_([key[name] for key in keys])
    return or_(*(and_(*entity.key_condition(key)) for key in keys))
