"""Entities of every shape: where their workspace is found, what types they hold, who may see them."""

import uuid
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest
from sqlalchemy import Column, Integer, MetaData, Numeric, String, Table, Uuid

from abreast import Entity
from abreast.errors import EntityNotFound, InvalidInput
from tests.contract.product import (
    MOVE,
    SAMPLE_FIELDS,
    Move,
    Size,
    item,
    label,
    new_uuid,
    remark,
    sample,
    slot,
    ticket,
)

VALUES = {
    "day": (date(2026, 9, 28), "2026-09-28"),
    "moment": (
        datetime(2026, 9, 28, 9, 30, tzinfo=timezone(timedelta(hours=9))),
        "2026-09-28T00:30:00+00:00",
    ),
    "local_moment": (datetime(2026, 9, 28, 9, 30, 0, 5), "2026-09-28T09:30:00.000005"),  # noqa: DTZ001 - as stored
    "at": (time(9, 30), "09:30:00"),
    "lasts": (timedelta(hours=1.5), 5_400.0),
    "price": (Decimal("12.50"), "12.50"),
    "weight": (0.1, 0.1),
    "amount": (-7, -7),
    "paid": (True, True),
    "size": (Size.LARGE, "LARGE"),
    "tags": ({"a": [1, 2.5, None, True, {"b": "ü"}]}, {"a": [1, 2.5, None, True, {"b": "ü"}]}),
    "parcel": (new_uuid(7), str(new_uuid(7))),
    "photo": (b"\x00\xff", "AP8="),
    "text": ("a\tb\nc 'd' \"e\" é 漢 😀 \\ %s :x ?", "a\tb\nc 'd' \"e\" é 漢 😀 \\ %s :x ?"),
}
"""What each column is given, and what of it stands in events and rows."""
JSON = {name: json for name, (_, json) in VALUES.items()}


def listed(client, place=0, **options):
    """Give an entity's listed rows: id, version, values."""
    entity = client.snapshot("w1", **options).entities[place]
    return [(row.entity_id, row.version, row.values) for row in entity.rows]


def test_values_of_every_type_are_the_same_in_row_and_event(client):
    """What was written stands in the event and in the rows in one form, on every database. I1 I5"""
    assert set(SAMPLE_FIELDS) == set(VALUES)
    native = {name: value for name, (value, _) in VALUES.items()}
    client.insert(sample, {"id": new_uuid(1), **native})
    ((entity_id, version, values),) = listed(client, 6)
    assert (str(new_uuid(1)), 1) == (entity_id, version)
    assert JSON == values == client.changes()[0].after


def test_values_may_be_written_as_json(client):
    """A tool's arguments are taken as they are: dates, numbers and ids as text. I1"""
    written = {**JSON, "moment": "2026-09-28T09:30:00+09:00", "photo": b"\x00\xff"}
    client.insert(sample, {"id": str(new_uuid(1)), **written})
    assert JSON == client.changes()[0].after == listed(client, 6)[0][2]


@pytest.mark.parametrize("form", ["native", "json"])
def test_writing_what_is_there_changes_nothing(client, form):
    """A value that was read, or given again in its own type, is no change: no event, no version. I1"""
    native = {name: value for name, (value, _) in VALUES.items()}
    client.insert(sample, {"id": new_uuid(1), **native})
    again = native if form == "native" else {**JSON, "photo": b"\x00\xff"}
    result = client.update(sample, new_uuid(1), again, 1)
    assert (1, (), None) == (result.version, result.changed_fields, result.event_id)
    assert 1 == client.head()


def test_every_type_can_be_emptied_and_filled(client):
    """From a value to none and back: both are told, none as null. I1"""
    native = {name: value for name, (value, _) in VALUES.items()}
    client.insert(sample, {"id": new_uuid(1), **native})
    nothing = dict.fromkeys(VALUES)
    client.update(sample, new_uuid(1), nothing, 1)
    client.update(sample, str(new_uuid(1)), native, 2)
    _, emptied, filled = client.changes()
    assert (JSON, nothing) == (emptied.before, emptied.after)
    assert (nothing, JSON) == (filled.before, filled.after)
    assert tuple(sorted(VALUES)) == emptied.changed_fields


def test_values_are_rounded_as_their_column_rounds(client):
    """A number finer than its column is told as it is stored, and told the same again is no change. I1"""
    client.insert(sample, {"id": new_uuid(1), "price": "12.504"})
    assert "12.50" == client.changes()[0].after["price"] == listed(client, 6)[0][2]["price"]
    assert None is client.update(sample, new_uuid(1), {"price": Decimal("12.5")}, 1).event_id
    client.update(sample, new_uuid(1), {"moment": datetime(2026, 9, 28, tzinfo=UTC)}, 1)
    same_moment = datetime(2026, 9, 28, 2, tzinfo=timezone(timedelta(hours=2)))
    assert None is client.update(sample, new_uuid(1), {"moment": same_moment}, 2).event_id


def test_a_workspace_is_found_over_foreign_keys(client):
    """Rows one and two foreign keys away from their workspace are read, written and kept apart by it. I1 P02"""
    for workspace_id, move in (("w1", "m1"), ("w2", "m2")):
        with client.write(workspace_id) as write:
            write.insert(Move, {"id": move})
            write.insert(item, {"id": f"c{move}", "move_id": move, "title": "Boxes"})
            write.insert(remark, {"item_id": f"c{move}", "text": f"for {move}"})
    assert [{"title": "Boxes", "done": False}] == [values for _, _, values in listed(client, 2)]
    assert [{"text": "for m1"}] == [values for _, _, values in listed(client, 3)]
    ((own, _, _),) = listed(client, 3)
    client.update(remark, own, {"text": "changed"}, 1)
    client.update(remark, int(own), {"text": "changed again"}, 2)
    assert ["insert"] == [event.operation for event in client.changes("w2", entity=remark)]
    assert 3 == len(client.changes("w1", entity=remark))


def test_a_block_may_build_on_its_own_rows(client):
    """Parents and children inserted in one block find each other, in the workspace of the parent. I1"""
    with client.write("w1") as write:
        write.insert(Move, {"id": "m1"})
        write.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"})
        write.update(item, "c1", {"title": "Chairs"}, expected_version=1)
        write.insert(remark, {"item_id": "c1", "text": "heavy"})
    assert [("c1", "Chairs")] == client.rows("SELECT id, title FROM item")
    assert [1, 1, 2, 1] == [result.version for result in write.results]


def test_p02_ids_of_another_workspace_are_not_found(client):
    """A row, or a parent, of another workspace is as unknown as one that never was, in the same words. P02"""
    client.insert(Move, {"id": "m1"})
    client.insert(Move, {"id": "m2"}, "w2")
    client.insert(item, {"id": "c2", "move_id": "m2", "title": "Boxes"}, "w2")
    client.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"})

    def refusal(call):
        with pytest.raises(EntityNotFound) as raised:
            call()
        return str(raised.value)

    for attempt in (
        lambda id_: client.update(Move, id_, {"stage": "x"}, "any"),
        lambda id_: client.delete(Move, id_, "any"),
        lambda id_: client.insert(item, {"id": "c9", "move_id": id_, "title": "x"}),
        lambda id_: client.update(item, "c1", {"move_id": id_}, "any"),
    ):
        assert refusal(lambda call=attempt: call("m2")) == refusal(lambda call=attempt: call("m9")).replace("m9", "m2")
    for attempt in (
        lambda id_: client.update(item, id_, {"title": "x"}, "any"),
        lambda id_: client.insert(remark, {"item_id": id_, "text": "x"}),
    ):
        assert refusal(lambda call=attempt: call("c2")) == refusal(lambda call=attempt: call("c9")).replace("c9", "c2")
    assert (2, 2) == (client.head("w1"), client.head("w2"))
    assert [] == client.changes("w1", entity=Move, key="m2")
    assert "m2" not in repr(client.read_batch())


def test_a_row_may_not_be_put_under_no_parent(client):
    """Without a parent a row would be in no workspace. I1"""
    client.insert(Move, {"id": "m1"})
    client.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"})
    for call in (
        lambda: client.update(item, "c1", {"move_id": None}, 1),
        lambda: client.insert(item, {"id": "c2", "title": "Boxes"}),
        lambda: client.insert(Move, {"id": "m2", "workspace_id": None}),
    ):
        with pytest.raises((EntityNotFound, InvalidInput)):
            call()
    assert 2 == client.head()


def test_rows_are_listed_in_order_and_counted(client):
    """By the entity's order, ties by key, at most its limit, with how many there are. I5"""
    for number, priority in enumerate((2, 1, 2, 3, 1)):
        client.put(ticket, ticket_row(number, priority=priority))
    few = client.of(Entity(ticket, expose=["priority"], order_by=["-priority", "id"], limit=3))
    (rows,) = few.snapshot("w1").entities
    assert (["3", "0", "2"], 5) == ([row.entity_id for row in rows.rows], rows.total)
    plain = client.of(Entity(ticket, expose=["priority"]))
    assert ["0", "1", "2", "3", "4"] == [id_ for id_, _, _ in listed(plain)]


def ticket_row(number, *, owner="u1", state="open", priority=1, workspace_id="w1"):
    """Give a ticket."""
    return {
        "id": number,
        "workspace_id": workspace_id,
        "owner": owner,
        "state": state,
        "priority": priority,
        "version": 1,
    }


@pytest.fixture
def tickets(client):
    """Give a log of tickets: closed ones are not listed, and nobody sees somebody else's."""
    entity = Entity(
        ticket,
        expose=["state", "priority"],
        where=lambda columns, _: columns.state == "open",
        visible=lambda columns, viewer: columns.owner == viewer,
    )
    log = client.of(entity)
    client.put(
        ticket,
        ticket_row(1),
        ticket_row(2, state="closed"),
        ticket_row(3, owner="u2"),
        ticket_row(4, owner="u2", state="closed"),
        ticket_row(5, workspace_id="w2"),
    )
    log.open_thread()
    return log


def test_a_viewer_sees_own_rows_and_the_list_its_own(tickets):
    """`visible` and `where` bound what is listed; the count is of what the viewer may see. I5 I9"""
    assert (["1"], ["3"], []) == tuple(
        [id_ for id_, _, _ in listed(tickets, viewer=viewer)] for viewer in ("u1", "u2", None)
    )
    assert 1 == tickets.snapshot("w1", viewer="u1").entities[0].total


def test_changes_of_rows_a_viewer_may_not_see_are_delivered_untold(tickets):
    """Everybody's cursor goes on; the lines are only of rows the viewer may see now. I4 I9"""
    for number in (1, 2, 3, 4):
        tickets.update(ticket, number, {"priority": 9}, 1)
    tickets.delete(ticket, 1)
    tickets.insert(ticket, {key: value for key, value in ticket_row(6).items() if key != "version"})
    batch = tickets.read_batch(viewer="u1")
    assert [("2", "update"), ("6", "insert")] == [(line.entity_id, line.kind) for line in batch.lines]
    assert {"2", "6"} == {entity_id for _, entity_id in batch.current}
    assert (6, 6) == (batch.event_count, batch.cursor_after.revision)
    assert ["3", "4"] == [line.entity_id for line in tickets.read_batch(viewer="u2").lines]


def test_a_row_that_becomes_visible_is_told_and_one_that_no_longer_is_is_not(tickets):
    """Who may read a line is decided by the row as it is now. I9"""
    tickets.update(ticket, 1, {"owner": "u2", "priority": 5}, 1)
    assert [] == list(tickets.read_batch(viewer="u1").lines)
    assert ["priority"] == [line.field for line in tickets.read_batch(viewer="u2").lines]


def test_one_table_may_be_two_entities(client):
    """Under two names a table's rows are recorded and read as each entity describes them. I1"""
    log = client.of(MOVE, Entity(Move, expose=["stage"], name="stage_of_move"))
    log.insert("stage_of_move", {"id": "m1", "note": "private"})
    assert {"stage": "new"} == log.changes()[0].after
    assert "stage_of_move" == log.changes()[0].entity_type
    log.update(Move, "m1", {"note": "open"})
    assert "move" == log.changes()[1].entity_type
    with log.own("session") as own:
        object_ = own.get(Move, "m1")
        log.update("stage_of_move", "m1", {"stage": "booked"}, within=own.raw)
        assert "booked" == own.look(object_, "stage")
        own.commit()


@pytest.mark.parametrize(
    ("kind", "workspace_id", "native"),
    [(Integer(), "7", 7), (Uuid(), str(uuid.UUID(int=7)), uuid.UUID(int=7)), (String(40), "7", "7")],
    ids=["integer", "uuid", "text"],
)
def test_workspaces_of_any_type(client, kind, workspace_id, native):
    """The product's workspace column may hold numbers or UUIDs; abreast's ids are their text. I1"""
    metadata = MetaData()
    table = Table(
        "parcel",
        metadata,
        Column("id", Integer, primary_key=True, autoincrement=False),
        Column("workspace_id", kind, nullable=False),
        Column("text", String(40)),
        Column("version", Integer, nullable=False),
    )
    metadata.create_all(client.engine())
    try:
        log = client.of(Entity(table, expose=["text"]))
        log.insert(table, {"id": 1, "text": "fragile"}, workspace_id)
        log.open_thread(workspace_id)
        log.update(table, 1, {"text": "heavy"}, 1, workspace_id)
        with log.engine().connect() as connection:
            assert [(1, native, "heavy", 2)] == connection.execute(table.select()).all()
        assert ["heavy"] == [line.after for line in log.read_batch(workspace_id).lines]
        with pytest.raises(InvalidInput, match="parcel.workspace_id"):
            log.update(table, 1, {"workspace_id": another(native)}, 2, workspace_id)
    finally:
        metadata.drop_all(client.engine())


def another(value):
    """Give another value of the same type."""
    return uuid.UUID(int=8) if isinstance(value, uuid.UUID) else type(value)(8)


@pytest.mark.parametrize("hops", [0, 1])
def test_a_key_need_not_be_the_primary_key(client, hops):
    """Fields that identify a row within its workspace may be its key; other workspaces' rows are others. I1 I6"""
    table, workspace = (item, "move_id.workspace_id") if hops else (label, "workspace_id")
    name = "title" if hops else "text"
    log = client.of(MOVE, Entity(table, expose=[], hidden=["done"] if hops else [], key=[name], workspace=workspace))
    for workspace_id in ("w1", "w2"):
        log.insert(Move, {"id": workspace_id}, workspace_id)
        parent = {"id": f"c{workspace_id}", "move_id": workspace_id} if hops else {}
        assert "Boxes" == log.insert(table, {name: "Boxes", **parent}, workspace_id).entity_id
    if hops:
        assert 2 == log.update(table, "Boxes", {"done": True}, 1, "w2").version
        assert [("cw1", False), ("cw2", True)] == client.rows("SELECT id, done FROM item ORDER BY id")
    log.delete(table, "Boxes", "any", "w2")
    assert [1, 0] == [log.snapshot(workspace_id).entities[1].total for workspace_id in ("w1", "w2")]


def test_numbers_without_a_scale_are_told_as_numbers(client):
    """A database's own way to pad a number is no part of its value. I1"""
    metadata = MetaData()
    table = Table(
        "parcel",
        metadata,
        Column("id", Integer, primary_key=True, autoincrement=False),
        Column("workspace_id", String(40), nullable=False),
        Column("weight", Numeric()),
        Column("version", Integer, nullable=False),
    )
    metadata.create_all(client.engine())
    try:
        log = client.of(Entity(table, expose=["weight"]))
        log.insert(table, {"id": 1, "weight": "12.50"})
        assert "12.5" == log.changes()[0].after["weight"] == listed(log)[0][2]["weight"]
        for same in (12.5, "12.500", Decimal("12.5")):
            assert None is log.update(table, 1, {"weight": same}, 1).event_id
        log.update(table, 1, {"weight": 1_000}, 1)
        assert "1000" == log.changes()[1].after["weight"]
    finally:
        metadata.drop_all(client.engine())


def test_a_product_without_rows_is_no_workspace_until_it_has_one(client):
    """A workspace that has rows, but no log yet, begins one when it is read first. I2 I3"""
    client.put(label, {"workspace_id": "w1", "text": "fragile"})
    client.put(slot, {"workspace_id": "w3", "day": date(2026, 9, 28), "hour": 1, "version": 4})
    batch = client.read_batch()
    assert (0, 0, ()) == (batch.head, batch.cursor_after.revision, batch.lines)
    assert 1 == sum(entity.total for entity in batch.snapshot.entities)
    client.update(slot, ("2026-09-28", 1), {"taken_by": "m1"}, 4, "w3")
    assert [5] == [event.version for event in client.changes("w3")]
