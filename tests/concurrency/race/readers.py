"""The readers of a race: conversations that read, fail now and then, and confirm."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event as Flag

from abreast import Batch, Event, WorkspaceLog
from tests.concurrency.product import W

FAIL_SHARE, LATE_SHARE = 0.15, 0.05
MOST_LISTED = 10_000
MANY = 1_000_000
# Lines of a batch, and runs before a backlog is summed up: some readers are given everything in counts.
PAUSES = (0.005, 0.1, 0.2, 0.3, 0.1, 0.2, 0.4, 0.5)
"""Seconds between two reads: one reader is nearly always at it."""
BOUNDS = ((50, 3), (5, 3), (500, 3), (5_000, 3), (200, MANY), (20, 3), (1_000, MANY), (50, 1))


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one read gave: the events after `since` up to `upto`, and whether the run succeeded."""

    since: int
    upto: int
    head: int
    events: tuple[tuple[int, str], ...]
    confirmed: bool
    problem: str


@dataclass
class Reader:
    """What sync and async readers have in common."""

    log: WorkspaceLog
    number: int
    seed: int
    done: Flag
    deliveries: list[Delivery] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin at the seed."""
        self.random = random.Random(f"{self.seed}.reader.{self.number}")
        limit, max_runs = BOUNDS[self.number % len(BOUNDS)]
        self.pause = PAUSES[self.number % len(PAUSES)]
        self.bounds = {"limit": limit, "max_runs": max_runs, "max_bytes": MANY}
        self.thread_id = f"thread {self.number}"
        self.late: Batch | None = None

    def keep(self, batch: Batch, events: Sequence[Event]) -> bool:
        """Note a delivery; says whether the run that was given it succeeds."""
        succeeded = self.random.random() >= FAIL_SHARE
        inside = [event for event in events if event.revision <= batch.cursor_after.revision]
        numbered = tuple((event.revision, event.event_id) for event in inside)
        self.deliveries.append(
            Delivery(
                batch.since.revision,
                batch.cursor_after.revision,
                batch.head,
                numbered,
                succeeded,
                problem_of(batch, inside),
            )
        )
        return succeeded

    def is_late(self) -> Batch | None:
        """Give, now and then, an older batch whose confirmation comes again, late."""
        return self.late if self.random.random() < LATE_SHARE else None


class SyncReader(Reader):
    """A reader in a thread."""

    def run(self) -> list[Delivery]:
        """Read until everything is delivered."""
        while True:
            was_done = self.done.is_set()
            batch = self.log.read_batch(W, self.thread_id, **self.bounds)
            if not batch.event_count and was_done:
                return self.deliveries
            if batch.event_count and self.keep(batch, self._events(batch)):
                self._confirm(batch)
            self.done.wait(self.pause)

    def _events(self, batch: Batch) -> list[Event]:
        events: list[Event] = []
        while len(events) < batch.event_count:
            after = events[-1].revision if events else batch.since.revision
            limit = min(batch.event_count - len(events), MOST_LISTED)
            found = self.log.changes(W, after=after, limit=limit)
            if not found:
                break
            events += found
        return events

    def _confirm(self, batch: Batch) -> None:
        late = self.is_late()
        if not self.log.confirm(batch) or (late is not None and self.log.confirm(late)):
            raise AssertionError(f"{self.thread_id}: a cursor did not move, or moved back")
        self.late = batch


class AsyncReader(Reader):
    """A reader in a task."""

    async def run(self) -> list[Delivery]:
        """Read until everything is delivered."""
        while True:
            was_done = self.done.is_set()
            batch = await self.log.aread_batch(W, self.thread_id, **self.bounds)
            if not batch.event_count and was_done:
                return self.deliveries
            if batch.event_count and self.keep(batch, await self._events(batch)):
                await self._confirm(batch)
            await asyncio.sleep(0 if was_done else self.pause)

    async def _events(self, batch: Batch) -> list[Event]:
        events: list[Event] = []
        while len(events) < batch.event_count:
            after = events[-1].revision if events else batch.since.revision
            limit = min(batch.event_count - len(events), MOST_LISTED)
            found = await self.log.achanges(W, after=after, limit=limit)
            if not found:
                break
            events += found
        return events

    async def _confirm(self, batch: Batch) -> None:
        late = self.is_late()
        if not await self.log.aconfirm(batch) or (late is not None and await self.log.aconfirm(late)):
            raise AssertionError(f"{self.thread_id}: a cursor did not move, or moved back")
        self.late = batch


def problem_of(batch: Batch, events: Sequence[Event]) -> str:
    """Say what is wrong with a batch's lines, measured by the events they stand for; '' if nothing."""
    if batch.reset is not None:
        return f"reset: {batch.reset}"
    if batch.event_count != len(events):
        return f"{batch.event_count} events counted, {len(events)} found"
    listed = events[: len(events) - sum(line.count for line in batch.summary)]
    if {(line.entity_type, line.entity_id) for line in batch.lines} != {
        (event.entity_type, event.entity_id) for event in listed
    }:
        return "the lines speak of other rows than the events"
    newest = {(event.entity_type, event.entity_id): event for event in listed}
    for line in batch.lines:
        event = newest[line.entity_type, line.entity_id]
        wanted = None if event.after is None else event.after.get("title")
        found = line.after if line.kind == "update" else line.values.get("title")
        if line.kind in ("insert", "update") and found != wanted:
            return f"{line.entity_id} is said to be {found}, the newest event says {wanted}"
    return ""
