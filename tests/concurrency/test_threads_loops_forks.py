"""One Database used from many threads, several event loops, and after a fork."""

import asyncio
import gc
import os
import signal
import traceback
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import make_url

from abreast import Database
from abreast.errors import DatabaseUnavailable
from tests.concurrency import children
from tests.concurrency.backends import ON_ASYNC_DRIVERS
from tests.concurrency.product import ITEM, USER, W, add_items, log_of, stored_revisions

THREADS, TIMES = 16, 6


def test_sixteen_threads(log, application):
    """Threads that use one log at once write, read and confirm as if each had its own. I1 I2 I4"""
    log.open_workspace(W)
    together = Barrier(THREADS, timeout=60)

    def work(thread):
        thread_id = f"t{thread}"
        log.open_thread(W, thread_id)
        together.wait()
        told = []
        for time in range(TIMES):
            add_items(log, f"{thread}.{time}")
            batch = log.read_batch(W, thread_id, limit=1_000)
            log.confirm(batch)
            told += [line.entity_id for line in batch.lines]
        together.wait()
        return told + [line.entity_id for line in log.read_batch(W, thread_id, limit=1_000).lines]

    with ThreadPoolExecutor(THREADS) as threads:
        answers = list(threads.map(work, range(THREADS)))
    assert list(range(1, THREADS * TIMES + 1)) == stored_revisions(application)
    written = [event.entity_id for event in log.changes(W, limit=1_000)]
    assert [written] * THREADS == answers


def test_more_threads_than_connections(open_database):
    """Who gets no connection of the pool in time is told so, and the next call works."""
    log = log_of(open_database(pool_size=1, max_overflow=0, pool_timeout=0.2))
    add_items(log, "row")
    with log.database._engines.sync().connect():
        with pytest.raises(DatabaseUnavailable, match="no connection of the pool became free"):
            add_items(log, "meanwhile")
    add_items(log, "afterwards")
    assert ["row", "afterwards"] == [event.entity_id for event in log.changes(W)]


def test_first_calls_at_once(product_url):
    """A Database that nobody has used yet makes one engine, whoever comes first."""
    together = Barrier(THREADS, timeout=60)
    with Database.open(product_url) as database, ThreadPoolExecutor(THREADS) as threads:

        def first(thread):
            together.wait()
            add_items(log_of(database), f"row {thread}")
            return id(database._engines.sync())

        assert 1 == len(set(threads.map(first, range(THREADS))))


async def in_a_loop(log, item_id, *, close):
    """Write and read by async calls, several at a time."""

    async def write(item_id):
        async with log.awrite(W, actor=USER) as block:
            block.insert(ITEM, {"id": item_id})

    await asyncio.gather(*(write(f"{item_id}.{part}") for part in range(3)))
    snapshot = await log.asnapshot(W)
    if close:
        await log.database.aclose()
    return snapshot.head


@ON_ASYNC_DRIVERS
def test_two_loops_one_after_the_other(product_url, driver):
    """`asyncio.run` twice on one Database works, by each driver."""
    url = make_url(product_url).set(drivername=driver).render_as_string(hide_password=False)
    log = log_of(Database.open(url))
    assert 3 == asyncio.run(in_a_loop(log, "first", close=True))
    assert 6 == asyncio.run(in_a_loop(log, "second", close=True))


@ON_ASYNC_DRIVERS
@pytest.mark.filterwarnings("ignore:.*deleted:ResourceWarning", "ignore:.*unclosed:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*garbage collector:sqlalchemy.exc.SAWarning")
def test_two_loops_without_closing(product_url, driver):
    """So it does where nobody closes; the connections of a loop that has ended go when the next one comes."""
    url = make_url(product_url).set(drivername=driver).render_as_string(hide_password=False)
    log = log_of(Database.open(url))
    assert 3 == asyncio.run(in_a_loop(log, "first", close=False))
    assert 6 == asyncio.run(in_a_loop(log, "second", close=False))
    assert 9 == asyncio.run(in_a_loop(log, "third", close=True))
    gc.collect()
    assert 0 == len(log.database._engines._of_loops)


@ON_ASYNC_DRIVERS
def test_two_loops_at_once(product_url, driver):
    """Loops in several threads, and sync calls beside them, share one Database. I2"""
    url = make_url(product_url).set(drivername=driver).render_as_string(hide_password=False)
    log = log_of(Database.open(url))
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda name: asyncio.run(in_a_loop(log, name, close=True)), ("a", "b", "c")))
    assert 10 <= asyncio.run(in_a_loop(log, "last", close=True))


def forked(work):
    """Do something in a fork of this process, as a preloading web server does; gives whether it succeeded."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(0)
    return pid


def succeeded(pid):
    """Wait for a fork."""
    return os.waitpid(pid, 0)[1] == 0


def use_before_and_after_fork(url):
    """Use a Database, fork three times, and use it in all four processes at once."""
    database = Database.open(url)
    log = log_of(database)
    add_items(log, "before")
    log.open_thread(W, "t1")
    connections = database._engines.sync().pool.checkedin()

    def work(name):
        for time in range(10):
            add_items(log, f"{name}.{time}")
        log.read_batch(W, "t1")
        asyncio.run(in_a_loop(log, f"{name} async", close=True))

    pids = [forked(lambda name=name: work(name)) for name in ("a", "b", "c")]
    work("parent")
    return connections, [succeeded(pid) for pid in pids], log.snapshot(W).head


def test_forked_processes(product_url, application):
    """Parent and forks have connections of their own; nothing is lost or mixed up. I1 I2"""
    child = children.start(use_before_and_after_fork, product_url)
    connections, forks, _ = child.result()
    assert connections > 0
    assert [True] * 3 == forks
    assert list(range(1, 1 + 4 * 13 + 1)) == stored_revisions(application)


def fork_and_leave(url, ready, go_on):
    """Use a Database, fork, and close it here while the fork goes on with it."""
    database = Database.open(url)
    log = log_of(database)
    add_items(log, "before")

    def work():
        add_items(log, "first")
        ready.set()
        go_on.wait(60)
        add_items(log, "second")

    pid = forked(work)
    ready.wait(60)
    asyncio.run(in_a_loop(log, "after", close=True))
    gc.collect()
    go_on.set()
    return succeeded(pid)


def test_parent_that_closes_while_its_fork_goes_on(product_url, application):
    """What a fork writes after its parent has closed the database is there. I1"""
    ready, go_on = children.CONTEXT.Event(), children.CONTEXT.Event()
    assert children.start(fork_and_leave, product_url, ready, go_on).result()
    assert [1, 2, 3, 4, 5, 6] == stored_revisions(application)
