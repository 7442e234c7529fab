"""Check what a request wants against the rows as they are, before anything is written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from abreast.errors import EntityNotFound, InvalidInput, StaleWrite, VersionRequired
from abreast.operations.rows import FIRST_VERSION, MOST_CHANGES_TOLD, LiveRows, StoredRow
from abreast.sql.values import LARGEST_INTEGER, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlalchemy import Connection

    from abreast.model.write import Change, WriteRequest
    from abreast.sql.mapping import Catalog, EntityTable
    from abreast.sql.tables import Tables


@dataclass(frozen=True)
class WriteContext:
    """
    What a write needs besides its request.

    Attributes:
        ids: Time-ordered ids for events.
        now: UTC microseconds.
        secret: Key of payload hashes.
        new_epoch: Epoch of a log that this write begins.
    """

    tables: Tables
    catalog: Catalog
    ids: Iterator[str]
    now: int
    secret: bytes
    new_epoch: str


@dataclass
class Planned:
    """A change that passed its checks: what was there, what will be, and how to get there."""

    change: Change
    entity: EntityTable
    rows: LiveRows
    key: Mapping[str, Any]
    before: StoredRow | None
    after: StoredRow | None
    changed: Mapping[str, Any]
    event_ids: tuple[str, ...] = ()

    @property
    def moves(self) -> bool:
        """Whether the row changes workspace."""
        return self.change.workspace_id != self.change.to_workspace

    @property
    def version(self) -> int:
        """The row's version afterwards; a deletion raises it too."""
        if self.after is not None:
            return self.after.version
        return FIRST_VERSION if self.before is None else self.before.version + 1


@dataclass
class Plan:
    """The checks of one request; later changes see what earlier ones will have done."""

    connection: Connection
    context: WriteContext
    _moved: list[EntityTable] = field(default_factory=list["EntityTable"])
    _ahead: dict[tuple[str, str, str], StoredRow | None] = field(
        default_factory=dict[tuple[str, str, str], StoredRow | None]
    )

    def of(self, request: WriteRequest) -> list[Planned]:
        """Check every change in order."""
        return [self._with_ids(_CHECKS[change.operation](self, change)) for change in request.changes]

    def insert(self, change: Change) -> Planned:
        """Check an insert: its fields, and that it lands in the workspace it names."""
        entity, rows = self._of(change)
        fields = dict(change.fields)
        own = entity.own_workspace_field
        if own is not None:
            fields.setdefault(own, entity.native_workspace(change.workspace_id))
        native = entity.native(fields)
        # A key that is given as None is one that the database makes.
        native = {name: value for name, value in native.items() if value is not None or name not in entity.key}
        self._check_workspace(entity, native, change.to_workspace)
        version = FIRST_VERSION
        entity_id = ""
        if all(native.get(name) is not None for name in entity.key):
            entity_id = entity.entity_id(native)
            version = 1 + self._last_version(rows, entity_id)
        after = StoredRow(entity_id, native, version)
        key = {name: native.get(name) for name in entity.key}
        return Planned(change, entity, rows, key, None, after, native)

    def update(self, change: Change) -> Planned:
        """Check an update: the row's version, and which fields get another value."""
        entity, rows = self._of(change)
        key = entity.key_values(change.key)
        native = entity.native(change.fields)
        before = self._expected(rows, entity, key, change)
        changed = {name: value for name, value in native.items() if _differs(entity, name, value, before)}
        values = {**before.values, **changed}
        moves = change.to_workspace != change.workspace_id
        if changed or moves:
            since = None if moves else before.values
            self._check_workspace(entity, values, change.to_workspace, since=since)
        last = before.version
        if moves:
            self._moved.append(entity)
            last = max(last, replace(rows, workspace_id=change.to_workspace).last_version(before.entity_id))
        after = StoredRow(before.entity_id, values, last + 1) if changed else before
        return Planned(change, entity, rows, key, before, after, changed)

    def delete(self, change: Change) -> Planned:
        """Check a delete: the row's version."""
        entity, rows = self._of(change)
        key = entity.key_values(change.key)
        before = self._expected(rows, entity, key, change)
        return Planned(change, entity, rows, key, before, None, {})

    def _of(self, change: Change) -> tuple[EntityTable, LiveRows]:
        entity = self.context.catalog.find(change.entity_type)
        # What an insert names as its parent is looked up among the rows this block has moved.
        hops = entity.hops[1:] if change.operation == "insert" else entity.hops
        if any(hop.target.table is moved.table for hop in hops for moved in self._moved):
            raise InvalidInput(
                f"{entity.name}",
                "is written after a row above it was moved",
                "write it before, or in a block of its own",
            )
        return entity, LiveRows(self.connection, self.context.tables, entity, change.workspace_id)

    def _with_ids(self, planned: Planned) -> Planned:
        if planned.before is not planned.after:
            planned.event_ids = tuple(next(self.context.ids) for _ in range(2 if planned.moves else 1))
        known = planned.before or planned.after
        if known is not None and known.entity_id:
            change, name = planned.change, planned.entity.name
            self._ahead[change.workspace_id, name, known.entity_id] = None
            self._ahead[change.to_workspace, name, known.entity_id] = planned.after
        return planned

    def _current(self, rows: LiveRows, entity: EntityTable, key: Mapping[str, Any], change: Change) -> StoredRow | None:
        place = (rows.workspace_id, entity.name, entity.entity_id(key))
        if place in self._ahead:
            return self._ahead[place]
        moves = change.to_workspace != change.workspace_id
        whole = moves or change.operation == "delete"
        extra = entity.fields.keys() - entity.secrets - set(entity.entity.hidden) if moves else ()
        return rows.locked(key, extra=(*change.fields, *extra), whole=whole)

    def _last_version(self, rows: LiveRows, entity_id: str) -> int:
        if (rows.workspace_id, rows.entity.name, entity_id) in self._ahead:
            raise InvalidInput(
                f"{rows.entity.name} {entity_id!r}",
                "is written and then inserted in one block",
                "update it instead",
            )
        return rows.last_version(entity_id)

    def _expected(self, rows: LiveRows, entity: EntityTable, key: Mapping[str, Any], change: Change) -> StoredRow:
        entity_id = entity.entity_id(key)
        assert change.expected_version is not None
        current = self._current(rows, entity, key, change)
        if current is None:
            raise EntityNotFound(rows.workspace_id, entity.name, entity_id)
        if change.expected_version not in ("any", current.version) and not self._mergeable(rows, current, change):
            changes = rows.changes_since(entity_id, int(change.expected_version), limit=MOST_CHANGES_TOLD)
            raise StaleWrite(entity.name, entity_id, change.expected_version, current.version, changes)
        return current

    def _mergeable(self, rows: LiveRows, current: StoredRow, change: Change) -> bool:
        """Say whether a patch's fields are untouched since: every change since is known and elsewhere."""
        expected = change.expected_version
        if change.merge != "fields" or not isinstance(expected, int) or not 0 <= expected < current.version:
            return False
        missed = current.version - expected
        if missed > MOST_CHANGES_TOLD or not rows.entity.secrets.isdisjoint(change.fields):
            return False
        changes = rows.changes_since(current.entity_id, expected, limit=missed + 1)
        touched = {name for event in changes for name in event.changed_fields}
        updates_only = all(event.operation == "update" for event in changes)
        return len(changes) == missed and updates_only and touched.isdisjoint(change.fields)

    def _check_workspace(
        self,
        entity: EntityTable,
        values: Mapping[str, Any],
        wanted: str,
        since: Mapping[str, Any] | None = None,
    ) -> None:
        name = entity.own_workspace_field or entity.names[entity.hops[0].column]
        value = values.get(name)
        if value is None:
            raise InvalidInput(f"{entity.name}.{name}", "is missing, and a row's workspace is found by it", "pass it")
        if since is not None and same(entity.json_value(name, value), entity.json_value(name, since[name])):
            return
        found = value if entity.own_workspace_field else self._parents_workspace(entity, value)
        if found is not None and entity.workspace_text(found) == wanted:
            return
        if not entity.own_workspace_field:
            told = str(value) if name in entity.entity.expose else "(value not shown)"
            raise EntityNotFound(wanted, f"{entity.name}.{name}", told)
        raise InvalidInput(
            f"{entity.name}.{name}",
            "does not belong to this workspace",
            "name the row's workspace: by to_workspace= for an update, by workspace_id= for an insert",
        )

    def _parents_workspace(self, entity: EntityTable, value: Any) -> Any:
        ahead = self._parent_ahead(entity, value)
        if ahead is not None:
            return entity.native_workspace(ahead)
        rows = LiveRows(self.connection, self.context.tables, entity, "")
        return rows.value(entity.workspace_by_parent(value))

    def _parent_ahead(self, entity: EntityTable, value: Any) -> str | None:
        """Find a parent that this same request inserts."""
        for (workspace_id, name, _), row in self._ahead.items():
            parent = self.context.catalog.by_name[name]
            target = entity.hops[0].target
            known = row is not None and parent.table is target.table and target in parent.names
            if row is not None and known and row.values.get(parent.names[target]) == value:
                return workspace_id
        return None


_CHECKS: dict[str, Callable[[Plan, Change], Planned]] = {
    "insert": Plan.insert,
    "update": Plan.update,
    "delete": Plan.delete,
}


def check(catalog: Catalog, change: Change) -> None:
    """
    Check what can be checked without the database.

    Raises:
        UnknownEntity: The log was not given this entity.
        UnknownField: The entity has no such field.
        InvalidInput: A value does not fit its column, the key not the entity, or key or version would change.
        VersionRequired: A change of a row names no expected version.
    """
    entity = catalog.find(change.entity_type)
    native = entity.native(change.fields)
    if entity.version_field is not None and entity.version_field in change.fields:
        raise _owned_field(entity, entity.version_field)
    if change.operation == "insert":
        return
    key = entity.key_values(change.key)
    for name in entity.key:
        if name in native and not same(entity.json_value(name, native[name]), entity.json_value(name, key[name])):
            raise _owned_field(entity, name)
    entity_id = entity.entity_id(key)
    expected = change.expected_version
    if expected is None:
        raise VersionRequired(entity.name, entity_id)
    if expected != "any" and (type(expected) is not int or not -LARGEST_INTEGER <= expected <= LARGEST_INTEGER):
        raise InvalidInput("expected_version", 'is neither a whole number nor "any"', "pass the version you last read")
    if change.merge not in (None, "fields"):
        raise InvalidInput("merge", "is unknown", 'use merge="fields" or leave it out')


def _owned_field(entity: EntityTable, name: str) -> InvalidInput:
    return InvalidInput(
        f"{entity.name}.{name}",
        "cannot be set by a write",
        "leave it out: key and version of a row are not changed",
    )


def _differs(entity: EntityTable, name: str, value: Any, before: StoredRow) -> bool:
    """Say whether a field gets another value; of a row that this block inserts, what it did not give is not known."""
    if name not in before.values:
        return True
    return not same(entity.json_value(name, value), entity.json_value(name, before.values[name]))
