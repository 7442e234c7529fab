"""Cut what a thread has not processed into batches of bounded length."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, bindparam

from abreast.model.fold import Fold, Line, SummaryLine
from abreast.operations.record import event_of, select_events, told
from abreast.operations.summaries import Summaries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Select

    from abreast.model.batch import BatchRequest
    from abreast.model.event import Event
    from abreast.sql.mapping import Catalog
    from abreast.sql.tables import Tables

_PAGE = 500
"""Events read at once; a backlog of any length takes the memory of one page and its lines."""


@dataclass(frozen=True)
class Delivery:
    """
    The changes a batch delivers.

    Attributes:
        upto: The last revision delivered; None where nothing is, and where everything up to HEAD is.
        mark: Id of the event at `upto`.
        count: Events delivered, listed or counted.
        remaining: Events after `upto`.
    """

    lines: tuple[Line, ...] = ()
    summary: tuple[SummaryLine, ...] = ()
    upto: int | None = None
    mark: str = ""
    count: int = 0
    remaining: int = 0


def deliver(
    connection: Connection, tables: Tables, catalog: Catalog, request: BatchRequest, after: int, head: int
) -> Delivery:
    """Deliver the longest prefix of `(after, head]` in bounds, and the rest in counts if it is too long."""
    first, *later = _folds(_events(connection, tables, request.workspace_id, after, head), catalog, request)
    if not later:
        return Delivery(first.result(), count=first.count)
    last = first.last
    assert last is not None
    assert last.revision is not None
    if len(later) >= request.max_runs:
        rest = Summaries(connection, tables, catalog, request, last.revision, head)
        return Delivery(first.result(), rest.lines(), count=first.count + rest.total())
    remaining = sum(fold.count for fold in later)
    return Delivery(first.result(), (), last.revision, last.event_id, first.count, remaining)


def _folds(events: Iterator[Event], catalog: Catalog, request: BatchRequest) -> list[Fold]:
    """Cut a backlog into the batches of the coming runs; the reading ends where `max_runs` do not do."""
    folds = [Fold(request.limit, request.max_bytes, catalog.shown)]
    for stored in events:
        event = told(stored, catalog.by_name.get(stored.entity_type))
        if not folds[-1].add(event):
            folds.append(Fold(request.limit, request.max_bytes, catalog.shown))
            if len(folds) > request.max_runs:
                break
            folds[-1].add(event)
    return folds


@lru_cache(maxsize=16)
def _select_page(tables: Tables) -> Select[Any]:
    """Build the SELECT of a page, once: to build it costs as much as to run it."""
    event = tables.workspace_event
    after, head = bindparam("after", type_=BigInteger), bindparam("head", type_=BigInteger)
    return (
        select_events(tables)
        .where(event.c.workspace_id == bindparam("place"), event.c.revision > after, event.c.revision <= head)
        .order_by(event.c.revision)
        .limit(_PAGE)
    )


def _events(connection: Connection, tables: Tables, workspace_id: str, after: int, head: int) -> Iterator[Event]:
    while after < head:
        place = {"place": workspace_id, "after": after, "head": head}
        rows = connection.execute(_select_page(tables), place).all()
        for row in rows:
            yield event_of(row)
        if len(rows) < _PAGE:
            return
        after = rows[-1].revision
