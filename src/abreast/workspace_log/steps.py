"""The operations of one log, with its tables and entities, the time and fresh ids filled in."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import uuid_utils

from abreast.errors import InvalidInput
from abreast.model.batch import BatchRequest
from abreast.model.cursor import Cursor
from abreast.operations import attempts, batches, changes, cursors, number, receipts, retention
from abreast.operations.plan import WriteContext
from abreast.sql.values import LARGEST_INTEGER, check_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from abreast.model.attempt import Attempt
    from abreast.model.batch import Batch
    from abreast.model.entity import Snapshot
    from abreast.model.event import Event
    from abreast.sql.mapping import Catalog
    from abreast.sql.tables import Tables

_MOST_CHANGES = 10_000


@dataclass(frozen=True)
class Filter:
    """Which changes are looked up."""

    workspace_id: str
    after: int
    limit: int
    entity_type: str | None
    entity_id: str | None


@dataclass
class Steps:
    """
    What `WorkspaceLog` has run on a connection.

    Attributes:
        secret: Key of payload hashes, once a commit of our own has shown that it is stored.
    """

    tables: Tables
    catalog: Catalog
    secret: bytes | None = None

    def write_context(self, connection: Connection) -> WriteContext:
        """Gather what one attempt of a write needs."""
        secret = self.payload_key(connection)
        return WriteContext(self.tables, self.catalog, _event_ids(), now(), secret, _new_epoch())

    def payload_key(self, connection: Connection) -> bytes:
        """Give the key of payload hashes; it counts once it is committed."""
        return self.secret or receipts.installation_secret(connection, self.tables, new_secret=secrets.token_bytes(32))

    def sent(self, context: WriteContext) -> None:
        """Keep the key that a committed write used."""
        self.secret = context.secret

    def open_workspace(self, connection: Connection, workspace_id: str) -> None:
        """Begin a workspace's log unless it has begun."""
        for entity in self.catalog.by_name.values():
            entity.native_workspace(workspace_id)
        cursors.open_workspace(connection, self.tables, workspace_id, new_epoch=_new_epoch())

    def open_thread(self, connection: Connection, request: BatchRequest) -> Cursor:
        """Bind a thread and set its cursor to HEAD, after numbering a chunk of what waits."""
        number.number(connection, self.tables, request.workspace_id, new_epoch=_new_epoch())
        batches.begin_workspace(connection, self.tables, self.catalog, request.workspace_id, new_epoch=_new_epoch())
        return cursors.open_thread(
            connection, self.tables, request.workspace_id, request.thread_id, request.scope, now=now()
        )

    def prepare(self, connection: Connection, request: BatchRequest) -> bool:
        """Do what a batch needs written first; says whether there is more."""
        return batches.prepare(connection, self.tables, self.catalog, request, now=now(), new_epoch=_new_epoch())

    def read_batch(self, connection: Connection, prepared: bool, request: BatchRequest) -> Batch | None:  # noqa: FBT001 - `read_or_prepare` passes it by position
        """Read a batch, or None where it has to be prepared."""
        return batches.read_batch(connection, self.tables, self.catalog, request, prepared=prepared)

    def read_snapshot(
        self,
        connection: Connection,
        prepared: bool,  # noqa: FBT001 - as above
        wanted: tuple[str, object],
    ) -> Snapshot | None:
        """Read the current rows for a viewer, or None where events wait for their numbers."""
        workspace_id, viewer = wanted
        if not prepared and number.is_waiting(connection, self.tables, workspace_id):
            return None
        return batches.read_snapshot(connection, self.tables, self.catalog, workspace_id, viewer)

    def number_for_snapshot(self, connection: Connection, wanted: tuple[str, object]) -> bool:
        """Number a chunk of what waits; says whether there is more."""
        return self.number(connection, wanted[0])

    def number(self, connection: Connection, workspace_id: str) -> bool:
        """Number a chunk of what waits; says whether there is more."""
        return number.number(connection, self.tables, workspace_id, new_epoch=_new_epoch()).more

    def number_for_changes(self, connection: Connection, wanted: Filter) -> bool:
        """Number a chunk of what waits; says whether there is more."""
        return self.number(connection, wanted.workspace_id)

    def list_changes(
        self,
        connection: Connection,
        prepared: bool,  # noqa: FBT001 - as above
        wanted: Filter,
    ) -> list[Event] | None:
        """Look changes up, or None where events wait for their numbers."""
        if not prepared and number.is_waiting(connection, self.tables, wanted.workspace_id):
            return None
        return changes.list_changes(
            connection,
            self.tables,
            self.catalog,
            wanted.workspace_id,
            after=wanted.after,
            limit=wanted.limit,
            entity_type=wanted.entity_type,
            entity_id=wanted.entity_id,
        )

    def record_refusal(self, connection: Connection, refused: Attempt) -> None:
        """Store that a write was refused."""
        attempts.record_refusal(connection, self.tables, refused)

    def list_attempts(self, connection: Connection, wanted: attempts.Wanted) -> list[Attempt]:
        """Look up what took effect and what was refused."""
        return attempts.list_attempts(connection, self.tables, self.catalog, wanted)

    def has_written(self, connection: Connection, workspace_id: str, thread_id: str, after: int) -> bool:
        """Say whether a thread has written after a revision."""
        return changes.has_written(connection, self.tables, workspace_id, thread_id, after=after)

    def bind_thread(self, connection: Connection, workspace_id: str, thread_id: str) -> None:
        """Bind a thread to a workspace that has a row or a log."""
        batches.begin_workspace(connection, self.tables, self.catalog, workspace_id, new_epoch=_new_epoch())
        cursors.bind_thread(connection, self.tables, workspace_id, thread_id, now=now())

    def confirm(self, connection: Connection, cursor: Cursor) -> bool:
        """Move a cursor."""
        return cursors.confirm(connection, self.tables, cursor, now=now())

    def forget_before(self, connection: Connection, workspace_id: str, revision: int) -> int:
        """Shorten a log."""
        batches.begin_workspace(connection, self.tables, self.catalog, workspace_id, new_epoch=_new_epoch())
        return retention.forget_before(connection, self.tables, workspace_id, revision, new_epoch=_new_epoch())

    def renew_epoch(self, connection: Connection, workspace_id: str) -> None:
        """Give a log a new identity."""
        batches.begin_workspace(connection, self.tables, self.catalog, workspace_id, new_epoch=_new_epoch())
        retention.renew_epoch(connection, self.tables, workspace_id, new_epoch=_new_epoch())

    def erase(self, connection: Connection, wanted: Filter) -> int:
        """Delete a row's stored values."""
        return retention.erase(
            connection, self.tables, wanted.workspace_id, str(wanted.entity_type), str(wanted.entity_id)
        )

    def filter(self, workspace_id: str, *, after: int, limit: int, entity: object, key: object) -> Filter:
        """
        Check what is looked up.

        Raises:
            UnknownEntity: The log was not given this entity.
            InvalidInput: The limit is out of range, or a key comes without its entity.
        """
        check_limit(limit)
        if entity is None and key is not None:
            raise InvalidInput("key", "comes without its entity", "pass entity= too")
        table = None if entity is None else self.catalog.find(entity)
        entity_id = None if table is None or key is None else table.entity_id(table.key_values(key))
        name = None if table is None else table.name
        place = check_id("workspace_id", workspace_id)
        return Filter(place, check_revision("after", after), limit, name, entity_id)

    def row(self, workspace_id: str, entity: object, key: object) -> Filter:
        """
        Check which row is meant.

        Raises:
            UnknownEntity: The log was not given this entity.
            InvalidInput: The key is none.
        """
        table = self.catalog.find(entity)
        entity_id = table.entity_id(table.key_values(key))
        return Filter(check_id("workspace_id", workspace_id), 0, 1, table.name, entity_id)


def batch_request(
    workspace_id: str, thread_id: str, scope: str, checkpoint_cursor: Cursor | None = None, **bounds: object
) -> BatchRequest:
    """
    Check what a run asks for.

    Raises:
        InvalidInput: An id cannot be stored, or a bound is below 1.
    """
    if checkpoint_cursor is not None:
        if not isinstance(checkpoint_cursor, Cursor):
            raise InvalidInput("checkpoint_cursor", "is no Cursor", "read it with Cursor.from_json()")
        sound(checkpoint_cursor)
    for name in ("limit", "max_bytes", "max_runs"):
        if type(bounds.get(name, 1)) is not int or bounds.get(name, 1) < 1:  # type: ignore[operator]
            raise InvalidInput(name, "is no whole number of at least 1", "pass 1 or more")
    return BatchRequest(
        check_id("workspace_id", workspace_id),
        check_id("thread_id", thread_id),
        check_id("scope", scope, empty=True),
        checkpoint_cursor,
        **bounds,  # type: ignore[arg-type]
    )


def check_limit(limit: object) -> None:
    """
    Make sure that a list is bounded.

    Raises:
        InvalidInput: The limit is out of range.
    """
    if type(limit) is not int or not 1 <= limit <= _MOST_CHANGES:
        raise InvalidInput("limit", f"is {limit!r}", f"pass 1 to {_MOST_CHANGES}")


def check_revision(name: str, value: object) -> int:
    """
    Give a revision back if there can be one like it.

    Raises:
        InvalidInput: It is no whole number from 0 on.
    """
    if type(value) is not int or not 0 <= value <= LARGEST_INTEGER:
        raise InvalidInput(name, "is no whole number of at least 0", "pass a revision")
    return value


def sound(cursor: Cursor) -> Cursor:
    """
    Give a cursor back if it can be one.

    Raises:
        InvalidInput: One of its parts cannot.
    """
    Cursor.from_json({name: getattr(cursor, name) for name in Cursor.__slots__})
    if not 0 <= cursor.revision <= LARGEST_INTEGER:
        raise InvalidInput("cursor.revision", "is out of range", "pass a cursor that read_batch() gave")
    check_id("cursor.workspace_id", cursor.workspace_id)
    check_id("cursor.thread_id", cursor.thread_id)
    for name in ("scope", "epoch", "mark"):
        check_id(f"cursor.{name}", getattr(cursor, name), empty=True)
    return cursor


def now() -> int:
    """Give the time in UTC microseconds."""
    return time.time_ns() // 1_000


def _event_ids() -> Iterator[str]:
    """Give ids for events."""
    while True:
        yield new_id()


def new_id() -> str:
    """Give a time-ordered id (UUIDv7, RFC 9562)."""
    return uuid_utils.uuid7().hex


def _new_epoch() -> str:
    return secrets.token_hex(16)
