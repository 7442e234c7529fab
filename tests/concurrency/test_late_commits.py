"""I2 and I4 where transactions stay open: nobody waits for them, and nothing of theirs is missed."""

import asyncio
import contextlib
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import create_engine, insert, text
from sqlalchemy.orm import Session

from abreast import Database
from abreast.errors import AbreastError, DatabaseBusy, DatabaseUnavailable, StaleWrite, WriteRefused
from tests.concurrency.backends import ON_POSTGRESQL, ON_SQLITE
from tests.concurrency.product import ITEM, USER, W, add_items, log_of, stored_revisions
from tests.concurrency.watching import gate_before_commit, until_somebody_waits

LOCK_TIMEOUT = 0.2


def item_ids(batch):
    """Give the rows that a batch speaks of, in order."""
    return [line.entity_id for line in batch.lines]


def delivered(log, thread_id="t1", workspace_id=W):
    """Read, confirm, and give the rows that were told of."""
    batch = log.read_batch(workspace_id, thread_id)
    if batch.event_count:
        log.confirm(batch)
    return item_ids(batch)


def revisions(log, workspace_id=W):
    """Give the rows of the log in order, with their revisions."""
    return [(event.entity_id, event.revision) for event in log.changes(workspace_id)]


def record(log, caller, item_id, workspace_id=W):
    """Insert an item in a caller's transaction."""
    with log.write(workspace_id, actor=USER, within=caller) as write:
        write.insert(ITEM, {"id": item_id, "title": item_id})


@ON_POSTGRESQL
@pytest.mark.parametrize("kind", ["connection", "session"])
def test_w20_late_commit(log, application, kind):
    """An open transaction keeps nobody waiting; committed after another it is numbered after it. I2 I4"""
    add_items(log, "first")
    log.open_thread(W, "t1")
    opened = application.connect() if kind == "connection" else Session(application)
    with opened as caller:
        record(log, caller, "late")
        add_items(log, "quick")
        assert ["quick"] == delivered(log)
        assert [] == delivered(log)
        caller.commit()
    add_items(log, "last")
    assert ["late", "last"] == delivered(log)
    assert [("first", 1), ("quick", 2), ("late", 3), ("last", 4)] == revisions(log)


@ON_SQLITE
def test_w20_late_commit_among_sqlites_writers(log, application):
    """One of SQLite's writers waits for the other, a reader for neither; both are delivered in order. I2 I4"""
    add_items(log, "first")
    log.open_thread(W, "t1")
    with ThreadPoolExecutor(1) as threads, application.connect() as caller:
        record(log, caller, "late")
        waiting = threads.submit(add_items, log, "quick")
        assert [] == delivered(log)
        assert not waiting.done()
        caller.commit()
        waiting.result()
    assert ["late", "quick"] == delivered(log)
    assert [("first", 1), ("late", 2), ("quick", 3)] == revisions(log)


@ON_POSTGRESQL
def test_w20_numbered_and_not_committed(log, open_database, application):
    """A write that has its number and commits late lets the numbering of others wait, not their commits. I2 I4"""
    log.open_workspace(W)
    log.open_thread(W, "t1")
    slow = log_of(open_database())
    slow.open_workspace(W)
    with ThreadPoolExecutor(3) as threads, gate_before_commit(slow.database._engines.sync()) as gate:
        first = threads.submit(add_items, slow, "numbered")
        assert gate.reached.wait(30)
        with log.write(W, actor=USER, number="later") as write:
            write.insert(ITEM, {"id": "later", "title": "committed while it waits"})
        second = threads.submit(add_items, log, "now")
        until_somebody_waits(application)
        reading = threads.submit(delivered, log)
        assert [None] == stored_revisions(application)
        assert not second.done()
        gate.opened.set()
        first.result()
        second.result()
        told = reading.result() + delivered(log)
    assert ["numbered", "later", "now"] == told
    assert [("numbered", 1), ("later", 2), ("now", 3)] == revisions(log)


@ON_POSTGRESQL
def test_w21_commit_later_than_every_time_out(open_database, application):
    """A transaction that outlives all time-outs is delivered after its commit; its age skips nothing. I2 I4"""
    log = log_of(open_database(lock_timeout=LOCK_TIMEOUT))
    add_items(log, "first")
    log.open_thread(W, "t1")
    with application.connect() as caller:
        record(log, caller, "late")
        for place in range(3):
            time.sleep(LOCK_TIMEOUT)
            add_items(log, f"quick{place}")
            assert [f"quick{place}"] == delivered(log)
        caller.commit()
    assert ["late"] == delivered(log)
    assert ("late", 5) == revisions(log)[-1]


@ON_SQLITE
def test_w21_commit_later_than_every_time_out_of_sqlite(open_database, application):
    """Who writes meanwhile is told that the file is locked; what was committed late is delivered. I2 I4"""
    log = log_of(open_database(lock_timeout=LOCK_TIMEOUT))
    add_items(log, "first")
    log.open_thread(W, "t1")
    with application.connect() as caller:
        record(log, caller, "late")
        with pytest.raises(DatabaseUnavailable, match="SQLITE_BUSY"):
            add_items(log, "quick")
        assert [] == delivered(log)
        caller.commit()
    add_items(log, "quick")
    assert ["late", "quick"] == delivered(log)
    assert [("first", 1), ("late", 2), ("quick", 3)] == revisions(log)


def test_w23_refused_writes_beside_others(log, application):
    """While others write, a hundred rollbacks, conflicts and violations leave no gap and stall no reader. I2"""
    chance = random.Random(23)
    with log.write(W, actor=USER) as write:
        write.insert(ITEM, {"id": "taken", "code": "7", "title": "as made"})
    log.open_thread(W, "t1")

    def conflict():
        with log.write(W, actor=USER) as write:
            write.insert(ITEM, {"id": "lost", "title": "lost"})
            write.update(ITEM, "taken", {"title": "lost"}, expected_version=7)

    def violation():
        with log.write(W, actor=USER) as write:
            write.insert(ITEM, {"id": "lost", "title": "lost"})
            write.insert(ITEM, {"id": "lost too", "code": "7"})

    def rollback():
        with application.connect() as caller:
            record(log, caller, "lost")
            caller.rollback()
        raise AbreastError

    def savepoint():
        with application.begin() as caller:
            with caller.begin_nested() as nested:
                record(log, caller, "lost")
                nested.rollback()
            caller.execute(insert(ITEM).values(id="x", workspace_id="other", version=1))
            caller.execute(text("DELETE FROM item WHERE id = 'x'"))
        raise AbreastError

    def refused(place):
        with pytest.raises((AbreastError, StaleWrite, WriteRefused)):
            chance.choice([conflict, violation, rollback, savepoint])()
        return place

    def good(place):
        add_items(log, f"good{place}")

    told = []
    with ThreadPoolExecutor(2) as threads:
        others = [threads.submit(good, place) for place in range(25)]
        for place in range(100):
            refused(place)
            told += delivered(log) if place % 5 == 0 else []
        for other in others:
            other.result()
    told += delivered(log)
    assert {f"good{place}" for place in range(25)} == set(told)
    assert len(told) == 25
    assert list(range(1, 27)) == [revision for _, revision in revisions(log)]


@pytest.fixture
def prepared(application):
    """Give a function that leaves a transaction prepared; it is rolled back at the end if it still is there."""
    names = []

    def prepare(log, item_id):
        with application.connect() as caller:
            transaction = caller.begin_twophase(f"prepared {item_id}")
            record(log, caller, item_id)
            transaction.prepare()
            names.append(transaction.xid)
            # The server keeps the transaction; the session that began it may go.
            caller.invalidate()
        return names[-1]

    def finish(name, how):
        with application.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"{how} PREPARED '{name}'"))
        names.remove(name)

    prepare.finish = finish
    yield prepare
    for name in names:
        finish(name, "ROLLBACK")


@ON_POSTGRESQL
def test_w24_idle_transactions(open_database, application, empty_copy, prepared):
    """Idle ones, elsewhere, in another database or prepared, stall only who writes the same row. I2 I4"""
    log = log_of(open_database(lock_timeout=LOCK_TIMEOUT))
    add_items(log, "row", "other row")
    add_items(log, "far row", workspace_id="w2")
    for workspace_id, thread_id in ((W, "t1"), ("w2", "t2")):
        log.open_thread(workspace_id, thread_id)
    name = prepared(log, "prepared")
    with application.connect() as idle, idle_elsewhere(empty_copy), application.connect() as holder:
        record(log, idle, "idle", workspace_id="w2")
        with log.write(W, actor=USER, within=holder) as write:
            write.update(ITEM, "row", {"title": "held"}, expected_version=1)
        with log.write(W, actor=USER) as write:
            write.update(ITEM, "other row", {"title": "free"}, expected_version=1)
        with log.write("w2", actor=USER) as write:
            write.update(ITEM, "far row", {"title": "free"}, expected_version=1)
        assert ["other row"] == delivered(log)
        assert ["far row"] == delivered(log, "t2", "w2")
        with pytest.raises(DatabaseUnavailable, match="55P03"), log.write(W, actor=USER) as write:
            write.update(ITEM, "row", {"title": "waited"}, expected_version=1)
        idle.commit()
        holder.commit()
    prepared.finish(name, "COMMIT")
    assert ["idle"] == delivered(log, "t2", "w2")
    assert ["prepared", "row"] == sorted(delivered(log))


@pytest.mark.parametrize("driver", ["psycopg", "psycopg async", "asyncpg"])
@ON_POSTGRESQL
def test_w24_names_who_holds_the_row(open_database, product_url, application, driver):
    """Who waits in vain for a row is told which session holds it."""
    log = log_of(open_database(lock_timeout=LOCK_TIMEOUT))
    add_items(log, "row")

    async def wait_in_vain():
        url = product_url.replace("psycopg", driver.partition(" ")[0])
        async with Database.open(url, lock_timeout=LOCK_TIMEOUT) as database:
            async with log_of(database).awrite(W, actor=USER) as write:
                write.update(ITEM, "row", {"title": "waited"}, expected_version=1)

    with application.connect() as holder:
        with log.write(W, actor=USER, within=holder) as write:
            write.update(ITEM, "row", {"title": "held"}, expected_version=1)
        session = holder.execute(text("SELECT pg_backend_pid()")).scalar_one()
        with pytest.raises(DatabaseBusy, match=rf"held by session {session} \(idle in transaction for \d+ s\)"):
            if driver == "psycopg":
                with log.write(W, actor=USER) as write:
                    write.update(ITEM, "row", {"title": "waited"}, expected_version=1)
            else:
                asyncio.run(wait_in_vain())


@contextlib.contextmanager
def idle_elsewhere(url):
    """Leave a write transaction open in another database of the server."""
    engine = create_engine(url)
    with engine.connect() as connection:
        connection.execute(text("INSERT INTO abreast_workspace VALUES ('idle', 'e', 0, 0)"))
        yield
    engine.dispose()
