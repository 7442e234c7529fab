"""What savers keep: every case of the contract with SqlSaver and with LangGraph's own savers."""

from __future__ import annotations

import argparse
import math
import sqlite3
import sys
import tempfile
import time
from contextlib import ExitStack, asynccontextmanager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import psycopg
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool
from sqlalchemy import make_url

from abreast import Database
from abreast.langgraph.saver import SqlSaver
from abreast.testing.saver_contract import SaverContract, cases
from abreast.testing.saver_contract.meeting import together
from benchmarks.saver_stores import BRANCH
from benchmarks.servers import postgresql_url
from tests.concurrency import children
from tests.concurrency.contract_savers import BOUND, async_saver, bound, corrupt, fault, sync_saver
from tests.concurrency.product import add_items, log_of, make_tables
from tests.concurrency.proxy import proxy_to
from tests.servers.shared import POSTGRESQL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from abreast.testing.saver_contract import Case, Report

ROUNDS, QUICK, PUTS = 200, 20, 20
DELAYS = (0.005, 0.05, 0.2)
POOL, DELAY, TARGET = 8, 0.02, 5.0
"""Connections and threads, seconds more for each message, and how much faster SqlSaver is to be then."""
RACES = ("no_message_is_lost", "one_resume_counts", "one_resume_of_changes_counts", "one_resume_of_siblings_counts")
OWN = ("SqlSaver", "SqlSaver, async", "SqlSaver, bound")


def plain(url: str) -> str:
    """Give the URL as psycopg takes it."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


@contextmanager
def sqlite_saver(url: str) -> Iterator[SqliteSaver]:
    """Open LangGraph's saver for SQLite."""
    with SqliteSaver.from_conn_string(str(make_url(url).database)) as saver:
        yield saver


@asynccontextmanager
async def async_sqlite_saver(url: str) -> AsyncIterator[AsyncSqliteSaver]:
    """Open its async twin."""
    async with AsyncSqliteSaver.from_conn_string(str(make_url(url).database)) as saver:
        yield saver


@contextmanager
def postgres_saver(url: str) -> Iterator[PostgresSaver]:
    """Open LangGraph's saver for PostgreSQL, whose tables are there."""
    with PostgresSaver.from_conn_string(plain(url)) as saver:
        yield saver


@asynccontextmanager
async def async_postgres_saver(url: str) -> AsyncIterator[AsyncPostgresSaver]:
    """Open its async twin."""
    async with AsyncPostgresSaver.from_conn_string(plain(url)) as saver:
        yield saver


def sqlite_fault(saver: Any, tick: Callable[[], None]) -> None:
    """Call a function before each statement of LangGraph's saver for SQLite."""
    saver.conn.set_trace_callback(lambda _statement: tick())


def postgres_fault(saver: Any, tick: Callable[[], None]) -> None:
    """Call a function before each statement of LangGraph's saver for PostgreSQL, and before its pipeline ends."""
    for owner, name in ((psycopg.Cursor, "execute"), (psycopg.Cursor, "executemany"), (psycopg.Pipeline, "sync")):
        setattr(owner, name, ticking(getattr(owner, name), tick))
    tick()
    assert saver is not None


def ticking(method: Callable[..., Any], tick: Callable[[], None]) -> Callable[..., Any]:
    """Give a method that calls a function first."""

    def called(*arguments: Any, **options: Any) -> Any:
        tick()
        return method(*arguments, **options)

    return called


def flipped(data: bytes) -> bytes:
    """Change the last byte."""
    return bytes([*data[:-1], data[-1] ^ 1])


def sqlite_corrupt(url: str, thread_id: str, what: str) -> bool:
    """Damage what LangGraph's saver for SQLite has stored: the state is one value with its checkpoint."""
    how, part = what.split()
    table, column = {"checkpoint": ("checkpoints", "checkpoint"), "write": ("writes", "value")}.get(part, ("", ""))
    if not table:
        return False
    connection = sqlite3.connect(str(make_url(url).database))
    with connection:
        newest = f"SELECT max(rowid) FROM {table} WHERE thread_id = ?"  # noqa: S608 - a name from above
        ((place, data),) = connection.execute(
            f"SELECT rowid, {column} FROM {table} WHERE rowid = ({newest})",  # noqa: S608
            [thread_id],
        ).fetchall()
        if how == "drop":
            connection.execute(f"DELETE FROM {table} WHERE rowid = ?", [place])  # noqa: S608
        else:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", [flipped(data), place])  # noqa: S608
    connection.close()
    return True


def postgres_corrupt(url: str, thread_id: str, what: str) -> bool:
    """Damage what LangGraph's saver for PostgreSQL has stored; its checkpoint is JSON, and stays so."""
    how, part = what.split()
    blob = "checkpoint_blobs WHERE thread_id = %(thread)s AND channel = "
    newest = "version = (SELECT max(version) FROM checkpoint_blobs WHERE thread_id = %(thread)s)"
    where = {
        "checkpoint": "checkpoints WHERE checkpoint_id = (SELECT max(checkpoint_id) FROM checkpoints"
        " WHERE thread_id = %(thread)s)",
        "list": f"{blob}'todo' AND {newest}",
        "write": "checkpoint_writes WHERE thread_id = %(thread)s AND channel = 'note'",
    }.get(part)
    if where is None or what == "flip checkpoint":
        return False
    where = where.replace(newest, newest.removesuffix(")") + " AND channel = 'todo')")
    named: dict[str, Any] = {"thread": thread_id}
    with psycopg.connect(plain(url), autocommit=True) as connection:
        if how == "drop":
            return connection.execute(f"DELETE FROM {where}", named).rowcount > 0  # type: ignore[arg-type] # noqa: S608
        (data,) = connection.execute(f"SELECT blob FROM {where}", named).fetchone() or (b"?",)  # type: ignore[arg-type] # noqa: S608
        table, _, rest = where.partition(" ")
        named["flipped"] = flipped(data)
        statement = f"UPDATE {table} SET blob = %(flipped)s {rest}"  # noqa: S608
        return connection.execute(statement, named).rowcount > 0  # type: ignore[arg-type]


@contextmanager
def own_database(url: str) -> Iterator[str]:
    """Make the tables of abreast and a workspace."""
    with Database.open(url) as database:
        database.upgrade()
        make_tables(database)
        add_items(log_of(database), "i1")
    yield url


@contextmanager
def sqlite_contracts(rounds: int) -> Iterator[list[SaverContract]]:
    """Give the contracts of savers on SQLite, and in memory."""
    with tempfile.TemporaryDirectory(prefix="abreast-contract-") as folder, ExitStack() as stack:
        own = stack.enter_context(own_database(f"sqlite:///{Path(folder) / 'own.sqlite'}"))
        official = f"sqlite:///{Path(folder) / 'official.sqlite'}"
        memory = SaverContract("InMemorySaver", partial(nullcontext, InMemorySaver()), nullcontext, rounds=rounds)
        kept = partial(nullcontext, official)
        yield [
            *own_contracts(own, rounds),
            memory,
            SaverContract(
                "SqliteSaver",
                kept,
                sqlite_saver,
                rounds=rounds,
                processes=True,
                fault=sqlite_fault,
                corrupt=sqlite_corrupt,
            ),
            SaverContract("AsyncSqliteSaver", kept, async_sqlite_saver, rounds=rounds, corrupt=sqlite_corrupt),
        ]


@contextmanager
def postgresql_contracts(own_url: str, official: str, rounds: int) -> Iterator[list[SaverContract]]:
    """Give the contracts of savers on PostgreSQL."""
    with own_database(own_url) as own:
        with PostgresSaver.from_conn_string(plain(official)) as saver:
            saver.setup()
        kept = partial(nullcontext, official)
        yield [
            *own_contracts(own, rounds),
            SaverContract(
                "PostgresSaver",
                kept,
                postgres_saver,
                rounds=rounds,
                processes=True,
                fault=postgres_fault,
                corrupt=postgres_corrupt,
            ),
            SaverContract("AsyncPostgresSaver", kept, async_postgres_saver, rounds=rounds, corrupt=postgres_corrupt),
        ]


def own_contracts(url: str, rounds: int) -> list[SaverContract]:
    """Give the contracts of SqlSaver: sync, async, and in bound graphs."""
    store = partial(nullcontext, url)
    names = iter(OWN)
    return [
        SaverContract(next(names), store, sync_saver, rounds=rounds, processes=True, fault=fault, corrupt=corrupt),
        SaverContract(next(names), store, async_saver, rounds=rounds, corrupt=corrupt),
        SaverContract(next(names), store, sync_saver, rounds=rounds, prepare=bound, configurable=BOUND, exclusive=True),
    ]


def table(reports: Sequence[Report]) -> str:
    """Write a table of cases and savers, and below it what is broken."""
    chosen = [result.case for result in reports[0].results]
    wide = max(map(len, chosen))
    short = {"passed": "ok", "failed": "BROKEN", "skipped": "-"}
    rows = [
        f"{name:<{wide}} "
        + " ".join(f"{short[report.results[place].outcome]:<{len(report.saver)}}" for report in reports)
        for place, name in enumerate(chosen)
    ]
    broken = [f"{report.saver}: {result.case}: {result.detail}" for report in reports for result in report.failed]
    told = [f"{report.saver}: {result.case}: {result.detail}" for report in reports for result in report.passed]
    counted = [line for line in told if not line.endswith(": ")]
    head = f"{'':<{wide}} {' '.join(report.saver for report in reports)}"
    return "\n".join([head, *rows, "", *broken, "", *counted])


def run(contracts: Sequence[SaverContract], chosen: Sequence[Case] | None = None) -> int:
    """Run contracts, print their table, and count the cases that SqlSaver breaks."""
    reports = [contract.report(chosen) for contract in contracts]
    print(table(reports), flush=True)
    return sum(len(report.failed) for report in reports if report.saver.startswith(OWN[0]))


def over_slow_lines(own: str, official: str, rounds: int) -> int:
    """Run the races with so many seconds more for each message to the server."""
    wrong = 0
    chosen = [case for case in cases("races") if case.name in RACES]
    for delay in DELAYS:
        count = max(2, math.ceil(rounds / (1 + 200 * delay)))
        print(f"\n-- with {delay * 1000:.0f} ms more, {count} rounds")
        with proxy_to(own, delay) as ours, proxy_to(official, delay) as theirs:
            store = partial(nullcontext, theirs.url(official))
            contracts = [
                *own_contracts(ours.url(own), count),
                SaverContract("PostgresSaver", store, postgres_saver, rounds=count),
                SaverContract("AsyncPostgresSaver", store, async_postgres_saver, rounds=count),
            ]
            wrong += run(contracts, chosen)
    return wrong


def throughput(own: str, official: str, delay: float) -> float:
    """Print how many puts a second eight threads make on one saver with eight connections; gives the ratio."""
    with proxy_to(own, delay) as ours, proxy_to(official, delay) as theirs:
        with pooled_sql_saver(ours.url(own)) as saver:
            mine = told_throughput("SqlSaver", saver)
        with pooled_postgres_saver(theirs.url(official)) as saver:
            other = told_throughput("PostgresSaver", saver)
    print(f"SqlSaver makes {mine / other:.1f} times as many puts as PostgresSaver")
    return mine / other


def told_throughput(name: str, saver: Any) -> float:
    """Print the puts a second of one thread and of eight; gives the latter."""
    puts_a_second(saver, POOL)
    one, eight = puts_a_second(saver, 1), puts_a_second(saver, POOL)
    print(f"{name}: {one:.0f} puts a second with one thread, {eight:.0f} with {POOL} ({eight / one:.1f} times)")
    return eight


def on_eight_connections(own: str, official: str) -> int:
    """Compare eight threads on eight connections over lines without and with delay; counts a missed target."""
    for delay in (0, DELAY):
        print(f"\n-- {POOL} threads on {POOL} connections, {delay * 1000:.0f} ms more for each message")
        ratio = throughput(own, official, delay)
    missed = ratio < TARGET
    print(f"target with {DELAY * 1000:.0f} ms: {TARGET:.0f} times{' MISSED' if missed else ''}")
    return missed


@contextmanager
def pooled_sql_saver(url: str) -> Iterator[SqlSaver]:
    """Open SqlSaver on a pool of eight connections."""
    with Database.open(url, pool_size=POOL, max_overflow=0) as database:
        yield SqlSaver(database)


@contextmanager
def pooled_postgres_saver(url: str) -> Iterator[PostgresSaver]:
    """Open LangGraph's saver on a pool of eight connections."""
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    with ConnectionPool(plain(url), min_size=POOL, max_size=POOL, kwargs=options) as pool:
        yield PostgresSaver(cast("Any", pool))


def puts_a_second(saver: Any, threads: int) -> float:
    """Store checkpoints in so many threads, each with a conversation of its own."""
    begin = time.perf_counter()
    ends = together(*[partial(put_some, saver) for _ in range(threads)])
    seconds = time.perf_counter() - begin
    failed = [end for end in ends if isinstance(end, Exception)]
    if failed:
        raise failed[0]
    return threads * PUTS / seconds


def put_some(saver: Any) -> None:
    """Store the checkpoints of a new conversation one after the other, as a run with work left does."""
    config: Any = {"configurable": {"thread_id": str(uuid4()), "checkpoint_ns": ""}}
    version = None
    for number in range(PUTS):
        version = saver.get_next_version(version, None)
        values = {"note": f"note {number} " * 20, BRANCH: None}
        versions = dict.fromkeys(values, version)
        made = {**empty_checkpoint(), "channel_values": values, "channel_versions": versions}
        config = saver.put(config, made, {"source": "loop", "step": number, "parents": {}}, versions)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every case with every saver; 0 when SqlSaver broke none."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks contract", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} rounds of each race instead of {ROUNDS}")
    rounds = QUICK if parser.parse_args(arguments).quick else ROUNDS
    assert children.CONTEXT  # sets what the processes of a case are forked from
    print(f"== contract on SQLite, {rounds} rounds")
    with sqlite_contracts(rounds) as contracts:
        wrong = run(contracts)
    for kind in POSTGRESQL:
        with postgresql_url(kind) as own, postgresql_url(kind) as official:
            if own is None or official is None:
                continue
            print(f"\n== contract on {kind}, {rounds} rounds")
            with postgresql_contracts(own, official, rounds) as contracts:
                wrong += run(contracts)
            wrong += on_eight_connections(own, official)
            # What a slow line does to a race does not depend on the server's version.
            wrong += over_slow_lines(own, official, rounds) if kind == next(iter(POSTGRESQL)) else 0
    return wrong


if __name__ == "__main__":
    sys.exit(main())
