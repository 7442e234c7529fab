"""Compare what writers committed, what readers were given, and what the tables hold."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.concurrency.race.programme import Committed
from tests.concurrency.race.readers import Delivery


@dataclass(frozen=True, slots=True)
class Stored:
    """One event as the table holds it."""

    event_id: str
    revision: int | None
    entity: str
    row_id: str
    version: int
    operation: str
    token: str | None


@dataclass(frozen=True)
class History:
    """A race that has ended: tables read past the library, and what everybody noted."""

    head: int
    stored: Sequence[Stored]
    rows: dict[tuple[str, str], tuple[int, str]]
    committed: Sequence[Committed]
    readers: Sequence[Sequence[Delivery]]
    cursors: Sequence[int]
    hot: int
    """Events of the rows that were there before the race."""

    @property
    def missed(self) -> int:
        """Count the committed events that some reader's cursor has passed without their being delivered."""
        ids = {change.event_id for change in self.committed}
        return sum(len(ids - delivered_before_cursor(reader)) for reader in self.readers)


def delivered_before_cursor(deliveries: Sequence[Delivery]) -> set[str]:
    """Give the ids of the events that a reader was given in runs that succeeded."""
    return {event_id for given in deliveries if given.confirmed for _, event_id in given.events}


def problems(history: History) -> list[str]:
    """List everything that is wrong with a race, at most 20 things; empty if nothing is."""
    found = [*_in_the_log(history), *_in_the_rows(history)]
    for number, (deliveries, cursor) in enumerate(zip(history.readers, history.cursors, strict=True)):
        found += [f"reader {number}: {problem}" for problem in _at_a_reader(history, deliveries, cursor)]
    return found[:20]


def _in_the_log(history: History) -> Iterator[str]:
    """Revisions are 1 to HEAD, and one event stands for each committed change."""
    revisions = sorted(event.revision or 0 for event in history.stored)
    if revisions != list(range(1, history.head + 1)):
        holes = sorted(set(range(1, history.head + 1)) - set(revisions))
        twice = [revision for revision, count in Counter(revisions).items() if count > 1]
        yield f"revisions are not 1 to {history.head}: missing {holes[:5]}, twice or unnumbered {twice[:5]}"
    told = {change.event_id: change for change in history.committed}
    stored = {event.event_id: event for event in history.stored}
    if len(told) != len(history.committed):
        yield f"{len(history.committed) - len(told)} changes share an event"
    for event_id in told.keys() - stored.keys():
        yield f"{told[event_id]} was committed and has no event"
    unknown = stored.keys() - told.keys()
    if len(unknown) != history.hot:
        yield f"{len(unknown) - history.hot} events of changes that nobody committed"
    for event_id in told.keys() & stored.keys():
        yield from _differences(told[event_id], stored[event_id])


def _differences(told: Committed, stored: Stored) -> Iterator[str]:
    token = None if told.operation == "delete" else told.token
    wanted = (told.entity, told.row_id, told.version, told.operation, token)
    found = (stored.entity, stored.row_id, stored.version, stored.operation, stored.token)
    if wanted != found:
        yield f"{told} is recorded as {stored}"


def _in_the_rows(history: History) -> Iterator[str]:
    """A row's events have its versions 1, 2, 3 … in the order of revisions, and the last is the row."""
    events: dict[tuple[str, str], list[Stored]] = {}
    for event in sorted(history.stored, key=lambda event: event.revision or 0):
        events.setdefault((event.entity, event.row_id), []).append(event)
    for row, of_row in events.items():
        versions = [event.version for event in of_row]
        if versions != list(range(1, len(versions) + 1)):
            yield f"{row} has events of the versions {versions} in the order of revisions"
        last = of_row[-1]
        wanted = None if last.operation == "delete" else (last.version, last.token)
        if history.rows.get(row) != wanted:
            yield f"{row} is {history.rows.get(row)}, its last event says {wanted}"
    for row in history.rows.keys() - events.keys():
        yield f"{row} is there without an event"


def _at_a_reader(history: History, deliveries: Sequence[Delivery], cursor: int) -> Iterator[str]:
    """Each delivery begins at the cursor and gives exactly the events after it, in order."""
    order = {event.revision: event.event_id for event in history.stored}
    position, head = 0, 0
    for given in deliveries:
        if given.problem:
            yield given.problem
        if given.since != position:
            yield f"a delivery begins after {given.since}, the cursor is {position}"
        if given.head < max(head, given.upto):
            yield f"HEAD is {given.head}, after it was {head} or more than {given.upto} was delivered"
        wanted = [(revision, order.get(revision)) for revision in range(given.since + 1, given.upto + 1)]
        if list(given.events) != wanted:
            lost = [pair for pair in wanted if pair not in set(given.events)]
            yield f"({given.since}, {given.upto}] was not delivered as stored, first at {lost[:3]}"
        head = given.head
        position = given.upto if given.confirmed else position
    if not position == cursor == history.head:
        yield f"ended at {position} with cursor {cursor}, HEAD is {history.head}"


def count(values: Sequence[Any]) -> dict[Any, int]:
    """Count equal values, sorted."""
    return dict(sorted(Counter(values).items()))
