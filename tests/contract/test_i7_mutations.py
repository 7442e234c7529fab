"""I7: a mutation id takes effect once; a repeat returns the recorded result, another payload is an error."""

from datetime import date
from decimal import Decimal

import pytest

from abreast import WorkspaceLog
from abreast.errors import EntityNotFound, MutationReused, StaleWrite, WriteRefused
from tests.contract.client import Client
from tests.contract.product import ENTITIES, Booking, Move, item, label, slot, vault


def told(result):
    """Give what a result says, without whether it was replayed."""
    return (
        result.entity_id,
        result.operation,
        result.version,
        result.changed_fields,
        result.event_id,
        result.revision,
    )


def test_w05_a_repeat_returns_the_recorded_result(client):
    """A write whose answer was lost is repeated: one event, the result of the first time, marked as replayed. I7"""
    first = client.insert(Move, {"id": "m1"}, mutation_id="k1")
    again = client.insert(Move, {"id": "m1"}, mutation_id="k1")
    assert (False, True) == (first.replayed, again.replayed)
    assert told(first) == told(again)
    changed = client.update(Move, "m1", {"stage": "booked"}, 1, mutation_id="k2")
    repeated = client.update(Move, "m1", {"stage": "booked"}, 1, mutation_id="k2")
    assert (told(changed), True) == (told(repeated), repeated.replayed)
    gone = client.delete(Move, "m1", 2, mutation_id="k3")
    assert told(gone) == told(client.delete(Move, "m1", 2, mutation_id="k3"))
    assert 3 == client.head()


def test_w05_a_repeat_from_another_process_returns_it_too(client, place):
    """Another log, after a restart or on another machine, finds the receipt. I7"""
    first = client.insert(Move, {"id": "m1"}, mutation_id="k1")
    other = Client(place, WorkspaceLog(client.database, ENTITIES))
    again = other.insert(Move, {"id": "m1"}, mutation_id="k1")
    assert (told(first), True) == (told(again), again.replayed)


def test_w05_another_payload_is_an_error(client):
    """The same id with other rows, fields, values, operation or merging is refused, and nothing is stored. I7"""
    client.insert(Move, {"id": "m0"})
    client.update(Move, "m0", {"stage": "booked"}, 1, mutation_id="k1")
    for other in (
        lambda: client.update(Move, "m0", {"stage": "done"}, 2, mutation_id="k1"),
        lambda: client.update(Move, "m0", {"note": "booked"}, 2, mutation_id="k1"),
        lambda: client.update(Move, "m0", {"stage": "booked"}, 2, mutation_id="k1", merge="fields"),
        lambda: client.update(Move, "m9", {"stage": "booked"}, 1, mutation_id="k1"),
        lambda: client.delete(Move, "m0", 2, mutation_id="k1"),
        lambda: client.insert(Move, {"id": "m1"}, mutation_id="k1"),
    ):
        with pytest.raises(MutationReused, match=r"'k1' was already used in workspace 'w1' .*; use a new mutation_id"):
            other()
    assert [("m0", "booked", 2)] == client.rows("SELECT id, stage, version FROM move")
    assert 2 == client.head()


def test_a_repeat_may_have_read_a_newer_version(client):
    """The version says when a write may happen, not what it writes: a repeat with another is a repeat. I7"""
    client.insert(Move, {"id": "m1"})
    first = client.update(Move, "m1", {"stage": "booked"}, 1, mutation_id="k1")
    client.update(Move, "m1", {"note": "meanwhile"}, 2)
    for version in (1, 3, "any"):
        assert told(first) == told(client.update(Move, "m1", {"stage": "booked"}, version, mutation_id="k1"))
    assert 3 == client.head()


def test_a_repeat_may_write_values_another_way(client):
    """A date as text or as a date, a number as text or as a number: the same payload. I7"""
    first = client.insert(Move, {"id": "m1", "move_in_date": date(2026, 9, 28)}, mutation_id="k1")
    again = client.insert(Move, {"id": "m1", "move_in_date": "2026-09-28"}, mutation_id="k1")
    assert told(first) == told(again)
    first = client.insert(Booking, {"number": "b1", "amount": Decimal("10.00")}, mutation_id="k2")
    for amount in (10, "10", 10.0, "10.00"):
        assert told(first) == told(client.insert(Booking, {"number": "b1", "amount": amount}, mutation_id="k2"))
    client.insert(slot, {"day": "2026-09-28", "hour": 9})
    first = client.update(slot, ("2026-09-28", 9), {"taken_by": "m1"}, 1, mutation_id="k3")
    for key in ((date(2026, 9, 28), 9), {"day": "2026-09-28", "hour": 9}, '["2026-09-28",9]'):
        assert told(first) == told(client.update(slot, key, {"taken_by": "m1"}, 1, mutation_id="k3"))


def test_ids_count_within_their_workspace(client):
    """Two workspaces may use one mutation id for different writes. I7"""
    client.insert(Move, {"id": "m1"}, "w1", mutation_id="k1")
    assert not client.insert(Move, {"id": "m2"}, "w2", mutation_id="k1").replayed


def test_ids_are_compared_byte_for_byte(client):
    """Case and trailing spaces make another mutation id. I7"""
    ids = ["key", "Key", "key ", " key"]
    results = [client.insert(label, {"text": "x"}, mutation_id=mutation_id) for mutation_id in ids]
    assert [False] * 4 == [result.replayed for result in results]


def test_a_refused_mutation_has_not_taken_effect(client):
    """After a conflict or violation the id is free: the mended write takes effect under it. I7"""
    client.insert(Move, {"id": "m1"})
    client.insert(vault, {"id": "v1", "hidden_text": "taken"})
    with pytest.raises(StaleWrite):
        client.update(Move, "m1", {"stage": "booked"}, 9, mutation_id="k1")
    with pytest.raises(WriteRefused):
        client.insert(vault, {"id": "v2", "hidden_text": "taken"}, mutation_id="k2")
    with pytest.raises(EntityNotFound):
        client.update(Move, "m9", {"stage": "booked"}, 1, mutation_id="k3")
    results = [
        client.update(Move, "m1", {"stage": "booked"}, 1, mutation_id="k1"),
        client.insert(vault, {"id": "v2", "hidden_text": "free"}, mutation_id="k2"),
        client.insert(Move, {"id": "m9"}, mutation_id="k3"),
    ]
    assert [False] * 3 == [result.replayed for result in results]


def test_a_mutation_that_changed_nothing_is_remembered(client):
    """A write that found everything as wanted is not carried out later, when it is not so any more. I7"""
    client.insert(Move, {"id": "m1"})
    client.update(Move, "m1", {"stage": "new"}, 1, mutation_id="k1")
    client.update(Move, "m1", {"stage": "booked"}, 1)
    again = client.update(Move, "m1", {"stage": "new"}, "any", mutation_id="k1")
    assert (True, (), None) == (again.replayed, again.changed_fields, again.event_id)
    assert [("booked",)] == client.rows("SELECT stage FROM move")


def test_a_block_is_one_mutation(client):
    """All its changes take effect once together, and a repeat gives all their results. I7"""

    def write():
        with client.write(mutation_id="k1") as block:
            block.insert(Move, {"id": "m1"})
            block.insert(Move, {"id": "m2"}, workspace_id="w2")
            block.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"})
            block.update(Move, "m1", {"stage": "booked"}, expected_version=1)
        return block

    first, again = write(), write()
    assert (False, True) == (first.replayed, again.replayed)
    assert [told(result) for result in first.results] == [told(result) for result in again.results]
    assert [("w1", 1), ("w2", 1), ("w1", 2), ("w1", 3)] == [
        (result.workspace_id, result.revision) for result in again.results
    ]
    with pytest.raises(MutationReused), client.write(mutation_id="k1") as block:
        block.insert(Move, {"id": "m1"})


def test_a_row_that_has_moved_on_does_not_keep_a_repeat_from_its_result(client):
    """Whatever became of the rows since, a repeat is told what the mutation did. I7"""
    client.insert(Move, {"id": "m1"})
    client.insert(Move, {"id": "m2"})
    first = client.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"}, mutation_id="k1")
    changed = client.update(item, "c1", {"title": "Chairs"}, 1, mutation_id="k2")
    with client.write(mutation_id="k3") as moving:
        moving.update(Move, "m2", {"workspace_id": "w2"}, expected_version=1, to_workspace="w2")
    client.delete(item, "c1", 2)
    with client.write() as write:
        write.update(Move, "m1", {"workspace_id": "w2"}, expected_version=1, to_workspace="w2")
    assert told(first) == told(client.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"}, mutation_id="k1"))
    assert told(changed) == told(client.update(item, "c1", {"title": "Chairs"}, 1, mutation_id="k2"))
    with client.write(mutation_id="k3") as again:
        again.update(Move, "m2", {"workspace_id": "w2"}, expected_version=1, to_workspace="w2")
    assert [told(result) for result in moving.results] == [told(result) for result in again.results]


@pytest.mark.parametrize("kind", ["connection", "session"])
def test_receipts_are_of_the_callers_transaction(client, kind):
    """Within the caller's transaction a repeat is found in it, and afterwards only if it committed. I7 I1"""
    for attempt, end in enumerate(["rollback", "commit"]):
        with client.own(kind) as own:
            first = client.insert(Move, {"id": "m1"}, mutation_id="k1", within=own.raw)
            again = client.insert(Move, {"id": "m1"}, mutation_id="k1", within=own.raw)
            assert (False, True) == (first.replayed, again.replayed)
            getattr(own, end)()
        assert attempt == len(client.recorded())
    assert client.insert(Move, {"id": "m1"}, mutation_id="k1").replayed


def test_a_repeat_tells_the_revision_once_there_is_one(client):
    """A result that was recorded before it was numbered gets its revision when it is asked for later. I7 I2"""
    first = client.insert(Move, {"id": "m1"}, mutation_id="k1", number="later")
    assert None is first.revision
    assert 1 == client.insert(Move, {"id": "m1"}, mutation_id="k1").revision


def test_without_a_mutation_id_every_write_counts(client):
    """Nothing is taken for a repetition that does not say so. I7"""
    client.insert(label, {"text": "x"})
    client.insert(label, {"text": "x"})
    assert 2 == client.head()


def test_a_receipt_holds_no_value(client):
    """It keeps a keyed hash of the payload and the results, no field's value. I7 I9"""
    client.insert(Move, {"id": "m1", "note": "call at night"}, mutation_id="k1")
    ((payload_hash, result),) = client.rows("SELECT payload_hash, result FROM abreast_mutation")
    assert 64 == len(payload_hash)
    assert "night" not in result
