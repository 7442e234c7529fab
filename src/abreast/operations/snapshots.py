"""Read the current rows a viewer may see, as they are in the transaction's snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, func, literal, or_, select

from abreast.errors import InvalidEntity, InvalidInput
from abreast.model.entity import EntityRows, Row
from abreast.operations.cells import Cells, Unreadable
from abreast.operations.rows import FIRST_VERSION
from abreast.sql.paths import WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from abreast.sql.mapping import EntityTable
    from abreast.sql.tables import Tables

_KEYS_PER_STATEMENT = 200


@dataclass(frozen=True)
class _Listing:
    """
    The statements that list an entity's rows, of the workspace they are given.

    Attributes:
        bare: Lists one row more than the entity's limit, still without columns.
        whole: The same with columns.
        count: Counts them.
    """

    bare: Select[Any]
    whole: Select[Any]
    count: Select[Any]

    def where(self, conditions: Sequence[ColumnElement[bool]]) -> _Listing:
        """Give the statements with further conditions."""
        return _Listing(*(part.where(*conditions) for part in (self.bare, self.whole, self.count)))


@lru_cache(maxsize=256)
def _listing(entity: EntityTable) -> _Listing:
    """Build the statements of an entity once: building them takes longer than running them."""
    here = entity.in_given_workspace()
    bare = select().where(here).order_by(*_order(entity)).limit(entity.entity.limit + 1)
    whole = bare.add_columns(*entity.readable().values())
    return _Listing(bare, whole, select(func.count()).select_from(entity.table).where(here))


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
        conditions, limit = self._conditions(entity, display=True), entity.entity.limit
        wanted = _listing(entity) if not conditions else _listing(entity).where(conditions)
        stored, unreadable = self._windows(entity, wanted.bare, 0, limit + 1, wanted.whole)
        rows = self._rows(entity, stored)
        if not unreadable and len(stored) <= limit:
            return EntityRows(entity.name, tuple(rows), len(stored))
        ((total,),) = self._cells(entity).fetch(wanted.count)
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

    def _by_key(self, entity: EntityTable, keys: list[dict[str, Any]]) -> Sequence[Sequence[Any]]:
        """Read rows by key; those that cannot be read, or asked for, are left out."""
        conditions = self._conditions(entity, display=False)
        wanted = select().where(entity.in_given_workspace(), *conditions, _any_of(entity, keys))
        try:
            return self._stored(entity, wanted)
        except Unreadable:
            half = len(keys) // 2
        return [*self._by_key(entity, keys[:half]), *self._by_key(entity, keys[half:])] if half else []

    def _windows(
        self, entity: EntityTable, wanted: Select[Any], first: int, most: int, whole: Select[Any] | None = None
    ) -> tuple[Sequence[Sequence[Any]], int]:
        """
        Read rows; where one cannot be read, search for it by halves and count it.

        Args:
            whole: The SELECT of this window with its columns, where there is one already; `wanted` then is the one
                without them.
        """
        try:
            return self._stored(entity, wanted.limit(most).offset(first or None) if whole is None else wanted, whole), 0
        except Unreadable:
            half = most // 2
        if not half:
            return [], 1
        (before, lost_before), (behind, lost_behind) = (
            self._windows(entity, wanted, start, size) for start, size in ((first, half), (first + half, most - half))
        )
        return [*before, *behind], lost_before + lost_behind

    def _conditions(self, entity: EntityTable, *, display: bool) -> list[ColumnElement[bool]]:
        """Build what the application says of the rows of a viewer."""
        conditions: list[ColumnElement[bool]] = []
        columns = SimpleNamespace(**entity.fields)
        if entity.entity.visible is not None:
            conditions.append(entity.entity.visible(columns, self.viewer))
        if display and entity.entity.where is not None:
            conditions.append(entity.entity.where(columns, self.viewer))
        return conditions

    def _stored(
        self, entity: EntityTable, wanted: Select[Any], whole: Select[Any] | None = None
    ) -> Sequence[Sequence[Any]]:
        version = () if entity.version_field is None else (entity.version_field,)
        return self._cells(entity).tuples(wanted, entity.readable(), (*entity.key, *version), whole)

    def _cells(self, entity: EntityTable) -> Cells:
        return _cells(self.connection, entity, self.workspace_id)

    def _rows(self, entity: EntityTable, stored: Sequence[Sequence[Any]]) -> list[Row]:
        """
        Show rows; one whose key makes no id, put there past the log, is left out.

        They are converted column by column: most columns need one look, where each value would take one.
        """
        if not stored:
            return []
        columns = dict(zip(entity.readable(), zip(*stored, strict=True), strict=True))
        ids = entity.entity_ids(columns)
        told = zip(ids, self._versions(entity, ids, columns), entity.all_exposed(columns, len(ids)), strict=True)
        shown = {
            entity_id: Row(entity.name, entity_id, version, values)
            for entity_id, version, values in told
            if entity_id is not None
        }
        return list(shown.values())

    def _versions(
        self, entity: EntityTable, ids: Sequence[str | None], columns: Mapping[str, Sequence[Any]]
    ) -> list[int]:
        """Give the versions of rows; what is no number counts as none."""
        first = FIRST_VERSION if self.tables is not None or entity.version_field is not None else 0
        if entity.version_field is not None:
            return [found if isinstance(found, int) else first for found in columns[entity.version_field]]
        kept = self._kept_versions(entity, [entity_id for entity_id in ids if entity_id is not None])
        return [first if entity_id is None else kept.get(entity_id, first) for entity_id in ids]

    def _kept_versions(self, entity: EntityTable, ids: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
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


def _key(entity: EntityTable, entity_id: str) -> dict[str, Any] | None:
    try:
        return entity.key_values(entity_id)
    except InvalidInput:
        return None


def has_rows(connection: Connection, entity: EntityTable, workspace_id: str) -> bool:
    """Say whether a workspace has at least one row of an entity."""
    wanted = select(literal(1)).select_from(entity.table).where(entity.in_given_workspace()).limit(1)
    return bool(_cells(connection, entity, workspace_id).fetch(wanted))


def _cells(connection: Connection, entity: EntityTable, workspace_id: str) -> Cells:
    here = {WORKSPACE: entity.native_workspace(workspace_id)}
    return Cells(connection, entity, lambda reason, _constraint: _unread(entity, reason), here)


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
