"""Give recorded events their revisions: gap-free, in one short transaction."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import BigInteger, bindparam, case, func, literal, select, update

from abreast.sql.dialects import insert_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Column, Connection, Select, Update

    from abreast.sql.tables import Tables

CHUNK = 5_000
"""Most events one transaction numbers, so that the counter row is never held for long."""

_AT_ONCE = 500
"""Events that one statement numbers: a backlog costs a server many times less than one statement for each."""


class Numbered(NamedTuple):
    """
    What one numbering did.

    Attributes:
        revisions: The revisions given, by event id.
        more: More events wait than one chunk holds.
    """

    revisions: dict[str, int]
    more: bool


class Waiting(NamedTuple):
    """An event without a revision."""

    event_id: str
    entity_type: str
    entity_id: str
    version: int
    operation: str


def is_waiting(connection: Connection, tables: Tables, workspace_id: str) -> bool:
    """Say whether a workspace has events without a revision; one indexed probe."""
    event = tables.workspace_event
    probe = select(event.c.event_id).where(event.c.workspace_id == workspace_id, event.c.revision.is_(None)).limit(1)
    return connection.execute(probe).first() is not None


def number(
    connection: Connection, tables: Tables, workspace_id: str, *, new_epoch: str, chunk: int = CHUNK
) -> Numbered:
    """
    Give the visible unnumbered events of a workspace the next revisions and raise HEAD.

    Order: by time-ordered event id, the events of one row by version. Events that commit later are numbered
    later, so none is skipped and there is no gap. Needs READ COMMITTED or one writer at a time.

    Args:
        new_epoch: Epoch of the log if this is its first event.
    """
    if not is_waiting(connection, tables, workspace_id):
        return Numbered({}, more=False)
    head = lock_head(connection, tables, workspace_id, new_epoch=new_epoch)
    waiting = _waiting(connection, tables, workspace_id, chunk)
    revisions = {event_id: head + place for place, event_id in enumerate(in_order(waiting), start=1)}
    _assign(connection, tables, workspace_id, head, revisions)
    return Numbered(revisions, more=len(waiting) >= chunk)


def lock_head(connection: Connection, tables: Tables, workspace_id: str, *, new_epoch: str) -> int:
    """Lock the counter row, which is made if it is missing, and give HEAD."""
    workspace = tables.workspace
    locked = select(workspace.c.head).where(workspace.c.workspace_id == workspace_id).with_for_update()
    head = connection.execute(locked).scalar()
    if head is None:
        values = {"workspace_id": workspace_id, "epoch": new_epoch, "head": 0, "floor": 0}
        insert_missing(connection, workspace, values)
        head = connection.execute(locked).scalar_one()
    return int(head)


def in_order(waiting: Sequence[Waiting]) -> list[str]:
    """
    Order events by id, but let each row's events take that row's places by version.

    Ids are times of writers whose clocks differ, versions are not: a row that is inserted again goes on counting.
    """
    rows: dict[tuple[str, str], list[Waiting]] = defaultdict(list)
    for event in sorted(waiting):
        rows[event.entity_type, event.entity_id].append(event)
    following = {row: iter(sorted(events, key=lambda event: event.version)) for row, events in rows.items()}
    return [next(following[event.entity_type, event.entity_id]).event_id for event in sorted(waiting)]


def _waiting(connection: Connection, tables: Tables, workspace_id: str, chunk: int) -> list[Waiting]:
    event = tables.workspace_event
    first = _select_waiting(tables, workspace_id).order_by(event.c.event_id).limit(chunk)
    found = _read(connection, first)
    if len(found) < chunk:
        return found
    return found + _earlier_versions_beyond(connection, tables, workspace_id, found)


def _read(connection: Connection, wanted: Select[Any]) -> list[Waiting]:
    return [Waiting._make(row) for row in connection.execute(wanted)]


def _select_waiting(tables: Tables, workspace_id: str) -> Select[Any]:
    event = tables.workspace_event
    columns: list[Column[Any]] = [event.c[name] for name in Waiting._fields]
    return select(*columns).where(event.c.workspace_id == workspace_id, event.c.revision.is_(None))


def _earlier_versions_beyond(
    connection: Connection, tables: Tables, workspace_id: str, found: Sequence[Waiting]
) -> list[Waiting]:
    """
    Read what waits beyond a chunk but belongs before an event in it: clocks of writers differ.

    Compared here: as a join it is quadratic wherever a database's statistics are not up to date.
    """
    event = tables.workspace_event
    highest: dict[tuple[str, str], int] = {}
    for inside in found:
        row = inside.entity_type, inside.entity_id
        highest[row] = max(inside.version, highest.get(row, inside.version))
    beyond = _select_waiting(tables, workspace_id).where(event.c.event_id > found[-1].event_id)
    rows = (event.c.entity_type, event.c.entity_id)
    lowest = beyond.with_only_columns(*rows, func.min(event.c.version)).group_by(*rows)
    mixed = [
        (entity_type, entity_id)
        for entity_type, entity_id, version in connection.execute(lowest)
        if version < highest.get((entity_type, entity_id), version)
    ]
    return [
        later
        for entity_type, entity_id in mixed
        for later in _read(
            connection,
            beyond.where(
                event.c.entity_type == entity_type,
                event.c.entity_id == entity_id,
                event.c.version < highest[entity_type, entity_id],
            ),
        )
    ]


def _assign(connection: Connection, tables: Tables, workspace_id: str, head: int, revisions: dict[str, int]) -> None:
    if not revisions:
        return
    workspace = tables.workspace
    given = list(revisions.items())
    whole = len(given) // _AT_ONCE * _AT_ONCE
    for first in range(0, whole, _AT_ONCE):
        connection.execute(_place_many(tables, workspace_id, given[first : first + _AT_ONCE]))
    if given[whole:]:
        values = [{"of_event": event_id, "new_revision": revision} for event_id, revision in given[whole:]]
        connection.execute(_place_one(tables, workspace_id), values)
    raised = update(workspace).where(workspace.c.workspace_id == workspace_id).values(head=head + len(revisions))
    connection.execute(raised)


def _place_one(tables: Tables, workspace_id: str) -> Update:
    event = tables.workspace_event
    of_event = event.c.workspace_id == workspace_id, event.c.event_id == bindparam("of_event")
    return update(event).where(*of_event).values(revision=bindparam("new_revision"))


def _place_many(tables: Tables, workspace_id: str, given: Sequence[tuple[str, int]]) -> Update:
    event = tables.workspace_event
    revision = case({event_id: literal(place, BigInteger) for event_id, place in given}, value=event.c.event_id)
    of_events = event.c.workspace_id == workspace_id, event.c.event_id.in_([event_id for event_id, _ in given])
    return update(event).where(*of_events).values(revision=revision)
