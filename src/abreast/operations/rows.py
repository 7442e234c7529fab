"""Read and change product rows under their version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from sqlalchemy import and_, delete, func, insert, select, update
from sqlalchemy.exc import DBAPIError, StatementError

from abreast.errors import EntityNotFound, StaleWrite, TableMissing, WriteRefused
from abreast.operations.record import event_of, select_events
from abreast.sql.dialects import dialect_of, insert_missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import ColumnElement, Connection, Executable

    from abreast.model.event import Event
    from abreast.sql.dialects import Dialect
    from abreast.sql.mapping import EntityTable
    from abreast.sql.tables import Tables

FIRST_VERSION = 1
"""Version of a row that was just inserted, and of one that abreast has never seen changed."""

MOST_CHANGES_TOLD = 20


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


def told_missing(entity: EntityTable, error: DBAPIError, dialect: Dialect) -> TableMissing | None:
    """Give the error that tells of a product table which is not there, if a driver's error means that."""
    if not dialect.is_missing_table(error):
        return None
    tables = dict.fromkeys([entity.table.fullname, *(hop.target.table.fullname for hop in entity.hops)])
    return TableMissing(entity.name, list(tables))


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
        self._keep_path(condition)
        return next(iter(self.locked_where(condition, extra=extra, whole=whole)), None)

    def locked_where(
        self, condition: ColumnElement[bool], *, extra: Iterable[str] = (), whole: bool = False
    ) -> list[StoredRow]:
        """Read the rows a condition holds for, and keep others from changing them; in the order of their keys."""
        columns = self.entity.readable(extra)
        wanted = (
            select(*columns.values())
            .where(condition, self.entity.in_workspace(self.workspace_id))
            .order_by(*(self.entity.fields[name] for name in self.entity.key))
            # Without `whole` it waits for nobody who only refers to the row, and nobody who refers waits for it.
            .with_for_update(of=list(self.entity.table.primary_key), key_share=not whole)
        )
        stored = [dict(zip(columns, row, strict=True)) for row in self.execute(wanted).all()]
        ids = [self.entity.entity_id(values) for values in stored]
        return [
            StoredRow(entity_id, values, self._version_of(entity_id, values))
            for entity_id, values in zip(ids, stored, strict=True)
        ]

    def _keep_path(self, condition: ColumnElement[bool]) -> None:
        """Keep the rows that a row's workspace is found by from moving; they may change in every other way."""
        if self.entity.hops:
            here = self.entity.in_workspace(self.workspace_id)
            parent = select(self.entity.hops[0].column).where(condition, here).scalar_subquery()
            self.execute(self.entity.workspace_by_parent(parent)).first()

    def last_version(self, entity_id: str) -> int:
        """Give the version a row had last, deleted or not; 0 for a row that never was."""
        kept = self._kept_version(entity_id) or 0
        if self.entity.version_field is None:
            return kept
        event = self.tables.workspace_event
        latest = (
            select(event.c.version)
            .where(
                event.c.workspace_id == self.workspace_id,
                event.c.entity_type == self.entity.name,
                event.c.entity_id == entity_id,
            )
            .order_by(event.c.version.desc())
            .limit(1)
        )
        return max(kept, int(self.execute(latest).scalar() or 0))

    def insert(self, values: Mapping[str, Any], version: int) -> StoredRow:
        """Insert a row; what the database fills in is read back."""
        stored = dict(values)
        if self.entity.version_field is not None:
            stored[self.entity.version_field] = version
        columns = {self.entity.fields[name]: value for name, value in stored.items()}
        result = self.execute(insert(self.entity.table).values(columns))
        key = self._inserted_key(stored, result.inserted_primary_key)
        if any(name not in values for name in self.entity.key):
            version = self._after_last_life(key, version)
        readable = self.entity.readable()
        row = self.execute(select(*readable.values()).where(*self._of_row(key))).one()
        inserted = dict(zip(readable, row, strict=True))
        entity_id = self.entity.entity_id(inserted)
        self.keep_version(entity_id, version)
        return StoredRow(entity_id, inserted, version)

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
        return [event_of(row) for row in self.execute(wanted)]

    def execute(self, statement: Executable) -> Any:
        """
        Execute a statement over product rows.

        Raises:
            WriteRefused: The database refuses the values; its own text, which can hold them, is left out.
            TableMissing: The table is not there.
        """
        try:
            return self.connection.execute(statement)
        except DBAPIError as error:
            error.hide_parameters = True
            dialect = dialect_of(self.connection)
            if dialect.is_unavailable(error):
                raise
            refused: Exception = told_missing(self.entity, error, dialect) or WriteRefused(
                self.entity.name, *dialect.describe(error)
            )
        except StatementError as error:
            refused = WriteRefused(self.entity.name, type(error.orig).__name__, None)
        raise refused from None

    def _after_last_life(self, key: Mapping[str, Any], version: int) -> int:
        """Give a row the next version where the database gave it the key of a row that was deleted."""
        last = self.last_version(self.entity.entity_id(key))
        if last < version:
            return version
        if self.entity.version_field is not None:
            columns = {self.entity.fields[self.entity.version_field]: last + 1}
            self.execute(update(self.entity.table).where(*self._of_row(key)).values(columns))
        return last + 1

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
        return FIRST_VERSION if version is None else int(version)

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
        return [(func.coalesce(column, FIRST_VERSION) if column.nullable else column) == row.version]

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
            values = {
                "workspace_id": self.workspace_id,
                "entity_type": self.entity.name,
                "entity_id": entity_id,
                "version": version,
            }
            insert_missing(self.connection, owned, values)
