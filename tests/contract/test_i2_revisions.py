"""I2: revisions of a workspace are gap-free and become visible in order."""

import random

import pytest

from abreast.errors import AbreastError, InvalidInput, UnknownEntity
from tests.contract.history import edit, moves, store
from tests.contract.product import AGENT, Move, item, label, slot, vault


def revisions(client, workspace_id="w1"):
    """Give the revisions of all events, in order of recording."""
    return [event.revision for event in client.recorded(workspace_id)]


def test_revisions_count_up_from_one(client):
    """Each write gets the next revision and says it; HEAD is the last. I2"""
    given = [client.insert(Move, {"id": f"m{place}"}).revision for place in range(3)]
    given.append(client.update(Move, "m1", {"stage": "booked"}).revision)
    given.append(client.delete(Move, "m2").revision)
    assert [1, 2, 3, 4, 5] == given == revisions(client)
    assert 5 == client.head() == client.snapshot("w1").head == client.read_batch().head


def test_workspaces_count_apart(client):
    """A workspace's revisions do not depend on what happens in others. I2"""
    for workspace_id in ("w1", "w2", "w1", "w2", "w1"):
        client.insert(label, {"text": "fragile"}, workspace_id)
    assert ([1, 2, 3], [1, 2]) == (revisions(client, "w1"), revisions(client, "w2"))


def test_numbering_later_is_left_to_the_next_reader(client):
    """With `number="later"` a write is only recorded; whoever reads or writes next numbers it. I2"""
    client.insert(Move, {"id": "m1"})
    client.open_thread()
    later = [client.insert(Move, {"id": f"m{place}"}, number="later").revision for place in (2, 3)]
    assert [None, None] == later
    assert ([1, None, None], 1) == (revisions(client), client.head())
    assert ["m2", "m3"] == [line.entity_id for line in client.read_batch().lines]
    assert ([1, 2, 3], 3) == (revisions(client), client.head())
    client.insert(Move, {"id": "m4"}, number="later")
    assert 5 == client.insert(Move, {"id": "m5"}).revision
    client.insert(Move, {"id": "m6"}, number="later")
    assert 6 == client.changes()[-1].revision
    client.insert(Move, {"id": "m7"}, number="later")
    assert 7 == client.snapshot("w1").head
    assert [1, 2, 3, 4, 5, 6, 7] == revisions(client)


def test_numbering_by_hand(client):
    """`number` gives waiting events their revisions, and does nothing where nothing waits. I2"""
    client.insert(Move, {"id": "m1"}, number="later")
    client.insert(Move, {"id": "m2"}, number="later")
    client.number("w1")
    client.number("w1")
    client.number("nowhere")
    assert [1, 2] == revisions(client)
    assert 2 == client.head()


def test_a_new_thread_stands_at_what_waits(client):
    """Opening a thread numbers first, so that what was recorded before it is no news to it. I2 I3"""
    client.insert(Move, {"id": "m1"}, number="later")
    assert 1 == client.open_thread().revision
    assert () == client.read_batch().lines


def test_w23_refused_and_rolled_back_writes_leave_no_gap(client):
    """A hundred conflicts, violations and rollbacks take no revision and stall nobody. I2"""
    chance = random.Random(23)
    client.insert(vault, {"id": "v0", "hidden_text": "taken"})
    client.insert(Move, {"id": "m0"})
    client.open_thread()

    def stale():
        client.update(Move, "m0", {"stage": "booked"}, 99)

    def violation():
        client.insert(vault, {"id": "v1", "hidden_text": "taken"})

    def broken_off():
        with client.write() as write:
            write.insert(Move, {"id": "mx"})
            raise AbreastError

    def rolled_back():
        with client.own("connection") as own:
            client.insert(Move, {"id": "mx"}, within=own.raw)
            own.rollback()
        raise AbreastError

    written = 2
    for place in range(100):
        with pytest.raises(AbreastError):
            chance.choice([stale, violation, broken_off, rolled_back])()
        if place % 10 == 0:
            written += 1
            assert written == client.insert(label, {"text": str(place)}).revision
    assert list(range(1, 13)) == revisions(client)
    assert list(range(3, 13)) == [line.first_revision for line in client.read_batch().lines]


def test_events_that_wait_are_numbered_in_order_of_recording(client):
    """By their time-ordered ids, whatever workspace or row they are of. I2"""
    moves(client, 3)
    store(client, [edit(3, "m000", 2), edit(1, "m001", 2), edit(2, "m002", 2)])
    client.number("w1")
    assert ["m001", "m002", "m000"] == [event.entity_id for event in client.changes()]


def test_one_rows_events_are_numbered_by_version(client):
    """Where clocks of writers differ, a row's versions decide among its events, not the ids. I2"""
    moves(client, 2)
    store(client, [edit(1, "m000", 3), edit(2, "m001", 2), edit(3, "m000", 2)])
    client.number("w1")
    assert [("m000", 2, 1), ("m001", 2, 2), ("m000", 3, 3)] == [
        (event.entity_id, event.version, event.revision) for event in client.changes()
    ]


def test_more_than_one_transaction_numbers(client):
    """Very many waiting events are numbered in several transactions, without a gap and each row's by version. I2"""
    moves(client, 2)
    others = [edit(place, "m001", place) for place in range(2, 5_002)]
    store(client, [edit(1, "m000", 3), *others, edit(5_002, "m000", 2)])
    client.open_thread()
    assert 5_002 == client.head()
    assert [(1, 5_002, 5_002)] == client.rows(
        "SELECT min(revision), max(revision), count(DISTINCT revision) FROM abreast_workspace_event"
    )
    for row in ("m000", "m001"):
        versions = [event.version for event in client.changes(entity=Move, key=row, limit=10_000)]
        assert sorted(versions) == versions


def test_changes_are_looked_up_in_order(client):
    """By revision, after an exclusive one, of an entity or a row, as many as asked for. I2"""
    client.insert(Move, {"id": "m1"})
    client.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"})
    client.insert(slot, {"day": "2026-09-28", "hour": 9})
    client.update(Move, "m1", {"stage": "booked"}, actor=AGENT)
    client.insert(Move, {"id": "m2"}, number="later")

    def found(**wanted):
        return [event.revision for event in client.changes(**wanted)]

    assert [1, 2, 3, 4, 5] == found()
    assert [3, 4, 5] == found(after=2)
    assert [2] == found(after=1, limit=1)
    assert [1, 4, 5] == found(entity=Move)
    assert [1, 4] == found(entity="move", key="m1")
    assert [3] == found(entity=slot, key=("2026-09-28", 9))
    assert [] == found(entity=Move, key="m9")
    assert [] == client.changes("nowhere")
    with pytest.raises(UnknownEntity, match="'parcel' is not registered"):
        found(entity="parcel")
    with pytest.raises(InvalidInput, match="key: comes without its entity; pass entity="):
        found(key="m1")
