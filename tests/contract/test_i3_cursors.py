"""I3: a cursor moves only after success, only forward, and only to the last revision delivered."""

from dataclasses import replace

import pytest

from abreast import Batch, Cursor
from abreast.errors import CursorRefused, InvalidInput, ReplicaBehind, ThreadBoundElsewhere
from abreast.prompt import render
from tests.contract.history import edit, moves, remove, store
from tests.contract.product import ENTITIES, Move


def bump(client, times=1, row="m1"):
    """Change a row so many times."""
    for _ in range(times):
        version = client.rows("SELECT version FROM move WHERE id = :id", id=row)[0][0]
        client.update(Move, row, {"stage": f"stage {version + 1}"}, version)


def succeed(client, **options):
    """Run a thread once, successfully; gives what it was given."""
    batch = client.read_batch(**options)
    client.confirm(batch)
    return batch


@pytest.fixture
def open_(client):
    """Give a workspace with one row and a thread that is up to date at revision 1."""
    client.insert(Move, {"id": "m1"})
    client.open_thread()
    return client


def test_a_thread_is_opened_at_head(client):
    """What happened before a thread is no news to it; opening it again leaves its cursor. I3"""
    client.insert(Move, {"id": "m1"})
    cursor = client.open_thread()
    assert ("w1", "t1", "", 1) == (cursor.workspace_id, cursor.thread_id, cursor.scope, cursor.revision)
    assert cursor.mark == client.recorded()[0].event_id
    bump(client)
    assert cursor == client.open_thread()
    assert (1, 2) == (client.read_batch().since.revision, client.read_batch().cursor_after.revision)


def test_a_thread_that_was_never_opened_begins_at_its_first_reading(client):
    """The first batch of a new thread lists nothing, and what follows it is listed. I3 I4"""
    client.insert(Move, {"id": "m1"})
    assert ((), None, 1) == (lines(client.read_batch()), client.read_batch().reset, client.read_batch().head)
    bump(client)
    assert [2] == lines(client.read_batch())


def lines(batch: Batch):
    """Give the revisions of a batch's lines."""
    revisions = [line.first_revision for line in batch.lines]
    return revisions or ()


def test_reading_moves_nothing(open_):
    """However often a batch is read, the cursor stays until the batch is confirmed. I3"""
    bump(open_)
    batches = [open_.read_batch() for _ in range(3)]
    assert {("t1", ""): 1} == open_.cursors()
    assert open_.confirm(batches[0])
    assert {("t1", ""): 2} == open_.cursors()


def test_a_repeated_confirm_moves_nothing(open_):
    """Confirming says whether the cursor moved; a batch or its cursor may be confirmed again. I3"""
    bump(open_)
    batch = open_.read_batch()
    assert [True, False, False] == [
        open_.confirm(batch),
        open_.confirm(batch),
        open_.confirm(batch.cursor_after),
    ]


def test_a_late_confirm_moves_nothing_back(open_):
    """A run that ends after a newer one has succeeded does not lower the cursor. I3"""
    bump(open_)
    older = open_.read_batch()
    bump(open_)
    assert open_.confirm(open_.read_batch())
    assert not open_.confirm(older)
    assert {("t1", ""): 3} == open_.cursors()


def test_w22_a_cursor_is_not_set_from_head(open_):
    """What commits after a batch was read is after the batch's cursor, whatever HEAD is by then. I3"""
    bump(open_, 48)
    batch = open_.read_batch()
    bump(open_)
    open_.confirm(batch)
    assert (49, 50) == (batch.cursor_after.revision, open_.head())
    assert {("t1", ""): 49} == open_.cursors()
    assert [50] == lines(open_.read_batch())


def test_a_cut_batch_ends_at_its_last_event(open_):
    """Where the limit cuts the backlog, the cursor goes to the last event delivered and not to HEAD. I3"""
    for place in range(2, 7):
        open_.insert(Move, {"id": f"m{place}"})
    batch = succeed(open_, limit=2)
    assert (3, 3, 6) == (batch.cursor_after.revision, batch.remaining, batch.head)
    assert batch.cursor_after.mark == open_.recorded()[2].event_id
    assert {("t1", ""): 3} == open_.cursors()


def test_scopes_of_one_thread_stand_apart(open_):
    """Readers of one thread with different scopes each have a cursor of their own. I3"""
    bump(open_)
    assert () == lines(open_.read_batch(scope="planner"))
    bump(open_)
    assert ([2], [3]) == (lines(open_.read_batch()), lines(open_.read_batch(scope="planner")))
    succeed(open_, scope="planner")
    assert {("t1", ""): 1, ("t1", "planner"): 3} == open_.cursors()


def test_threads_stand_apart(open_):
    """One thread's success is nobody else's. I3 I4"""
    open_.open_thread(thread_id="t2")
    bump(open_)
    succeed(open_)
    assert {("t1", ""): 2, ("t2", ""): 1} == open_.cursors()
    assert [2] == lines(open_.read_batch(thread_id="t2"))


def test_threads_whose_ids_look_alike_stand_apart(client):
    """Ids are compared byte for byte: case, trailing spaces and ways to write an accent count. I3"""
    alike = ["thread", "Thread", "thread ", " thread", "caf\u00e9", "cafe\u0301"]
    client.insert(Move, {"id": "m1"})
    for thread_id in alike:
        client.open_thread(thread_id=thread_id)
        bump(client)
    assert {(thread_id, ""): place for place, thread_id in enumerate(alike, start=1)} == client.cursors()


def test_a_thread_belongs_to_one_workspace(open_):
    """On another workspace it can neither be opened, read nor confirmed; its cursor stays. I3"""
    open_.insert(Move, {"id": "m2"}, "w2")
    cursor = open_.read_batch().cursor_after
    for call in (
        lambda: open_.open_thread("w2"),
        lambda: open_.read_batch("w2"),
        lambda: open_.confirm(replace(cursor, workspace_id="w2")),
    ):
        with pytest.raises(ThreadBoundElsewhere, match=r"'t1' is not a thread of workspace 'w2'; use the"):
            call()
    assert {("t1", ""): 1} == open_.cursors()


def test_a_cursor_nobody_was_given_is_refused(open_):
    """Beyond HEAD, with another mark or epoch, or of no thread: named, and nothing moves. I3"""
    bump(open_, 2)
    cursor = open_.read_batch().cursor_after
    assert 3 == cursor.revision
    for wrong, problem in (
        (replace(cursor, revision=9), "revision 9 is beyond HEAD 3"),
        (replace(cursor, revision=2), "the event at revision 2 is another one"),
        (replace(cursor, epoch="0" * 32), "the log was reset or restored since the batch was read"),
    ):
        with pytest.raises(CursorRefused, match=f"{problem}; the run's answer stands, go on"):
            open_.confirm(wrong)
    with pytest.raises(ThreadBoundElsewhere):
        open_.confirm(replace(cursor, thread_id="t9"))
    with pytest.raises(InvalidInput, match="delivered: is neither a Batch nor a Cursor; pass what read_batch"):
        open_.confirm(3)
    assert {("t1", ""): 1} == open_.cursors()


def test_reading_starts_at_the_lower_cursor(open_):
    """The cursor in a checkpoint may be behind the database's (a fork) or ahead of it (an unconfirmed run). I3 I4"""
    bump(open_, 3)
    at_2 = replace(open_.read_batch().cursor_after, revision=2, mark=open_.recorded()[1].event_id)
    at_4 = open_.read_batch().cursor_after
    assert (1, 4) == span(open_.read_batch(checkpoint_cursor=at_4))
    open_.confirm(at_4)
    assert (2, 4) == span(open_.read_batch(checkpoint_cursor=at_2))
    assert (4, 4) == span(open_.read_batch(checkpoint_cursor=at_4))
    assert {("t1", ""): 4} == open_.cursors()


def span(batch: Batch):
    """Give where a batch starts and ends."""
    return batch.since.revision, batch.cursor_after.revision


def test_a_checkpoint_cursor_is_enough(client):
    """A thread whose cursor is only in its checkpoint reads from there; the database's follows on success. I3"""
    client.insert(Move, {"id": "m1"})
    held = Cursor.from_json(client.open_thread().to_json())
    bump(client)
    client.rows("DELETE FROM abreast_thread_cursor")
    client.rows("DELETE FROM abreast_thread")
    batch = client.read_batch(checkpoint_cursor=held)
    assert ([2], None, {}) == (lines(batch), batch.reset, client.cursors())
    assert client.confirm(batch)
    assert {("t1", ""): 2} == client.cursors()


def test_a_checkpoint_cursor_may_come_from_a_copied_thread(open_):
    """A copy of a thread holds the cursor of the original; it is read as the copy's own. I3"""
    held = open_.read_batch().cursor_after
    bump(open_)
    batch = open_.read_batch(thread_id="copy", checkpoint_cursor=held)
    assert ([2], "copy") == (lines(batch), batch.cursor_after.thread_id)


def test_a_checkpoint_cursor_of_another_workspace_is_refused(open_):
    """A cursor says which workspace it is of; in another it would skip changes. I3"""
    held = replace(open_.read_batch().cursor_after, workspace_id="w2")
    with pytest.raises(InvalidInput, match="checkpoint_cursor: belongs to another workspace; pass"):
        open_.read_batch(checkpoint_cursor=held)


def test_a_thread_with_history_and_no_cursor_is_not_new(client):
    """Nobody knows what it has seen: it is told so until a run has succeeded. I3 I4"""
    client.insert(Move, {"id": "m1"})
    for _ in range(2):
        batch = client.read_batch(has_history=True)
        assert ("no_cursor", True, (), 1) == (
            batch.reset,
            batch.reset_required,
            lines(batch),
            batch.cursor_after.revision,
        )
    assert "older changes are not listed" in render(batch, ENTITIES)
    assert {} == client.cursors()
    client.confirm(batch)
    bump(client)
    assert (None, [2]) == (client.read_batch(has_history=True).reset, lines(client.read_batch()))


def test_w29_a_cursor_below_the_floor_is_told(open_):
    """It gets the rows and the word that older changes are not listed, until a run has succeeded. I3"""
    bump(open_, 5)
    assert 5 == open_.forget_before("w1", 5)
    failed = open_.read_batch()
    assert ("below_floor", (), 6, 1) == (
        failed.reset,
        lines(failed),
        failed.cursor_after.revision,
        failed.snapshot.entities[0].total,
    )
    assert {("t1", ""): 1} == open_.cursors()
    bump(open_)
    again = succeed(open_)
    assert ("below_floor", 7) == (again.reset, again.cursor_after.revision)
    assert "Changes are no longer kept as far back as the last success" in render(again, ENTITIES)
    assert {("t1", ""): 7} == open_.cursors()
    bump(open_)
    assert (None, [8]) == (open_.read_batch().reset, lines(open_.read_batch()))


def test_a_cursor_at_the_floor_needs_no_reset(open_):
    """As long as the event at the cursor is kept, everything after it is listed. I3 I4"""
    bump(open_, 3)
    open_.confirm(replace(open_.read_batch().cursor_after, revision=3, mark=open_.recorded()[2].event_id))
    assert 3 == open_.forget_before("w1", 3)
    assert (None, [4]) == (open_.read_batch().reset, lines(open_.read_batch()))


def test_the_floor_never_falls_and_the_newest_event_stays(open_):
    """Forgetting ends before the newest event, and what was forgotten stays forgotten. I3"""
    bump(open_, 3)
    assert [3, 3, 4, 4] == [open_.forget_before("w1", revision) for revision in (3, 2, 99, 4)]
    assert [4] == [event.revision for event in open_.recorded()]
    bump(open_)
    assert [4, 5] == [event.revision for event in open_.recorded()]


def test_a_renewed_log_is_told_once(open_):
    """After its epoch was renewed every thread is told, and confirms of the old epoch are refused. I3"""
    bump(open_)
    old = open_.read_batch()
    open_.renew_epoch("w1")
    batch = open_.read_batch()
    assert ("other_epoch", (), 2) == (batch.reset, lines(batch), batch.cursor_after.revision)
    assert "The record of changes was begun anew since the last success" in render(batch, ENTITIES)
    with pytest.raises(CursorRefused, match="the log was reset or restored since"):
        open_.confirm(old)
    assert open_.confirm(batch)
    bump(open_)
    assert (None, [3]) == (open_.read_batch().reset, lines(open_.read_batch()))


def test_w25_a_lagging_replica_is_no_reset(open_):
    """A HEAD below the cursor in the same epoch is an error that names both; the cursor stays. I3"""
    bump(open_, 3)
    held = succeed(open_).cursor_after
    newest = open_.recorded()[-1]
    remove(open_, [4])
    open_.rows("UPDATE abreast_workspace SET head = 3")
    for options in ({}, {"checkpoint_cursor": held}):
        with pytest.raises(ReplicaBehind, match="HEAD is 3, the thread has already processed 4; read from"):
            open_.read_batch(**options)
    assert {("t1", ""): 4} == open_.cursors()
    store(open_, [newest])
    open_.number("w1")
    assert (None, 4) == (open_.read_batch().reset, open_.read_batch().since.revision)


def test_w25_a_restored_log_is_told(open_):
    """Where other events stand at a cursor's place, the thread is told, whether HEAD has passed it or not. I3 I4"""
    moves(open_, 1)
    store(open_, [edit(place, "m000", place) for place in range(2, 121)])
    open_.number("w1")
    assert 120 == succeed(open_, limit=500).cursor_after.revision
    remove(open_, range(101, 121))
    open_.rows("UPDATE abreast_workspace SET head = 100")
    store(open_, [edit(place, "m000", place) for place in range(1_101, 1_126)])
    batch = open_.read_batch()
    assert ("other_mark", (), 125, 125) == (
        batch.reset,
        lines(batch),
        batch.cursor_after.revision,
        batch.head,
    )
    assert "The database was restored from a backup since the last success" in render(batch, ENTITIES)
    assert {("t1", ""): 120} == open_.cursors()
    open_.confirm(batch)
    bump(open_)
    assert (None, [126]) == (open_.read_batch().reset, lines(open_.read_batch()))


def test_a_restored_log_that_is_as_long_is_told(open_):
    """Revision and epoch agree, the mark does not: the thread is told, and its cursor gets the new mark. I3"""
    bump(open_, 3)
    old = succeed(open_).cursor_after
    remove(open_, [3, 4])
    open_.rows("UPDATE abreast_workspace SET head = 2")
    bump(open_, 2)
    with pytest.raises(CursorRefused, match="the event at revision 4 is another one"):
        open_.confirm(old)
    batch = open_.read_batch()
    assert ("other_mark", 4) == (batch.reset, batch.cursor_after.revision)
    assert open_.confirm(batch)
    assert None is open_.read_batch().reset


def test_a_stale_checkpoint_cursor_is_told_too(open_):
    """The checkpoint's cursor may be the one that is too old, though the database's is not. I3 I4"""
    held = open_.read_batch().cursor_after
    bump(open_, 4)
    succeed(open_)
    open_.forget_before("w1", 4)
    assert None is open_.read_batch().reset
    assert "below_floor" == open_.read_batch(checkpoint_cursor=held).reset
    assert "other_epoch" == open_.read_batch(checkpoint_cursor=replace(held, epoch="0" * 32)).reset
