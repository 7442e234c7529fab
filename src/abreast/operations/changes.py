"""Look up recorded changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, bindparam, case, exists, literal, or_, select

from abreast.operations.record import event_of, select_events, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement, Connection, Select

    from abreast.model.event import Event
    from abreast.sql.mapping import Catalog
    from abreast.sql.tables import Tables


_PAGE = 500
_MOST_PAGES = 10


@dataclass(frozen=True, slots=True)
class Search:
    """
    Which changes somebody wants to see.

    Attributes:
        fields: One of these has to be among the changed ones; all changes when empty.
        since: UTC microseconds, inclusive.
        until: UTC microseconds, exclusive.
        before: Revision to end in front of, exclusive.
        limit: Most events.
    """

    workspace_id: str
    entity_types: tuple[str, ...]
    entity_id: str | None = None
    fields: frozenset[str] = frozenset()
    since: int | None = None
    until: int | None = None
    before: int | None = None
    limit: int = 20


def search_changes(connection: Connection, tables: Tables, catalog: Catalog, search: Search) -> list[Event]:
    """Give the newest numbered events that match, newest first; at most 5,000 are looked at."""
    found: list[Event] = []
    for stored in _newest(connection, tables, search):
        event = told(stored, catalog.by_name.get(stored.entity_type))
        whole = event.operation != "update"
        if not search.fields or whole or not search.fields.isdisjoint(event.changed_fields):
            found.append(event)
        if len(found) == search.limit:
            break
    return found


def _newest(connection: Connection, tables: Tables, search: Search) -> Iterator[Event]:
    event, before = tables.workspace_event, search.before
    for _ in range(_MOST_PAGES):
        wanted = select_events(tables).where(*_conditions(tables, search), event.c.revision.is_not(None))
        if before is not None:
            wanted = wanted.where(event.c.revision < before)
        rows = connection.execute(wanted.order_by(event.c.revision.desc()).limit(_PAGE)).all()
        yield from map(event_of, rows)
        if len(rows) < _PAGE:
            return
        before = rows[-1].revision


def _conditions(tables: Tables, search: Search) -> list[ColumnElement[bool]]:
    event = tables.workspace_event
    conditions = [event.c.workspace_id == search.workspace_id, event.c.entity_type.in_(search.entity_types)]
    if search.entity_id is not None:
        conditions.append(event.c.entity_id == search.entity_id)
    if search.since is not None:
        conditions.append(event.c.created_at >= search.since)
    if search.until is not None:
        conditions.append(event.c.created_at < search.until)
    return conditions


def list_changes(
    connection: Connection,
    tables: Tables,
    catalog: Catalog,
    workspace_id: str,
    *,
    after: int,
    limit: int,
    entity_type: str | None = None,
    entity_id: str | None = None,
) -> list[Event]:
    """Give numbered events after a revision in order, of one entity or row if named."""
    event = tables.workspace_event
    wanted = select_events(tables).where(event.c.workspace_id == workspace_id, event.c.revision > after)
    if entity_type is not None:
        wanted = wanted.where(event.c.entity_type == entity_type)
    if entity_id is not None:
        wanted = wanted.where(event.c.entity_id == entity_id)
    found = map(event_of, connection.execute(wanted.order_by(event.c.revision).limit(limit)))
    return [told(event, catalog.by_name.get(event.entity_type)) for event in found]


def has_written(connection: Connection, tables: Tables, workspace_id: str, thread_id: str, *, after: int) -> bool:
    """Say whether a thread has written after a revision; its events may still wait for their numbers."""
    given = {"place": workspace_id, "thread": thread_id, "after": after}
    return bool(connection.execute(_select_written(tables), given).scalar())


@lru_cache(maxsize=16)
def _select_written(tables: Tables) -> Select[Any]:
    """Build the statement that a run sends after each of its tools, once: to build it takes longer than to run it."""
    event = tables.workspace_event
    own = exists().where(event.c.workspace_id == bindparam("place"), event.c.source_thread_id == bindparam("thread"))
    # Each of the two finds its events by the index, which both conditions in one would not.
    numbered = own.where(event.c.revision > bindparam("after", type_=BigInteger))
    waiting = own.where(event.c.revision.is_(None))
    return select(case((or_(numbered, waiting), literal(1)), else_=literal(0)))
