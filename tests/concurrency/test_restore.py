"""I3 and I4 when a database comes back from a backup while conversations remember what came after it."""

import contextlib
import sqlite3

import pytest
from sqlalchemy import make_url

from abreast import Database
from abreast.errors import CursorRefused, ReplicaBehind
from tests.concurrency.product import ITEM, USER, W, log_of

BACKUP, CURSOR, AFTERWARDS = 100, 120, 25


def write_events(log, first, last):
    """Write events until HEAD is `last`: edits of ten rows, ten in a transaction."""
    for start in range(first, last + 1, 10):
        with log.write(W, actor=USER) as write:
            for number in range(start, min(start + 10, last + 1)):
                if number <= 10:
                    write.insert(ITEM, {"id": f"row {number}", "title": f"event {number}"})
                else:
                    row = f"row {number % 10 + 1}"
                    write.update(ITEM, row, {"title": f"event {number}"}, expected_version="any")
    assert last == write.results[-1].revision


@pytest.fixture
def restored(product_url, backend, servers, tmp_path):
    """Give a function that copies the database as it is; what it gives opens the copy."""
    with contextlib.ExitStack() as stack:

        def backup():
            if backend == "sqlite":
                return copy_of_file(make_url(product_url).database, tmp_path / "backup.sqlite")
            server = servers.shared(backend)
            name = server.create_database(make_url(product_url).database)
            stack.callback(server.drop_database, name)
            return server.url(name)

        yield backup


def copy_of_file(path, target):
    """Copy a SQLite database that may be in use."""
    source, copy = sqlite3.connect(path), sqlite3.connect(target)
    with copy:
        source.backup(copy)
    source.close()
    copy.close()
    return f"sqlite:///{target}"


@pytest.fixture
def accident(product_url, restored):
    """Give the log of a database restored from r100, and the cursor of a checkpoint at r120."""
    with Database.open(product_url) as database:
        log = log_of(database, limit=10)
        log.open_workspace(W)
        for thread_id in ("t1", "early", "never"):
            log.open_thread(W, thread_id)
        write_events(log, 1, 50)
        log.confirm(log.read_batch(W, "early", limit=1_000))
        write_events(log, 51, BACKUP)
        database.close()
        url = restored()
        write_events(log, BACKUP + 1, CURSOR)
        batch = log.read_batch(W, "t1", limit=1_000)
        assert log.confirm(batch)
        assert CURSOR == batch.cursor_after.revision
    with Database.open(url) as database:
        yield log_of(database, limit=10), batch.cursor_after


def test_w25_before_new_events(accident):
    """HEAD below the cursor is a replica that lags, or a restore: the run fails, with the way out. I3 I4"""
    log, cursor = accident
    with pytest.raises(ReplicaBehind, match=r"HEAD is 100, .* already processed 120; .* renew-epoch"):
        log.read_batch(W, "t1", checkpoint_cursor=cursor)
    with pytest.raises(CursorRefused):
        log.confirm(cursor)
    assert BACKUP == log.read_batch(W, "early", limit=1_000).event_count + 50


def test_w25_after_new_events(accident):
    """The event at the cursor's revision is another one: the thread is reset, nothing is passed silently. I3 I4"""
    log, cursor = accident
    write_events(log, BACKUP + 1, BACKUP + AFTERWARDS)
    batch = log.read_batch(W, "t1", checkpoint_cursor=cursor)
    assert ("other_mark", ()) == (batch.reset, batch.lines)
    assert (BACKUP + AFTERWARDS, BACKUP + AFTERWARDS) == (batch.head, batch.cursor_after.revision)
    assert "event 125" in [row.values["title"] for rows in batch.snapshot.entities for row in rows.rows]
    with pytest.raises(CursorRefused):
        log.confirm(cursor)
    assert "other_mark" == log.read_batch(W, "t1", checkpoint_cursor=cursor).reset
    assert log.confirm(batch)
    write_events(log, BACKUP + AFTERWARDS + 1, BACKUP + AFTERWARDS + 1)
    following = log.read_batch(W, "t1", checkpoint_cursor=batch.cursor_after)
    assert (None, 1) == (following.reset, following.event_count)


def test_w25_of_threads_that_stood_before_the_backup(accident):
    """Who had processed less than the backup holds goes on as if nothing had happened. I4"""
    log, _ = accident
    write_events(log, BACKUP + 1, BACKUP + AFTERWARDS)
    batch = log.read_batch(W, "early", limit=1_000)
    assert (None, 75, 50) == (batch.reset, batch.event_count, batch.since.revision)
    assert 125 == log.read_batch(W, "never", limit=1_000).event_count


@pytest.mark.parametrize("when", ["before new events", "after"])
def test_w25_renewed_epoch(accident, when):
    """After `renew_epoch` every thread is reset, once. I3 I4"""
    log, cursor = accident
    if when == "after":
        write_events(log, BACKUP + 1, BACKUP + AFTERWARDS)
    log.renew_epoch(W)
    for thread_id, known in (("t1", cursor), ("early", None), ("never", None)):
        batch = log.read_batch(W, thread_id, checkpoint_cursor=known)
        assert ("other_epoch", ()) == (batch.reset, batch.lines)
        assert "other_epoch" == log.read_batch(W, thread_id, checkpoint_cursor=known).reset
        assert log.confirm(batch)
        again = log.read_batch(W, thread_id, checkpoint_cursor=batch.cursor_after)
        assert (None, ()) == (again.reset, again.lines)
    write_events(log, log.snapshot(W).head + 1, log.snapshot(W).head + 1)
    assert [1, 1, 1] == [log.read_batch(W, thread_id).event_count for thread_id in ("t1", "early", "never")]
