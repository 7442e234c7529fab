"""Read and change product rows under their version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from sqlalchemy import and_, delete, func, insert, literal_column, select, update

from abreast.errors import Conflict, EntityNotFound, InvalidInput, StaleWrite, WriteRefused
from abreast.operations.cells import Cells, Unreadable
from abreast.operations.record import event_of, select_events, told
from abreast.sql.dialects import dialect_of, insert_missing
from abreast.sql.paths import bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Column, ColumnElement, Connection, Executable, Select

    from abreast.model.event import Event
    from abreast.sql.mapping import EntityTable
    from abreast.sql.tables import Tables

FIRST_VERSION = 1
"""Version of a row that was just inserted, and of one that abreast has never seen changed."""

MOST_CHANGES_TOLD = 20

_KEPT, _LATEST = "(kept version)", "(latest version)"
"""Read beside a row's fields, whose names these cannot be."""


@dataclass(frozen=True)
class StoredRow:
    """
    A row as it is in the database, or as it will be once the plan has been applied.

    Attributes:
        values: Native values by field name.
    """

    entity_id: str
    values: Mapping[str, Any]
    version: int


@dataclass(frozen=True)
class LiveRows:
    """
    The rows of one open connection.

    Attributes:
        workspace_id: Only rows of this workspace are found.
    """

    connection: Connection
    tables: Tables
    entity: EntityTable
    workspace_id: str

    def locked(self, key: Mapping[str, Any], *, extra: Iterable[str] = (), whole: bool = False) -> StoredRow | None:
        """
        Read a row and keep others from changing it until the transaction ends.

        Args:
            extra: Fields to be read besides the exposed ones.
            whole: Keep others from referring to it too, because it is deleted or moved.
        """
        condition = and_(*self.entity.key_condition(key))
        if not self._keeps_path(condition):
            return None
        named = self.entity.entity_id(key)
        found = self.locked_where(condition, extra=extra, whole=whole)
        # A column that does not tell case or padding apart finds the row by other names than its own.
        return next((row for row in found if row.entity_id == named), None)

    def locked_where(
        self, condition: ColumnElement[bool], *, extra: Iterable[str] = (), whole: bool = False
    ) -> list[StoredRow]:
        """
        Read the rows a condition holds for, and keep others from changing them; in the order of their keys.

        A row is left out whose own workspace is another one byte for byte, or whose key makes no id.
        """
        columns = self.entity.readable(extra)
        wanted = (
            select()
            .where(condition, self.entity.in_workspace(self.workspace_id))
            .order_by(*(self.entity.fields[name] for name in self.entity.key))
            # Without `whole` it waits for nobody who only refers to the row, and nobody who refers waits for it.
            .with_for_update(of=list(self.entity.table.primary_key), key_share=not whole)
        )
        found = (self._stored(values) for values in self._read(wanted, columns))
        return [row for row in found if row is not None]

    def holds(self, key: Mapping[str, Any], columns: Iterable[Column[Any]]) -> dict[Column[Any], Any]:
        """Give what a row holds in some columns, hidden ones too; nothing where it is not there."""
        wanted = list(columns)
        row = next(iter(self._cells.fetch(select(*wanted).where(*self._of_row(key)))), None)
        return {} if row is None else dict(zip(wanted, row, strict=True))

    def _read(
        self, wanted: Select[Any], columns: Mapping[str, ColumnElement[Any]], besides: tuple[str, ...] = ()
    ) -> list[dict[str, Any]]:
        entity = self.entity
        own = entity.own_workspace_field or entity.names[entity.hops[0].column]
        needed = (*entity.key, own, *besides, *(() if entity.version_field is None else (entity.version_field,)))
        try:
            return self._cells.rows(wanted, columns, needed)
        except Unreadable as error:
            reason = error.reason
        raise self._cells.refused(reason, None)

    def _stored(self, values: dict[str, Any]) -> StoredRow | None:
        own = self.entity.own_workspace_field
        if own is not None and self.entity.workspace_text(values[own]) != self.workspace_id:
            return None
        try:
            entity_id = self.entity.entity_id(values)
        except InvalidInput:
            return None
        return StoredRow(entity_id, values, self._version_of(entity_id, values))

    def _keeps_path(self, condition: ColumnElement[bool]) -> bool:
        """
        Keep the rows that a row's workspace is found by from moving; they may change in every other way.

        Returns:
            Whether they lead to this workspace, byte for byte.
        """
        if not self.entity.hops:
            return True
        here = self.entity.in_workspace(self.workspace_id)
        parent = select(self.entity.hops[0].column).where(condition, here).scalar_subquery()
        found = self._cells.fetch(self.entity.workspace_by_parent(parent))
        return any(self.entity.workspace_text(workspace) == self.workspace_id for (workspace,) in found)

    def last_version(self, entity_id: str) -> int:
        """Give the version a row had last, deleted or not; 0 for a row that never was."""
        kept = self._kept_version(entity_id) or 0
        if self.entity.version_field is None:
            return kept
        latest = self.connection.execute(self._latest_version(entity_id)).scalar()
        return max(kept, int(latest or 0))

    def _latest_version(self, entity_id: str) -> Select[Any]:
        """Select the highest version that a row's events tell of."""
        event = self.tables.workspace_event
        return select(func.max(event.c.version)).where(
            event.c.workspace_id == self.workspace_id,
            event.c.entity_type == self.entity.name,
            event.c.entity_id == entity_id,
        )

    def insert(self, values: Mapping[str, Any], version: int) -> StoredRow:
        """
        Insert a row; what the database fills in is read back.

        Its version is above that of everything recorded of a row of its id, also of what was recorded while the
        insert waited for that row.

        Raises:
            Conflict: The caller's transaction is older than the deletion of a row of this id.
            InvalidInput: The row's workspace is stored in another way than it is named.
        """
        stored = dict(values)
        if self.entity.version_field is not None:
            stored[self.entity.version_field] = version
        columns = {self.entity.fields[name]: value for name, value in stored.items()}
        result = self.execute(insert(self.entity.table).values(columns))
        key = self._inserted_key(stored, result.inserted_primary_key)
        entity_id = self.entity.entity_id(key)
        if self._sees_old_state():
            # A server whose snapshot hides a version that was stored later refuses to store one.
            insert_missing(self.connection, self.tables.entity_version, {**self._owner(entity_id), "version": 0})
        row = self._inserted(key)
        given, version = version, max(version, row.version + 1)
        if version != given:
            self._set_version(key, version)
        self.keep_version(row.entity_id, version)
        return StoredRow(row.entity_id, row.values, version)

    def _inserted(self, key: Mapping[str, Any]) -> StoredRow:
        """
        Read a row back that was just inserted, with the highest version recorded of its id.

        Nobody else can record one by now: the row is ours.
        """
        entity, columns = self.entity, self.entity.readable()
        entity_id = entity.entity_id(key)
        selected = {_KEPT: self._last_kept(entity_id), _LATEST: self._latest_version(entity_id)}
        recorded = {name: version.scalar_subquery() for name, version in selected.items()}
        found = self._read(select().where(*self._of_row(key)), {**columns, **recorded}, tuple(recorded))
        if not found:
            raise WriteRefused(entity.name, "the row was stored under another key or workspace", None)
        if len(found) > 1:
            raise Conflict(
                f"{entity.name} {entity_id!r}",
                "the row as this transaction sees it",
                "its deletion by a later one",
                "roll the transaction back and run it again",
            )
        (values,) = found
        self._check_own_workspace(values)
        versions = [int(values.pop(name) or 0) for name in recorded]
        if self._sees_old_state() or entity.entity_id(values) != entity_id:
            versions.append(self.last_version(entity.entity_id(values)))
        return StoredRow(entity.entity_id(values), values, max(versions))

    def _check_own_workspace(self, values: Mapping[str, Any]) -> None:
        own = self.entity.own_workspace_field
        written = self.workspace_id if own is None else self.entity.workspace_text(values[own])
        if written != self.workspace_id:
            raise InvalidInput("workspace_id", f"is stored as {written!r}", "name it as it is stored")

    def _sees_old_state(self) -> bool:
        """Say whether a statement may see less than was committed before it; in a transaction of ours none does."""
        if dialect_of(self.connection).one_writer:
            return False
        level = self.connection.get_execution_options().get("isolation_level")
        return (level or self.connection.get_isolation_level()) not in ("READ COMMITTED", "READ UNCOMMITTED")

    def update(self, row: StoredRow, key: Mapping[str, Any], changed: Mapping[str, Any], version: int) -> None:
        """
        Change fields of a row that still has the version of `row`, and give it another.

        Raises:
            StaleWrite: It has another.
        """
        columns = {self.entity.fields[name]: value for name, value in changed.items()}
        if self.entity.version_field is not None:
            columns[self.entity.fields[self.entity.version_field]] = version
        changing = update(self.entity.table).where(*self._of_row(key), *self._unchanged(row))
        if columns and self.execute(changing.values(columns)).rowcount != 1:
            self._stale(row, key)
        self.keep_version(row.entity_id, version)

    def delete(self, row: StoredRow, key: Mapping[str, Any]) -> None:
        """
        Delete a row that still has the version of `row`.

        Raises:
            StaleWrite: It has another.
        """
        conditions = (*self._of_row(key), *self._unchanged(row))
        if self.execute(delete(self.entity.table).where(*conditions)).rowcount != 1:
            self._stale(row, key)
        self._keep(row.entity_id, row.version + 1)

    def changes_since(self, entity_id: str, version: int, *, limit: int) -> list[Event]:
        """Give a row's events after a version, oldest first."""
        event = self.tables.workspace_event
        wanted = (
            select_events(self.tables)
            .where(
                event.c.workspace_id == self.workspace_id,
                event.c.entity_type == self.entity.name,
                event.c.entity_id == entity_id,
                event.c.version > version,
            )
            .order_by(event.c.version, event.c.event_id)
            .limit(limit)
        )
        return [told(event_of(row), self.entity) for row in self.connection.execute(wanted)]

    def execute(self, statement: Executable) -> Any:
        """
        Execute a statement over product rows.

        Raises:
            WriteRefused: The database refuses the values; its own text, which can hold them, is left out.
            TableMissing: The table is not there.
        """
        return self._cells.execute(statement)

    def value(self, statement: Executable) -> Any:
        """Execute a statement and give the first row's only value, or None; raises as `execute`."""
        return next((value for (value,) in self._cells.fetch(statement)), None)

    @property
    def _cells(self) -> Cells:
        return Cells(self.connection, self.entity, self._refused)

    def _refused(self, reason: str, constraint: str | None) -> WriteRefused:
        return WriteRefused(self.entity.name, reason, constraint)

    def _set_version(self, key: Mapping[str, Any], version: int) -> None:
        if self.entity.version_field is not None:
            columns = {self.entity.fields[self.entity.version_field]: version}
            self.execute(update(self.entity.table).where(*self._of_row(key)).values(columns))

    def _of_row(self, key: Mapping[str, Any]) -> list[ColumnElement[bool]]:
        """Build the condition of one row; a key without the workspace may stand in several of them."""
        conditions = self.entity.key_condition(key)
        if self.entity.own_workspace_field is not None or not self.entity.key_is_primary:
            conditions.append(self.entity.in_workspace(self.workspace_id))
        return conditions

    def _stale(self, row: StoredRow, key: Mapping[str, Any]) -> NoReturn:
        if self.locked(key) is None:
            raise EntityNotFound(self.workspace_id, self.entity.name, row.entity_id)
        changes = self.changes_since(row.entity_id, row.version, limit=MOST_CHANGES_TOLD)
        raise StaleWrite(self.entity.name, row.entity_id, row.version, "another", changes)

    def _inserted_key(self, stored: Mapping[str, Any], inserted: Any) -> dict[str, Any]:
        generated = dict(zip(self.entity.table.primary_key, inserted or (), strict=False))
        return {
            name: stored[name] if name in stored else generated[self.entity.fields[name]] for name in self.entity.key
        }

    def _version_of(self, entity_id: str, values: Mapping[str, Any]) -> int:
        field = self.entity.version_field
        version = self._kept_version(entity_id) if field is None else values[field]
        if version is None:
            return FIRST_VERSION
        try:
            return int(version)
        except (ValueError, TypeError):
            pass
        raise WriteRefused(self.entity.name, "its version column holds something that is no number", None)

    def _kept_version(self, entity_id: str) -> int | None:
        """
        Read the version abreast keeps of a row, and lock it.

        A statement of its own after the row was locked: one that waited for the row saw what was before the wait.
        """
        wanted = select(self.tables.entity_version.c.version).where(*self._owned(entity_id)).with_for_update()
        return self.connection.execute(wanted).scalar()

    def _unchanged(self, row: StoredRow) -> list[ColumnElement[bool]]:
        """Build the condition that a row still has its version; what abreast keeps is under the row's lock."""
        if self.entity.version_field is None:
            return []
        column = self.entity.fields[self.entity.version_field]
        first = literal_column(str(FIRST_VERSION), column.type)
        return [(func.coalesce(column, first) if column.nullable else column) == bound(row.version, column)]

    def _owned(self, entity_id: str) -> list[ColumnElement[bool]]:
        owned = self.tables.entity_version
        return [
            owned.c.workspace_id == self.workspace_id,
            owned.c.entity_type == self.entity.name,
            owned.c.entity_id == entity_id,
        ]

    def keep_version(self, entity_id: str, version: int) -> None:
        """Raise the version, where abreast keeps it; the row itself is locked, so nobody is between."""
        if self.entity.version_field is None:
            self._keep(entity_id, version)

    def _keep(self, entity_id: str, version: int) -> None:
        """Store a version; of a deleted row always, so that the next row of this id goes on from there."""
        owned = self.tables.entity_version
        raised = update(owned).where(*self._owned(entity_id), owned.c.version < version).values(version=version)
        if self.connection.execute(raised).rowcount == 0:
            insert_missing(self.connection, owned, {**self._owner(entity_id), "version": version})

    def _last_kept(self, entity_id: str) -> Select[Any]:
        """Select the version abreast keeps of a row, without locking it."""
        return select(self.tables.entity_version.c.version).where(*self._owned(entity_id))

    def _owner(self, entity_id: str) -> dict[str, Any]:
        return {"workspace_id": self.workspace_id, "entity_type": self.entity.name, "entity_id": entity_id}
