"""One run of a thread at a time, over all processes: leases, fences, the line, and what kills them."""

import asyncio
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select, text

from abreast import Database, WorkspaceLog
from abreast.errors import DatabaseUnavailable, LeaseLost, RunStopped, ThreadBusy
from abreast.operations import leases, runs, waiters
from abreast.operations.leases import Lease, Renewal
from abreast.operations.runs import RunKey
from abreast.runs import Run, Runs, signals, steps
from abreast.runs.heartbeat import heartbeat_of
from abreast.runs.steps import Entry, Steps
from tests.concurrency.backends import ON_POSTGRESQL, ON_SQLITE
from tests.concurrency.children import Child, barrier, results, together
from tests.concurrency.product import ITEM, USER, W, add_items, log_of
from tests.concurrency.watching import until

T = "t1"
SHORT = 1.0
"""Shortest time limit of a lease."""


@pytest.fixture
def log(database: Database) -> WorkspaceLog:
    """Give a log with one row, and a thread that was opened before the row was changed."""
    made = log_of(database)
    add_items(made, "i1")
    made.open_thread(W, T)
    write(made, "changed")
    return made


def write(log: WorkspaceLog, title: str, lease: Lease | None = None) -> None:
    """Change the row."""
    with log.write(W, actor=USER, lease=lease) as block:
        block.update(ITEM, "i1", {"title": title}, expected_version="any")


def given(log: WorkspaceLog, run: Run) -> None:
    """Let a run be given everything and nominate it."""
    run.batches[""] = batch = log.read_batch(W, T)
    run.nominated[""] = batch.cursor_after


def cursor(log: WorkspaceLog) -> int:
    """Say where the thread stands."""
    return log.open_thread(W, T).revision


def title(log: WorkspaceLog) -> str:
    """Give the row's title."""
    return log.snapshot(W).entities[0].rows[0].values["title"]


def outcomes(log: WorkspaceLog) -> list[str]:
    """List how the thread's runs ended, oldest first."""
    tables = log.database.tables
    wanted = select(runs.outcome_of(tables)).where(tables.run.c.thread_id == T).order_by(tables.run.c.fence)
    return log.database.read(lambda connection: list(connection.scalars(wanted)))


def standing(log: WorkspaceLog) -> leases.Held | None:
    """Read the thread's lease."""
    return log.database.read(leases.held, log.database.tables, [T]).get(T)


def line(log: WorkspaceLog) -> list[str]:
    """List the runs in the line."""
    waiter = log.database.tables.thread_waiter
    return log.database.read(lambda c: list(c.scalars(select(waiter.c.run_id).order_by(waiter.c.ticket))))


def refused(call: Any, *arguments: Any, **options: Any) -> str:
    """Name the error of a call; empty if it takes effect."""
    try:
        call(*arguments, **options)
    except Exception as error:
        return type(error).__name__
    return ""


# --- what processes do ---------------------------------------------------------------------------------------------


def stands_still(url: str, title_of_late_write: str) -> list[str]:
    """Take the lease, be given everything, stand still; then do what a run does."""
    log = log_of(Database.open(url))
    held = Runs(log, lease_seconds=SHORT)
    run = held.enter(T, W)
    given(log, run)
    with between_beats(log):
        os.kill(os.getpid(), signal.SIGSTOP)
    return [refused(write, log, title_of_late_write, run.lease), refused(held.leave, run, "succeeded")]


@contextlib.contextmanager
def between_beats(log: WorkspaceLog) -> Iterator[None]:
    """Let no beat begin: on SQLite one that stands still in its middle has the whole file."""
    beats, lock = heartbeat_of(log.database), threading.Lock()
    real = beats._renew

    def renew(*arguments: Any) -> None:
        with lock:
            real(*arguments)

    beats._renew = renew
    time.sleep(0.2)
    with lock if log.database.name.startswith("sqlite") else contextlib.nullcontext():
        yield


def stands_still_in_a_tool(url: str) -> str:
    """Take the lease and stand still in the tool's transaction, after its row and before the fence."""
    log = log_of(Database.open(url))
    run = Runs(log, lease_seconds=SHORT).enter(T, W)
    real = leases.check_fence

    def check(*arguments: Any) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)
        real(*arguments)

    leases.check_fence = check
    return refused(write, log, "late", run.lease)


def stands_still_in_its_last_transaction(url: str) -> str:
    """Take the lease and stand still where everything is confirmed and the lease is not given back."""
    log = log_of(Database.open(url))
    held = Runs(log, lease_seconds=SHORT)
    run = held.enter(T, W)
    given(log, run)
    real = leases.release

    def release(*arguments: Any) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)
        real(*arguments)

    leases.release = release
    return refused(held.leave, run, "succeeded")


def holds(url: str, seconds: float, lease_seconds: float = SHORT, on_busy: Any = "queue") -> tuple[float, float]:
    """Run for a time, and say from when to when by the clock that all processes share."""
    held = Runs(log_of(Database.open(url)), lease_seconds=lease_seconds, on_busy=on_busy, busy_timeout=60)
    run = held.enter(T, W)
    began = time.monotonic()
    time.sleep(seconds)
    ended = time.monotonic()
    held.leave(run, "succeeded")
    return began, ended


def starts_at(url: str, meet: Any) -> str:
    """Begin a run together with others, and stay in it until all have tried."""
    held = Runs(log_of(Database.open(url)))
    meet.wait()
    try:
        run = held.enter(T, W)
    except ThreadBusy:
        meet.wait()
        return "busy"
    meet.wait()
    held.leave(run, "succeeded")
    return "ran"


def works_until_stopped(url: str, lease_seconds: float) -> str:
    """Run, step by step, until somebody asks to stop."""
    held = Runs(log_of(Database.open(url)), lease_seconds=lease_seconds)
    run = held.enter(T, W)
    return _leaves_when_stopped(held, run)


def _leaves_when_stopped(held: Runs, run: Run) -> str:
    try:
        while True:
            run.check()
            time.sleep(0.01)
    except RunStopped as error:
        held.leave(run, "stopped")
        return type(error).__name__


def with_another_clock(url: str, hours: float) -> str:
    """Try to take the lease with a clock that is wrong by hours."""
    now, now_ns, monotonic = time.time, time.time_ns, time.monotonic
    time.time = lambda: now() + hours * 3600
    time.time_ns = lambda: now_ns() + int(hours * 3600 * 1e9)
    time.monotonic = lambda: monotonic() + hours * 3600
    return refused(Runs(log_of(Database.open(url)), lease_seconds=SHORT).enter, T, W)


def forks_in_a_run(url: str) -> list[Any]:
    """Fork in the middle of a run; the child ends the run as an exception on its way out would."""
    log = log_of(Database.open(url))
    held = Runs(log, lease_seconds=SHORT)
    run = held.enter(T, W)
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            held.leave(run, "succeeded")
        with contextlib.suppress(BaseException):
            own = held.enter("t2", W)
            time.sleep(2 * SHORT)
            held.leave(own, "succeeded")
            os._exit(7)
        os._exit(8)
    _, status = os.waitpid(child, 0)
    found = standing(log)
    assert found is not None
    held.leave(run, "succeeded")
    return [found.valid, found.fence, os.waitstatus_to_exitcode(status)]


@contextlib.contextmanager
def stopped(*call: Any) -> Iterator[Child]:
    """Run a function that stops itself in a process; give it when it stands still."""
    with together(call) as (child,):
        pid = child.process.pid
        until(lambda: _state(pid) == "T")
        yield child


def _state(pid: int | None) -> str:
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123 - a pseudo-file
        return file.read().rpartition(")")[2].split()[0]


def wake(child: Child) -> Any:
    """Let a process go on, and give its result."""
    assert child.process.pid is not None
    os.kill(child.process.pid, signal.SIGCONT)
    return child.result()


# --- I8: a later run has loaded the thread -------------------------------------------------------------------------


def test_woken_run_takes_no_effect(log: WorkspaceLog, product_url: str):
    """C01 I8: stopped past the limit, taken over, woken: no tool write, no cursor."""
    with stopped(stands_still, product_url, "late") as child:
        later = Runs(log, on_busy="queue", busy_timeout=20)
        run = later.enter(T, W)
        assert 2 == run.lease.fence
        assert ["LeaseLost", "LeaseLost"] == wake(child)
        assert ("changed", 1) == (title(log), cursor(log))
        given(log, run)
        write(log, "by the later run", run.lease)
        later.leave(run, "succeeded")
    assert ("by the later run", 2, ["lost", "succeeded"]) == (title(log), cursor(log), outcomes(log))


def test_woken_after_the_later_run(log: WorkspaceLog, product_url: str):
    """C08 I8: the same when the later run has ended already."""
    with stopped(stands_still, product_url, "late") as child:
        later = Runs(log, on_busy="queue", busy_timeout=20)
        later.leave(later.enter(T, W), "succeeded")
        assert ["LeaseLost", "LeaseLost"] == wake(child)
    assert ("changed", 1, ["lost", "succeeded"]) == (title(log), cursor(log), outcomes(log))


def test_nobody_took_over(log: WorkspaceLog, product_url: str):
    """C01b I8: a lease that ran out and was not taken over invalidates nothing."""
    with stopped(stands_still, product_url, "late") as child:
        until(lambda: not standing(log).valid)
        assert ["", ""] == wake(child)
    assert ("late", 2, ["succeeded"]) == (title(log), cursor(log), outcomes(log))


@ON_POSTGRESQL
def test_stopped_in_the_tools_transaction(log: WorkspaceLog, product_url: str):
    """C01a I8: a process that stands still in its tool's transaction does not block the take-over."""
    with stopped(stands_still_in_a_tool, product_url) as child:
        until(lambda: not standing(log).valid)
        began = time.monotonic()
        later = Runs(log)
        run = later.enter(T, W)
        assert time.monotonic() - began < 1
        assert "LeaseLost" == wake(child)
        later.leave(run, "succeeded")
    assert "changed" == title(log)


@ON_POSTGRESQL
def test_stopped_in_its_last_transaction(log: WorkspaceLog, product_url: str):
    """I8: nor does one that stands still between its confirmation and giving the lease back."""
    with stopped(stands_still_in_its_last_transaction, product_url) as child:
        until(lambda: not standing(log).valid)
        later = Runs(log)
        run = later.enter(T, W)
        assert "LeaseLost" == wake(child)
        assert 1 == cursor(log)
        later.leave(run, "succeeded")
    assert ["lost", "succeeded"] == outcomes(log)


def test_run_is_told(log: WorkspaceLog):
    """I8: a run whose thread was taken over learns it from the heartbeat, at its next check."""
    held = Runs(log, lease_seconds=SHORT)
    run = held.enter(T, W)
    log.database.run(lambda c: c.execute(text("UPDATE abreast_thread_lease SET fence = 2, run_id = 'later'")))
    until(lambda: refused(run.check) == "LeaseLost")
    with pytest.raises(LeaseLost):
        held.leave(run, "succeeded")


def test_late_tool_of_an_ended_run(log: WorkspaceLog):
    """C08: what a tool writes whose run was cancelled and has ended is refused; ending it again changes nothing."""
    held = Runs(log)
    run = held.enter(T, W)
    given(log, run)
    held.leave(run, "stopped")
    assert "LeaseLost" == refused(write, log, "late", run.lease)
    held.leave(run, "succeeded")
    assert (["stopped"], "changed") == (outcomes(log), title(log))


# --- one at a time -------------------------------------------------------------------------------------------------


def test_one_of_two_starts(log: WorkspaceLog, product_url: str):
    """C02 C03: of runs that start at once exactly one gets the thread."""
    for _ in range(4):
        meet = barrier(3)
        assert ["busy", "busy", "ran"] == sorted(results(*[(starts_at, product_url, meet)] * 3))
    assert ["succeeded"] * 4 == outcomes(log)


def test_killed_holder(log: WorkspaceLog, product_url: str):
    """C03 C31: the thread of a killed process is free when its lease has run out; its run is lost from then on."""
    with together((holds, product_url, 60.0)) as (child,):
        until(lambda: standing(log) is not None and standing(log).valid)
        with pytest.raises(ThreadBusy):
            Runs(log).enter(T, W)
        child.kill()
    began = time.monotonic()
    later = Runs(log, on_busy="queue", busy_timeout=20)
    run = later.enter(T, W)
    assert time.monotonic() - began < SHORT + 2
    assert ["lost", "running"] == outcomes(log)
    assert 1 == log.database.read(runs.past_of, log.database.tables, T).failures
    later.leave(run, "succeeded")
    assert 0 == log.database.read(runs.past_of, log.database.tables, T).failures


def test_c32_ownerless_run_is_stopped(log: WorkspaceLog, product_url: str):
    """C32: stopping a run whose owner is dead frees the thread at once, and its late effects are refused."""
    with stopped(stands_still, product_url, "late") as child:
        until(lambda: not standing(log).valid)
        assert Runs(log).stop(T, "an operator") is True
        assert (["lost"], "") == (outcomes(log), standing(log).run_id)
        assert ["LeaseLost", "LeaseLost"] == wake(child)
    assert Runs(log).stop(T, "an operator") is False
    scheduled = Runs(log)
    scheduled.leave(scheduled.enter(T, W), "succeeded")
    assert ["lost", "succeeded"] == outcomes(log)


def test_long_tool_keeps_its_lease(log: WorkspaceLog, product_url: str):
    """C10: a tool of three times the limit is not run again, as the heartbeat renews; the next one comes after it."""
    with together((holds, product_url, 3 * SHORT)) as (child,):
        until(lambda: standing(log) is not None and standing(log).valid)
        later = Runs(log, on_busy="queue", busy_timeout=30)
        run = later.enter(T, W)
        began = time.monotonic()
        assert child.result()[1] <= began
        later.leave(run, "succeeded")
    assert ["succeeded"] * 2 == outcomes(log)


@pytest.mark.parametrize("hours", [1, -1])
def test_clocks_do_not_count(log: WorkspaceLog, product_url: str, hours: int):
    """C01: a process whose clock is wrong by an hour neither takes a valid lease nor fails to take one that ran out."""
    held = Runs(log, lease_seconds=SHORT)
    run = held.enter(T, W)
    assert ["ThreadBusy"] == results((with_another_clock, product_url, hours))
    heartbeat_of(log.database).remove(run)
    until(lambda: not standing(log).valid)
    assert [""] == results((with_another_clock, product_url, hours))


# --- the line ------------------------------------------------------------------------------------------------------


def test_first_come_first_served(log: WorkspaceLog, product_url: str):
    """C07: whoever came first gets the thread first, over all processes, and never two at once."""
    held = Runs(log)
    run = held.enter(T, W)
    children = []
    with contextlib.ExitStack() as stack:
        for place in range(4):
            children.append(stack.enter_context(together((holds, product_url, 0.1)))[0])
            until(lambda place=place: len(line(log)) == place + 1)
        with pytest.raises(ThreadBusy):
            Runs(log).enter(T, W)
        held.leave(run, "succeeded")
        spans = [child.result() for child in children]
    assert sorted(spans) == spans
    assert all(ended <= began for (_, ended), (began, _) in itertools.pairwise(spans))
    assert [] == line(log)


def test_nobody_passes_the_line(log: WorkspaceLog):
    """C07: while somebody waits, a run that would rather be refused than wait is refused, though the lease is free."""
    steps_of = Steps(log, 30_000_000)
    log.database.run(steps_of.line_up, Entry(RunKey(T, "first"), W, None, interrupts=False))
    with pytest.raises(ThreadBusy, match="first in line"):
        Runs(log).enter(T, W)


def test_killed_waiter(log: WorkspaceLog, product_url: str, monkeypatch: pytest.MonkeyPatch):
    """C07: one that is killed in the line holds those behind it up for no longer than its place is kept."""
    monkeypatch.setattr(steps, "PLACE_MICROS", 2_000_000)
    held = Runs(log)
    run = held.enter(T, W)
    with together((waits_shortly, product_url)) as (child,):
        until(lambda: len(line(log)) == 1)
        child.kill()
    behind = Runs(log, on_busy="queue", busy_timeout=20)
    done: list[Run] = []
    waiting = threading.Thread(target=lambda: done.append(behind.enter(T, W)))
    waiting.start()
    until(lambda: len(line(log)) == 2 or done)
    began = time.monotonic()
    held.leave(run, "succeeded")
    waiting.join()
    assert time.monotonic() - began < 4
    behind.leave(done[0], "succeeded")
    assert [] == line(log)


def waits_shortly(url: str) -> None:
    """Wait in the line, with a place that is kept for two seconds."""
    steps.PLACE_MICROS = 2_000_000
    Runs(log_of(Database.open(url)), on_busy="queue").enter(T, W)


def test_waiter_that_gives_up(log: WorkspaceLog):
    """C03: after `busy_timeout` the run is refused, and its place is free at once."""
    held = Runs(log)
    run = held.enter(T, W)
    with pytest.raises(ThreadBusy, match=run.key.run_id):
        Runs(log, on_busy="queue", busy_timeout=0.3).enter(T, W)
    assert [] == line(log)
    held.leave(run, "succeeded")


async def test_cancelled_waiter(log: WorkspaceLog):
    """C03: one that is cancelled in the line leaves it, and one that is cancelled while it begins holds nothing."""
    held = Runs(log, on_busy="queue")
    run = await held.aenter(T, W)
    waiting = asyncio.ensure_future(held.aenter(T, W))
    await asyncio.to_thread(until, lambda: line(log))
    waiting.cancel()
    await asyncio.wait([waiting])
    assert [] == line(log)
    await held.aleave(run, "succeeded")
    for ticks in range(30):
        beginning = asyncio.ensure_future(held.aenter(T, W))
        for _ in range(ticks):
            await asyncio.sleep(0.0005)
        beginning.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await held.aleave(await beginning, "succeeded")
        assert "" == standing(log).run_id
    await log.database._engines.aclose()


# --- a newer message interrupts --------------------------------------------------------------------------------------


def test_interrupt_is_seen_at_a_check(log: WorkspaceLog, product_url: str):
    """C08: the running run is asked through its heartbeat, in another process, and ends at its next check."""
    with together((works_until_stopped, product_url, 30.0)) as (child,):
        until(lambda: standing(log) is not None and standing(log).valid)
        newer = Runs(log, on_busy="interrupt", busy_timeout=20)
        began = time.monotonic()
        newer.leave(newer.enter(T, W), "succeeded")
        assert time.monotonic() - began < 8
        assert "RunStopped" == child.result()
    assert ["stopped", "succeeded"] == outcomes(log)


def test_newest_interrupts_all(log: WorkspaceLog):
    """C08: one that interrupted is interrupted by the next one."""
    newer = Runs(log, on_busy="interrupt", busy_timeout=20)
    first = newer.enter(T, W)
    second: list[Run] = []
    waiting = threading.Thread(target=lambda: second.append(newer.enter(T, W)))
    waiting.start()
    assert "RunStopped" == _leaves_when_stopped(newer, first)
    waiting.join()
    third = threading.Thread(target=lambda: newer.leave(newer.enter(T, W), "succeeded"))
    third.start()
    assert "RunStopped" == _leaves_when_stopped(newer, second[0])
    third.join()
    assert ["stopped", "stopped", "succeeded"] == outcomes(log)


async def test_task_that_reaches_no_check(log: WorkspaceLog, monkeypatch: pytest.MonkeyPatch):
    """C08: a run on an event loop that reaches no check is cancelled, and says why."""
    monkeypatch.setattr(signals, "GRACE_SECONDS", 0.2)
    held = Runs(log, lease_seconds=SHORT)

    async def work() -> str:
        run = await held.aenter(T, W)
        reason: BaseException | None = None
        try:
            with run.signals.inside():
                await asyncio.sleep(60)
        except asyncio.CancelledError as error:
            reason = run.signals.explain(error)
        await held.aleave(run, "stopped")
        return str(reason)

    working = asyncio.ensure_future(work())
    newer = Runs(log, on_busy="interrupt", busy_timeout=20)
    await asyncio.to_thread(until, lambda: standing(log) is not None and standing(log).valid)
    run = await newer.aenter(T, W)
    assert "was stopped on request" in await working
    await newer.aleave(run, "succeeded")
    await log.database._engines.aclose()


def test_suspended_run_is_let_go(log: WorkspaceLog, monkeypatch: pytest.MonkeyPatch):
    """C08: one whose consumer asks for no further part keeps nobody waiting for longer than its lease."""
    monkeypatch.setattr(signals, "GRACE_SECONDS", 0.2)
    held = Runs(log, lease_seconds=SHORT)
    run = held.enter(T, W)
    newer = Runs(log, on_busy="interrupt", busy_timeout=20)
    with run.signals.paused():
        later = newer.enter(T, W)
    assert 2 == later.lease.fence
    assert "RunStopped" == refused(run.check)
    assert "LeaseLost" == refused(held.leave, run, "succeeded")
    newer.leave(later, "succeeded")


# --- the heartbeat -------------------------------------------------------------------------------------------------


def test_one_thread_for_all_runs(log: WorkspaceLog):
    """All runs of a process and database share one thread, which ends with the last of them."""

    def beating() -> int:
        return sum(thread.name == "abreast-heartbeat" for thread in threading.enumerate())

    until(lambda: beating() == 0)
    one, other = Runs(log, lease_seconds=SHORT), Runs(log)
    begun = [one.enter(T, W), other.enter("t2", W), other.enter("t3", W)]
    assert 1 == beating()
    for held, run in zip((one, other, other), begun, strict=True):
        held.leave(run, "succeeded")
    until(lambda: beating() == 0)


def test_outage(log: WorkspaceLog, monkeypatch: pytest.MonkeyPatch):
    """A database that is away for a while costs no run its lease, unless somebody took it over."""
    beats = heartbeat_of(log.database)
    real, failures = beats._database.run, []

    def away(*arguments: Any) -> Any:
        failures.append(1)
        if len(failures) < 6:
            raise DatabaseUnavailable("db", "away") if len(failures) % 2 else RuntimeError("driver")
        return real(*arguments)

    monkeypatch.setattr(beats._database, "run", away)
    held = Runs(log, lease_seconds=SHORT)
    run = held.enter(T, W)
    until(lambda: len(failures) > 6)
    until(lambda: standing(log).valid)
    run.check()
    held.leave(run, "succeeded")
    assert ["succeeded"] == outcomes(log)


@ON_POSTGRESQL
async def test_async_driver_alone(log: WorkspaceLog, product_url: str):
    """Where the URL names a driver without sync calls, the heartbeat renews all the same."""
    async with Database.open(product_url.replace("+psycopg", "+asyncpg")) as database:
        held = Runs(log_of(database), lease_seconds=SHORT)
        run = await held.aenter(T, W)
        await asyncio.sleep(3 * SHORT)
        assert (await database.aread(leases.held, database.tables, [T]))[T].valid
        run.check()
        await held.aleave(run, "succeeded")
    assert ["succeeded"] == outcomes(log)


def test_run_nobody_holds(log: WorkspaceLog):
    """A run that was dropped without an end is renewed no more."""
    run: Run | None = Runs(log, lease_seconds=SHORT).enter(T, W)
    assert run is not None
    del run
    until(lambda: not standing(log).valid)


def test_fork_in_a_run(log: WorkspaceLog, product_url: str):
    """A forked child neither ends nor renews its parent's run, and can have runs of its own."""
    assert [[True, 1, 7]] == results((forks_in_a_run, product_url))
    assert ["succeeded"] == outcomes(log)


AT_EXIT = """
import sys
from abreast import Database
from abreast.runs import Runs
from tests.concurrency.product import log_of
run = Runs(log_of(Database.open(sys.argv[1])), lease_seconds=1).enter("t1", "w1")
import time; time.sleep(0.5)
"""


def test_exit_in_a_run(log: WorkspaceLog, product_url: str):
    """An interpreter that exits in the middle of a run says nothing and does not hang."""
    done = subprocess.run(
        [sys.executable, "-c", AT_EXIT, product_url],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    until(lambda: not standing(log).valid)


@ON_SQLITE
def test_many_leases(log: WorkspaceLog):
    """Thousands of leases of one process are renewed in a handful of statements."""
    tables = log.database.tables

    def take(connection: Any) -> None:
        for place in range(1200):
            leases.acquire(connection, tables, f"x{place}", f"r{place}", micros=1)

    log.database.run(take)
    renewals = [Renewal(f"x{place}", f"r{place}", 60_000_000 + place % 2) for place in range(1200)]
    for first in range(0, 1200, leases.MOST_AT_ONCE):
        log.database.run(leases.renew, tables, renewals[first : first + leases.MOST_AT_ONCE])
    lease = tables.thread_lease
    until_when = log.database.read(
        lambda c: list(c.scalars(select(lease.c.expires_at).where(lease.c.thread_id.like("x%"))))
    )
    assert (1200, True) == (len(until_when), min(until_when) > 1_000_000_000_000_000)


# --- commits that nobody heard of ----------------------------------------------------------------------------------


def test_repeated_transactions(log: WorkspaceLog):
    """I8: a transaction whose COMMIT succeeded unheard and that is repeated changes nothing."""
    made, database = Steps(log, 30_000_000), log.database
    entry = Entry(RunKey(T, "r1"), W, None, interrupts=False)
    run, again = database.run(made.begin, entry), database.run(made.begin, entry)
    assert run is not None
    assert again is not None
    assert (1, 1) == (run.lease.fence, again.lease.fence)
    waiting = Entry(RunKey(T, "r2"), W, None, interrupts=False)
    assert database.run(made.line_up, waiting) == database.run(made.line_up, waiting)
    given(log, run)
    for _ in range(2):
        database.run(made.end, run, "succeeded")
    assert (["succeeded"], 2) == (outcomes(log), cursor(log))
    place = waiters.Waiter(T, "r2", 1)
    for _ in range(2):
        begun = database.run(made.begin_in_turn, waiting, place)
        assert begun is not None
        assert 2 == begun.lease.fence
    for _ in range(2):
        database.run(made.withdraw, waiting)
    assert (["succeeded", "stopped"], "", []) == (outcomes(log), standing(log).run_id, line(log))
