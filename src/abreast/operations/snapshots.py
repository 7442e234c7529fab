"""Read the current rows a viewer may see, as they are in the transaction's snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Text, and_, cast, func, or_, select
from sqlalchemy.exc import DBAPIError

from abreast.model.entity import EntityRows, Row
from abreast.operations.rows import FIRST_VERSION, told_missing
from abreast.sql.dialects import dialect_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Result, Select

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
        """List an entity's rows in its order, at most its limit, and count them all."""
        conditions = self._conditions(entity, display=True)
        wanted = select().where(*conditions).order_by(*_order(entity))
        rows = self._rows(entity, wanted.limit(entity.entity.limit + 1))
        if len(rows) <= entity.entity.limit:
            return EntityRows(entity.name, tuple(rows), len(rows))
        counted = select(func.count()).select_from(entity.table).where(*conditions)
        total = _execute(self.connection, entity, counted).scalar_one()
        return EntityRows(entity.name, tuple(rows[: entity.entity.limit]), int(total))

    def named(self, entity: EntityTable, entity_ids: Sequence[str]) -> dict[str, Row]:
        """Read rows by id, also those that the entity's `where` keeps out of the list."""
        found: dict[str, Row] = {}
        for start in range(0, len(entity_ids), _KEYS_PER_STATEMENT):
            keys = [entity.key_values(entity_id) for entity_id in entity_ids[start : start + _KEYS_PER_STATEMENT]]
            wanted = select().where(*self._conditions(entity, display=False), _any_of(entity, keys))
            found.update((row.entity_id, row) for row in self._rows(entity, wanted))
        return found

    def _conditions(self, entity: EntityTable, *, display: bool) -> list[ColumnElement[bool]]:
        conditions = [entity.in_workspace(self.workspace_id)]
        columns = SimpleNamespace(**entity.fields)
        if entity.entity.visible is not None:
            conditions.append(entity.entity.visible(columns, self.viewer))
        if display and entity.entity.where is not None:
            conditions.append(entity.entity.where(columns, self.viewer))
        return conditions

    def _rows(self, entity: EntityTable, wanted: Select[Any]) -> list[Row]:
        stored = self._stored(entity, wanted)
        ids = [entity.entity_id(values) for values in stored]
        versions = self._versions(entity, stored, ids)
        first = FIRST_VERSION if self.tables is not None or entity.version_field is not None else 0
        return [
            Row(entity.name, entity_id, _version(versions.get(entity_id), first), entity.exposed(values))
            for entity_id, values in zip(ids, stored, strict=True)
        ]

    def _stored(self, entity: EntityTable, wanted: Select[Any]) -> list[dict[str, Any]]:
        """Read native values; where the driver cannot read a cell, put there past the log, all of them as text."""
        columns = entity.readable()
        try:
            rows = _execute(self.connection, entity, wanted.add_columns(*columns.values())).all()
        except (LookupError, ValueError, TypeError):
            rows = None
        if rows is None:
            shown = [
                column if name in entity.key or name == entity.version_field else cast(column, Text)
                for name, column in columns.items()
            ]
            rows = _execute(self.connection, entity, wanted.add_columns(*shown)).all()
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def _versions(self, entity: EntityTable, stored: list[dict[str, Any]], ids: list[str]) -> dict[str, int | None]:
        if entity.version_field is not None:
            field = entity.version_field
            return {entity_id: values[field] for entity_id, values in zip(ids, stored, strict=True)}
        found = dict[str, int | None]()
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


def _version(found: int | None, first: int) -> int:
    return first if found is None else found


def has_rows(connection: Connection, entity: EntityTable, workspace_id: str) -> bool:
    """Say whether a workspace has at least one row of an entity."""
    wanted = select(*(entity.fields[name] for name in entity.key)).where(entity.in_workspace(workspace_id)).limit(1)
    return _execute(connection, entity, wanted).first() is not None


def _execute(connection: Connection, entity: EntityTable, wanted: Select[Any]) -> Result[Any]:
    """
    Read product rows.

    Raises:
        TableMissing: The table is not there.
    """
    try:
        return connection.execute(wanted)
    except DBAPIError as error:
        missing = told_missing(entity, error, dialect_of(connection))
        if missing is None:
            raise
    raise missing


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
