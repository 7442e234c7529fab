"""I1: a product row and its event commit together or not at all."""

from datetime import date

import pytest

from abreast import Entity
from abreast.errors import InvalidInput, StaleWrite, WriteRefused
from abreast.operations import cursors
from tests.contract.product import AGENT, JOB, MOVE, USER, Booking, Move, SpecialMove, item, label, slot, vault

MOVE_1 = {"id": "m1", "move_in_date": date(2026, 9, 28)}


def fields_of(events):
    """Give what events say of rows: operation, fields, values before and after, version."""
    return [(event.operation, event.changed_fields, event.before, event.after, event.version) for event in events]


def test_each_change_stores_its_row_and_its_event(client):
    """Insert, update and delete leave the row as told and one event each, with values of exposed fields. I1"""
    client.insert(Move, {**MOVE_1, "note": "4th floor"})
    assert [("m1", "new", 1)] == client.rows("SELECT id, stage, version FROM move")
    client.update(Move, "m1", {"stage": "booked", "move_in_date": "2026-09-30"}, 1)
    assert [("m1", "booked", 2)] == client.rows("SELECT id, stage, version FROM move")
    client.delete(Move, "m1", 2)
    assert [] == client.rows("SELECT id FROM move")
    first = {"move_in_date": "2026-09-28", "stage": "new", "note": "4th floor"}
    last = {"move_in_date": "2026-09-30", "stage": "booked", "note": "4th floor"}
    assert fields_of(client.recorded()) == [
        ("insert", ("id", "move_in_date", "note"), None, first, 1),
        (
            "update",
            ("move_in_date", "stage"),
            {"move_in_date": "2026-09-28", "stage": "new"},
            {"move_in_date": "2026-09-30", "stage": "booked"},
            2,
        ),
        ("delete", (), last, None, 3),
    ]


def test_an_event_says_who_when_and_from_where(client):
    """Actor, person behind it, conversation, run, mutation and time are stored with the event. I1"""
    origin = {"actor": AGENT, "source_thread_id": "t1", "run_id": "r1", "mutation_id": "k1"}
    result = client.insert(Move, MOVE_1, **origin)
    (event,) = client.recorded()
    assert (event.actor, event.source_thread_id, event.run_id, event.mutation_id) == (AGENT, "t1", "r1", "k1")
    assert (event.workspace_id, event.entity_type, event.entity_id) == ("w1", "move", "m1")
    assert (result.event_id, result.revision) == (event.event_id, event.revision)
    assert event.created_at > 1_700_000_000_000_000


def test_several_changes_of_one_row_in_one_block(client):
    """Insert, update and delete in one block are three events in this order, each on the one before. I1"""
    with client.write() as write:
        write.insert(Move, MOVE_1)
        write.update(Move, "m1", {"stage": "booked"}, expected_version=1)
        write.update(Move, "m1", {"stage": "done"}, expected_version=2)
        write.delete(Move, "m1", expected_version=3)
    assert [1, 2, 3, 4] == [result.version for result in write.results]
    assert [1, 2, 3, 4] == [result.revision for result in write.results]
    assert [("insert", 1), ("update", 2), ("update", 3), ("delete", 4)] == [
        (event.operation, event.version) for event in client.changes()
    ]
    assert ({"stage": "booked"}, {"stage": "done"}) == (client.changes()[2].before, client.changes()[2].after)
    assert [] == client.rows("SELECT id FROM move")


def test_several_workspaces_in_one_block(client):
    """A block may change rows of several workspaces; each event stands in the workspace of its row. I1"""
    with client.write("w1") as write:
        write.insert(Move, MOVE_1)
        write.insert(Move, {"id": "m2"}, workspace_id="w2")
        write.insert(item, {"id": "c2", "move_id": "m2", "title": "Boxes"}, workspace_id="w2")
    assert [("w1", 1), ("w2", 1), ("w2", 2)] == [(result.workspace_id, result.revision) for result in write.results]
    assert ["m1"] == [event.entity_id for event in client.changes("w1")]
    assert ["m2", "c2"] == [event.entity_id for event in client.changes("w2")]


def test_a_refused_change_takes_the_whole_block_with_it(client):
    """What the database refuses leaves neither rows nor events, also of the changes before it. I1"""
    client.insert(vault, {"id": "v1", "hidden_text": "taken"})
    block = client.write()
    with pytest.raises(WriteRefused), block as write:
        write.insert(Move, MOVE_1)
        write.update(vault, "v1", {"label": "changed"}, expected_version=1)
        write.insert(vault, {"id": "v2", "hidden_text": "taken"})
    assert [] == client.rows("SELECT id FROM move")
    assert [("v1", None, 1)] == client.rows("SELECT id, label, version FROM vault")
    assert ["v1"] == [event.entity_id for event in client.recorded()]


def test_a_stale_change_takes_the_whole_block_with_it(client):
    """A conflict is found before anything is written, in the caller's transaction too. I1 I6"""
    client.insert(Move, MOVE_1)
    with client.own("connection") as own:
        with pytest.raises(StaleWrite), client.write(within=own.raw) as write:
            write.insert(Move, {"id": "m2"})
            write.update(Move, "m1", {"stage": "booked"}, expected_version=7)
        own.commit()
    assert [("m1", "new")] == client.rows("SELECT id, stage FROM move")
    assert ["m1"] == [event.entity_id for event in client.recorded()]


def test_an_exception_inside_the_block_drops_it(client):
    """A block that is left by an exception stores nothing, and has no results. I1"""
    block = client.write()
    with pytest.raises(ZeroDivisionError), block as write:
        write.insert(Move, MOVE_1)
        raise ZeroDivisionError
    assert [] == client.rows("SELECT id FROM move")
    assert [] == client.recorded()
    with pytest.raises(InvalidInput, match="has not been sent"):
        _ = write.results


def test_an_empty_block_stores_nothing(client):
    """A block without changes has no results and begins no log. I1"""
    with client.write() as write:
        pass
    assert () == write.results
    assert 0 == client.head()
    assert [] == client.recorded()


@pytest.mark.parametrize("kind", ["connection", "session"])
def test_in_the_callers_transaction_both_commit_with_it(client, kind):
    """Within a connection or session row and event wait for its commit and are numbered by the next reader. I1"""
    client.open_workspace("w1")
    client.open_thread()
    with client.own(kind) as own:
        result = client.insert(Move, MOVE_1, within=own.raw)
        assert (1, None) == (result.version, result.revision)
        assert ([], []) == (client.rows("SELECT id FROM move"), client.recorded())
        own.commit()
    assert [("m1",)] == client.rows("SELECT id FROM move")
    assert [None] == [event.revision for event in client.recorded()]
    batch = client.read_batch()
    assert [("insert", "m1", 1)] == [(line.kind, line.entity_id, line.first_revision) for line in batch.lines]
    assert (1, 1) == (batch.head, client.head())


@pytest.mark.parametrize("kind", ["connection", "session"])
def test_w19_a_rolled_back_transaction_leaves_nothing(client, kind):
    """Write and cursor move in the application's own transaction vanish with its rollback. I1"""
    client.insert(Move, MOVE_1)
    client.open_thread()
    client.update(Move, "m1", {"stage": "booked"})
    batch = client.read_batch()
    with client.own(kind) as own:
        client.insert(Move, {"id": "m2"}, within=own.raw, mutation_id="k1")
        client.update(Move, "m1", {"stage": "done"}, 2, within=own.raw)
        assert client.within(own, cursors.confirm, client.database.tables, batch.cursor_after, now=1)
        own.rollback()
    assert [("m1", "booked", 2)] == client.rows("SELECT id, stage, version FROM move")
    assert [1, 2] == [event.revision for event in client.recorded()]
    assert {("t1", ""): 1} == client.cursors()
    assert not client.insert(Move, {"id": "m2"}, mutation_id="k1").replayed


def test_after_a_refusal_the_callers_session_can_go_on(client):
    """A conflict leaves the caller's transaction usable: what else it did commits. I1"""
    client.insert(Move, MOVE_1)
    with client.own("session") as own:
        own.add(Booking(number="b1", tenant="w1", amount=10))
        with pytest.raises(StaleWrite):
            client.update(Move, "m1", {"stage": "booked"}, 9, within=own.raw)
        client.update(Move, "m1", {"stage": "booked"}, 1, within=own.raw)
        own.commit()
    assert [("b1",)] == client.rows("SELECT booking_number FROM booking")
    assert [("booked", 2)] == client.rows("SELECT stage, version FROM move")


def test_objects_of_the_callers_session_are_read_again(client):
    """What a write changed past a session's objects is what they say afterwards; others are left alone. I1"""
    client.insert(Move, MOVE_1)
    client.insert(Move, {"id": "m2"})
    client.insert(Booking, {"number": "b1", "amount": "10.00"})
    with client.own("session") as own:
        first, second, booking = own.get(Move, "m1"), own.get(Move, "m2"), own.get(Booking, "b1")
        with client.write(within=own.raw) as write:
            write.update(Move, "m1", {"stage": "booked"}, expected_version=1)
            write.update(Booking, "b1", {"guests": 3}, expected_version=1)
        assert "booked" == first.__dict__["stage"]
        assert "new" == second.__dict__["stage"]
        assert ("booked", 2) == (own.look(first, "stage"), own.look(first, "version"))
        assert (3, 2) == (own.look(booking, "guests"), own.look(booking, "lock_version"))
        own.commit()


def test_objects_of_other_classes_of_the_table_are_read_again(client):
    """Whether the entity is the table or a class of it, the session's objects of any of its classes follow. I1"""
    log = client.of(Entity(Move.__table__, expose=["stage"]))
    log.insert(Move.__table__, MOVE_1)
    with log.own("session") as own:
        plain, special = own.get(Move, "m1"), own.get(SpecialMove, "m1")
        log.update("move", "m1", {"stage": "booked"}, 1, within=own.raw)
        assert ("booked", "booked") == (own.look(plain, "stage"), own.look(special, "stage"))
        own.commit()


def test_a_session_may_go_on_with_an_object_that_was_written(client):
    """The mapper's own version check agrees with the version a write has left. I1"""
    client.insert(Booking, {"number": "b1", "amount": "10.00"})
    with client.own("session") as own:
        booking = own.get(Booking, "b1")
        client.update(Booking, "b1", {"guests": 3}, 1, within=own.raw)
        own.look(booking, "guests")
        booking.guests = 4
        own.commit()
    assert [(4, 3)] == client.rows("SELECT guests, lock_version FROM booking")


def test_what_a_session_has_not_flushed_is_seen(client):
    """Pending objects of the session are flushed first, so that a write can build on them. I1"""
    with client.own("session") as own:
        own.add(Move(id="m1", workspace_id="w1", version=1))
        client.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"}, within=own.raw)
        own.commit()
    assert [("c1", "m1")] == client.rows("SELECT id, move_id FROM item")


def test_async_and_sync_transactions_are_told_apart(client):
    """The wrong kind of transaction is named, with the call that takes it; nothing is stored. I1"""
    wrong = object()
    with pytest.raises(InvalidInput, match=r"within: is object, no (Async)?Connection or "):
        client.insert(Move, MOVE_1, within=wrong)
    assert [] == client.recorded()


def test_values_the_database_fills_in_are_recorded(client):
    """Defaults and generated keys are in the event, the results and the receipt. I1 I7"""
    result = client.insert(label, {"text": "fragile"}, mutation_id="k1")
    assert [(result.entity_id,)] == [(str(number),) for (number,) in client.rows("SELECT id FROM label")]
    assert (result.entity_id, 1) == (client.recorded()[0].entity_id, result.version)
    repeated = client.insert(label, {"text": "fragile"}, mutation_id="k1")
    assert (True, result.entity_id) == (repeated.replayed, repeated.entity_id)
    client.insert(Move, MOVE_1)
    client.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"})
    assert {"title": "Boxes", "done": False} == client.recorded()[-1].after


def test_only_exposed_values_are_recorded(client):
    """A hidden field is named, a secret one is not, and neither's value nor an unexposed one's is copied. I1 I9"""
    client.insert(Move, {**MOVE_1, "door_code": "1111", "alarm_code": "2222", "memo": "3333"})
    client.update(Move, "m1", {"door_code": "4444", "alarm_code": "5555", "memo": "6666"}, 1)
    exposed = {"move_in_date": "2026-09-28", "stage": "new", "note": None}
    assert fields_of(client.recorded()) == [
        ("insert", ("door_code", "id", "memo", "move_in_date"), None, exposed, 1),
        ("update", ("door_code", "memo"), {}, {}, 2),
    ]


def test_a_secret_change_is_an_event_without_a_name(client):
    """A change of nothing but a secret field raises the version and says no more than that. I1 I9"""
    client.insert(Move, MOVE_1)
    result = client.update(Move, "m1", {"alarm_code": "5555"}, 1)
    assert (2, ()) == (result.version, result.changed_fields)
    assert ("update", (), {}, {}, 2) == fields_of(client.recorded())[1]


def test_names_only_events(client):
    """With `event_values="names"` an event says which fields changed and no value at all. I1"""
    entity = type(MOVE)(Move, expose=["stage"], event_values="names")
    names = client.of(entity)
    names.insert(Move, MOVE_1)
    names.update(Move, "m1", {"stage": "booked"}, 1)
    names.delete(Move, "m1", 2)
    assert fields_of(client.recorded()) == [
        ("insert", ("id", "move_in_date"), None, None, 1),
        ("update", ("stage",), None, None, 2),
        ("delete", (), None, None, 3),
    ]


def test_a_row_that_moves_is_an_event_in_both_workspaces(client):
    """It leaves one workspace and enters the other under the next version; neither event names the other. I1"""
    client.insert(Move, MOVE_1)
    with client.write("w1") as write:
        write.update(Move, "m1", {"workspace_id": "w2", "stage": "moved"}, expected_version=1, to_workspace="w2")
    assert ("w2", 2) == (write.results[0].workspace_id, write.results[0].version)
    (_, gone), (come,) = client.changes("w1"), client.changes("w2")
    old = {"move_in_date": "2026-09-28", "stage": "new", "note": None}
    assert ("delete", (), old, None, 2) == fields_of([gone])[0]
    assert ("insert", None, {**old, "stage": "moved"}, 2) == (
        come.operation,
        come.before,
        come.after,
        come.version,
    )
    assert [("w2", "moved", 2)] == client.rows("SELECT workspace_id, stage, version FROM move")
    client.update(Move, "m1", {"stage": "done"}, 2, "w2")


def test_a_row_that_moves_by_its_parent_keeps_its_version(client):
    """A row whose workspace is its parent's moves with another parent, and its versions go on. I1 I6"""
    client.insert(Move, MOVE_1)
    client.insert(Move, {"id": "m2"}, "w2")
    client.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"})
    client.update(item, "c1", {"title": "Chairs"}, 1)
    with client.write("w1") as write:
        write.update(item, "c1", {"move_id": "m2"}, expected_version=2, to_workspace="w2")
    assert 3 == write.results[0].version
    assert ["insert", "update", "delete"] == [event.operation for event in client.changes(entity=item)]
    assert [("insert", 3)] == [(event.operation, event.version) for event in client.changes("w2", entity=item)]
    with pytest.raises(StaleWrite):
        client.update(item, "c1", {"title": "Tables"}, 1, "w2")
    assert 4 == client.update(item, "c1", {"title": "Tables"}, 3, "w2").version


def test_a_row_moves_though_its_workspace_is_part_of_its_key(client):
    """Where the workspace stands in the primary key a row can still move, and keeps its id. I1"""
    client.insert(slot, {"day": "2026-09-28", "hour": 9})
    with client.write("w1") as write:
        write.update(slot, ("2026-09-28", 9), {"workspace_id": "w2"}, expected_version=1, to_workspace="w2")
    assert [("w2", 2)] == client.rows("SELECT workspace_id, version FROM slot")
    assert ["insert", "delete"] == [event.operation for event in client.changes("w1")]
    assert [("insert", 2)] == [(event.operation, event.version) for event in client.changes("w2")]


def test_a_block_goes_on_with_a_row_it_has_moved(client):
    """Later changes of a block find the row in its new workspace, and children find it as their parent. I1"""
    with client.write("w1") as write:
        write.insert(Move, MOVE_1)
        write.update(Move, "m1", {"workspace_id": "w2"}, expected_version=1, to_workspace="w2")
        write.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"}, workspace_id="w2")
        write.update(Move, "m1", {"stage": "booked"}, expected_version=2, workspace_id="w2")
    assert [1, 2, 1, 3] == [result.version for result in write.results]
    assert [("insert", "m1"), ("delete", "m1")] == [(e.operation, e.entity_id) for e in client.changes("w1")]
    assert [("insert", "m1"), ("insert", "c1"), ("update", "m1")] == [
        (event.operation, event.entity_id) for event in client.changes("w2")
    ]
    assert [("w2", "booked", 3)] == client.rows("SELECT workspace_id, stage, version FROM move")


def test_rows_move_with_their_parent(client):
    """A row whose workspace is its parent's leaves with it: an event in both workspaces, its version goes on. I1"""
    client.insert(Move, MOVE_1)
    client.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"})
    client.update(item, "c1", {"title": "Chairs"}, 1)
    with client.write("w1") as write:
        write.update(Move, "m1", {"workspace_id": "w2"}, expected_version=1, to_workspace="w2")
    assert ["insert", "update", "delete"] == [event.operation for event in client.changes("w1", entity=item)]
    assert [("insert", 3)] == [(event.operation, event.version) for event in client.changes("w2", entity=item)]
    assert 4 == client.update(item, "c1", {"title": "Tables"}, 3, "w2").version


def test_a_move_that_does_not_happen_is_refused(client):
    """`to_workspace` without the field that moves the row would tell of a move that never was. I1"""
    client.insert(Move, MOVE_1)
    with pytest.raises(InvalidInput, match="to_workspace"), client.write("w1") as write:
        write.update(Move, "m1", {"stage": "booked"}, expected_version=1, to_workspace="w2")
    assert 1 == len(client.recorded())
    assert [] == client.recorded("w2")


def test_a_move_that_is_not_said_is_refused(client):
    """A row does not leave its workspace, nor enter another, by a write that does not say so. I1"""
    client.insert(Move, MOVE_1)
    with pytest.raises(InvalidInput, match="move.workspace_id: does not belong .* to_workspace="):
        client.update(Move, "m1", {"workspace_id": "w2"}, 1)
    with pytest.raises(InvalidInput, match="move.workspace_id"):
        client.insert(Move, {"id": "m2", "workspace_id": "w2"}, "w1")
    assert [("m1", "w1")] == client.rows("SELECT id, workspace_id FROM move")


def test_w11_the_log_names_who_did_it(client):
    """An agent's write is the agent's, for a person, in its run; a person's act upon an agent is the person's. I1"""
    client.insert(Move, MOVE_1)
    client.update(Move, "m1", {"stage": "booked"}, 1, actor=AGENT, source_thread_id="t1", run_id="r3")
    client.insert(label, {"text": "agent assistant is disabled"}, actor=USER)
    client.update(Move, "m1", {"stage": "done"}, 2, actor=JOB)
    _, by_agent, by_user, by_job = client.changes()
    assert ("agent", "assistant", "u1") == (
        by_agent.actor.type,
        by_agent.actor.id,
        by_agent.actor.on_behalf_of,
    )
    assert ("t1", "r3") == (by_agent.source_thread_id, by_agent.run_id)
    assert (USER, "label", None, None) == (
        by_user.actor,
        by_user.entity_type,
        by_user.source_thread_id,
        by_user.run_id,
    )
    assert JOB == by_job.actor


def test_w15_a_write_that_changes_nothing_is_no_change(client):
    """The same values again make no event and no version, and nobody's version goes stale. I1"""
    client.insert(Move, {**MOVE_1, "door_code": "1111"})
    result = client.update(Move, "m1", {"stage": "new", "move_in_date": "2026-09-28", "door_code": "1111"}, 1)
    assert (1, (), None, None) == (
        result.version,
        result.changed_fields,
        result.event_id,
        result.revision,
    )
    assert 1 == client.head()
    assert 2 == client.update(Move, "m1", {"stage": "booked"}, 1).version


def test_a_row_keyed_by_several_columns(client):
    """Its id is the list of its key; it is found by a tuple, a mapping or that id. I1"""
    client.insert(slot, {"day": "2026-09-28", "hour": 9})
    client.update(slot, (date(2026, 9, 28), 9), {"taken_by": "m1"}, 1)
    client.update(slot, {"hour": 9, "day": "2026-09-28"}, {"taken_by": "m2"}, 2)
    client.update(slot, '["2026-09-28",9]', {"taken_by": "m3"}, 3)
    assert ['["2026-09-28",9]'] * 4 == [event.entity_id for event in client.changes()]


def test_the_same_key_in_two_workspaces_is_two_rows(client):
    """A key that counts only within its workspace finds the row of the workspace that is named. I1 I6"""
    for workspace_id in ("w1", "w2"):
        client.insert(slot, {"day": "2026-09-28", "hour": 9}, workspace_id)
    client.update(slot, (date(2026, 9, 28), 9), {"taken_by": "m3"}, 1)
    assert [("w1", "m3"), ("w2", None)] == client.rows("SELECT workspace_id, taken_by FROM slot ORDER BY workspace_id")
    client.delete(slot, (date(2026, 9, 28), 9), 1, "w2")
    assert [("w1", "m3")] == client.rows("SELECT workspace_id, taken_by FROM slot")


def test_a_mappers_own_version_column_is_used(client):
    """The version is the mapper's, whatever its name; the field's column may have another name too. I1 I6"""
    client.insert(Booking, {"number": "b1", "amount": 10})
    assert 2 == client.update(Booking, "b1", {"amount": "12.50"}, 1).version
    with pytest.raises(StaleWrite):
        client.update(Booking, "b1", {"amount": 13}, 1)
    assert [("b1", 2)] == client.rows("SELECT booking_number, lock_version FROM booking")
    assert ({"amount": "10.00"}, {"amount": "12.50"}) == (
        client.changes()[1].before,
        client.changes()[1].after,
    )
