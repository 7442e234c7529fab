"""Run a race: processes of writers and readers, a common start, and the history they leave."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from multiprocessing.synchronize import Event as Flag
from typing import Any

from sqlalchemy import create_engine, text

from abreast import Database
from tests.concurrency import children
from tests.concurrency.product import USER, W, log_of, make_tables
from tests.concurrency.race import faults
from tests.concurrency.race.check import History, Stored, problems
from tests.concurrency.race.programme import HOT_ROWS, Log, Programme
from tests.concurrency.race.readers import AsyncReader, Delivery, SyncReader
from tests.concurrency.race.writers import KINDS, AsyncWriter, SyncWriter, count_errors, hold_commits

PATIENCE = 300.0
"""Seconds anybody waits for a lock: SQLite lets its writers wait in no order, and starves some for long."""


@dataclass(frozen=True)
class Race:
    """
    The shape of a race.

    Attributes:
        changes: Row changes each writer commits, at least.
        contended: Some rows are written by all writers.
        with_abreast: False: the same writers change the same rows by plain SQL, and nobody reads.
        fault: Name of a fault that is planted in every process.
        spread: Processes of writers, and as many of readers.
    """

    url: str
    changes: int
    mode: str = "sync"
    contended: bool = False
    with_abreast: bool = True
    writers: int = 8
    readers: int = 8
    seed: int = 1
    fault: str | None = None
    spread: int = 2


@dataclass(frozen=True)
class Outcome:
    """What became of a race."""

    race: Race
    writers: Sequence[Log]
    errors: dict[str, int]
    history: History | None
    deadlocks: int

    @property
    def problems(self) -> list[str]:
        """List what is wrong with it."""
        return problems(self.history) if self.history is not None else []

    @property
    def changes(self) -> int:
        """Count the committed row changes."""
        return sum(log.changes for log in self.writers)

    def __str__(self) -> str:
        """Say it in one line."""
        said = [
            f"{self.race.mode}, {'rows in common' if self.race.contended else 'disjoint rows'}",
            f"{sum(log.transactions for log in self.writers)} transactions",
            f"{self.changes} {'events' if self.history else 'changes without abreast'}",
            f"{sum(log.rolled_back for log in self.writers)} rolled back",
            f"{sum(log.retried for log in self.writers)} tried again",
            f"errors {dict(self.errors)}",
        ]
        if self.history is not None:
            reads = [given for deliveries in self.history.readers for given in deliveries]
            said += [f"{len(reads)} reads", f"missed {self.history.missed}"]
        return ", ".join(said)


def run(race: Race) -> Outcome:
    """Run a race on a database that has abreast's tables and nothing else."""
    _prepare(race)
    start = children.barrier(race.spread * (2 if race.with_abreast else 1))
    done = children.CONTEXT.Event()
    shares = [range(first, race.writers, race.spread) for first in range(race.spread)]
    readers = [range(first, race.readers, race.spread) for first in range(race.spread)]
    written_by = [(_write, race, share, start) for share in shares]
    read_by = [(_read, race, share, start, done) for share in readers if race.with_abreast]
    with children.together(*written_by, *read_by) as processes:
        written = [process.result() for process in processes[: race.spread]]
        done.set()
        read = [process.result() for process in processes[race.spread :]]
    errors = sum((errors for _, errors in (*written, *read)), Counter[str]())
    logs = [log for logs, _ in written for log in logs]
    deliveries = {number: given for found, _ in read for number, given in found.items()}
    return Outcome(race, logs, dict(sorted(errors.items())), *_afterwards(race, logs, deliveries))


def _prepare(race: Race) -> None:
    with Database.open(race.url) as database:
        make_tables(database)
        log = log_of(database)
        log.open_workspace(W)
        for number in range(race.readers if race.with_abreast else 0):
            log.open_thread(W, f"thread {number}")
        with log.write(W, actor=USER) as write:
            for number in range(HOT_ROWS):
                write.insert("item", {"id": f"hot{number}", "title": "hot"})
    faults.prepare(race.url, race.fault)


def _database(race: Race) -> Database:
    pool = {"pool_size": 8, "max_overflow": 0, "pool_timeout": PATIENCE}
    return Database.open(race.url, lock_timeout=PATIENCE, **pool)


def _write(race: Race, share: Sequence[int], start: Barrier) -> tuple[list[Log], Counter[str]]:
    errors: Counter[str] = Counter()
    count_errors(errors)
    hold_commits()
    faults.plant(race.fault)
    programmes = [Programme(number, race.seed, race.contended) for number in share]
    if race.mode == "async":
        return asyncio.run(_write_in_tasks(race, programmes, start)), errors
    with _database(race) as database, ThreadPoolExecutor(len(programmes)) as threads:
        log = log_of(database) if race.with_abreast else None
        writers = [
            SyncWriter(race.url, log, KINDS[programme.writer % len(KINDS)], programme, race.changes)
            for programme in programmes
        ]
        start.wait()
        return list(threads.map(SyncWriter.run, writers)), errors


async def _write_in_tasks(race: Race, programmes: Sequence[Programme], start: Barrier) -> list[Log]:
    async with _database(race) as database:
        log = log_of(database)
        writers = [
            AsyncWriter(race.url, log, KINDS[programme.writer % len(KINDS)], programme, race.changes)
            for programme in programmes
        ]
        start.wait()
        return await asyncio.gather(*(writer.run() for writer in writers))


def _read(
    race: Race, share: Sequence[int], start: Barrier, done: Flag
) -> tuple[dict[int, list[Delivery]], Counter[str]]:
    errors: Counter[str] = Counter()
    count_errors(errors)
    faults.plant(race.fault)
    if race.mode == "async":
        return asyncio.run(_read_in_tasks(race, share, start, done)), errors
    with _database(race) as database, ThreadPoolExecutor(len(share)) as threads:
        readers = [SyncReader(log_of(database), number, race.seed, done) for number in share]
        start.wait()
        given = list(threads.map(SyncReader.run, readers))
    return dict(zip(share, given, strict=True)), errors


async def _read_in_tasks(race: Race, share: Sequence[int], start: Barrier, done: Flag) -> dict[int, list[Delivery]]:
    async with _database(race) as database:
        readers = [AsyncReader(log_of(database), number, race.seed, done) for number in share]
        start.wait()
        given = await asyncio.gather(*(reader.run() for reader in readers))
    return dict(zip(share, given, strict=True))


def _afterwards(race: Race, logs: Sequence[Log], deliveries: dict[int, list[Delivery]]) -> tuple[History | None, int]:
    """Read the tables past the library."""
    engine = create_engine(race.url)
    try:
        with engine.connect() as connection:
            deadlocks = 0
            if engine.dialect.name == "postgresql":
                asked = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
                deadlocks = connection.scalar(text(asked))
            if not race.with_abreast:
                return None, deadlocks
            return _history(connection, logs, deliveries), deadlocks
    finally:
        engine.dispose()


def _history(connection: Any, logs: Sequence[Log], deliveries: dict[int, list[Delivery]]) -> History:
    columns = 'event_id, revision, entity_type, entity_id, version, operation, "after"'
    selected = connection.execute(text(f"SELECT {columns} FROM abreast_workspace_event"))
    stored = [Stored(*row[:6], json.loads(row[6])["title"] if row[6] else None) for row in selected]
    items = connection.execute(text("SELECT id, version, title FROM item"))
    rows = {("item", row.id): (row.version, row.title) for row in items}
    versions = "SELECT entity_id, version FROM abreast_entity_version WHERE entity_type = 'part'"
    version_of = dict(connection.execute(text(versions)).all())
    parts = connection.execute(text("SELECT id, title FROM part"))
    rows |= {("part", row.id): (version_of.get(row.id), row.title) for row in parts}
    cursors = dict(connection.execute(text("SELECT thread_id, revision FROM abreast_thread_cursor")).all())
    return History(
        head=connection.scalar(text("SELECT head FROM abreast_workspace")),
        stored=stored,
        rows=rows,
        committed=[change for log in logs for change in log.committed],
        readers=[deliveries[number] for number in sorted(deliveries)],
        cursors=[cursors[f"thread {number}"] for number in sorted(deliveries)],
        hot=HOT_ROWS,
    )
