"""I6: a write whose expected version is stale changes nothing and says what changed since."""

import pytest

from abreast.errors import EntityNotFound, InvalidInput, StaleWrite, VersionRequired
from tests.contract.history import moves
from tests.contract.product import AGENT, JOB, OTHER_USER, USER, Booking, Move, item, label, remark, slot


def test_a_stale_write_changes_nothing_and_says_what_changed(client):
    """The refusal names row, versions, and who changed which fields since; row and log stay. I6"""
    client.insert(Move, {"id": "m1", "door_code": "1111"})
    client.update(Move, "m1", {"stage": "booked"}, 1)
    client.update(Move, "m1", {"door_code": "2222", "alarm_code": "3333"}, 2, actor=AGENT)
    with pytest.raises(StaleWrite) as raised:
        client.update(Move, "m1", {"stage": "done"}, 1, actor=OTHER_USER)
    error = raised.value
    assert ("move", "m1", 1, 3) == (error.entity_type, error.entity_id, error.expected, error.actual)
    assert [(USER, ("stage",)), (AGENT, ("door_code",))] == [
        (change.actor, change.changed_fields) for change in error.changes
    ]
    assert (
        "move 'm1' version: expected 1, found 3 (since then user update: stage; agent update: door_code); "
        "read the row again, then write with its version"
    ) == str(error)
    assert [("booked", 3)] == client.rows("SELECT stage, version FROM move")
    assert 3 == client.head()


def test_a_stale_delete_changes_nothing(client):
    """A row is deleted only at the version that was read. I6"""
    client.insert(Move, {"id": "m1"})
    client.update(Move, "m1", {"stage": "booked"}, 1)
    with pytest.raises(StaleWrite):
        client.delete(Move, "m1", 1)
    assert [("m1",)] == client.rows("SELECT id FROM move")
    assert 3 == client.delete(Move, "m1", 2).version


def test_a_version_that_never_was_is_stale(client):
    """A version ahead of the row's is refused like one behind it. I6"""
    client.insert(Move, {"id": "m1"})
    for version in (0, 2, 99, -1):
        with pytest.raises(StaleWrite) as raised:
            client.update(Move, "m1", {"stage": "booked"}, version)
        assert raised.value.actual == 1
    assert 1 == client.head()


def test_what_is_told_since_is_bounded(client):
    """Of a row that changed very often the first twenty changes are told. I6"""
    client.insert(Move, {"id": "m1"})
    for version in range(1, 31):
        client.update(Move, "m1", {"stage": str(version)}, version)
    with pytest.raises(StaleWrite) as raised:
        client.update(Move, "m1", {"stage": "late"}, 2)
    assert list(range(3, 23)) == [change.version for change in raised.value.changes]


def test_a_change_past_the_log_makes_a_version_stale(client):
    """A statement that raised the version column is a conflict, though the log cannot say who it was. I6"""
    client.insert(Move, {"id": "m1"})
    client.rows("UPDATE move SET stage = 'psql', version = version + 1")
    with pytest.raises(StaleWrite) as raised:
        client.update(Move, "m1", {"stage": "booked"}, 1)
    assert (2, ()) == (raised.value.actual, raised.value.changes)


def test_a_mappers_own_write_makes_a_version_stale(client):
    """What the application's ORM wrote with its version counter is a conflict for who read before it. I6"""
    client.insert(Booking, {"number": "b1", "amount": 10})
    with client.own("session") as own:
        own.get(Booking, "b1").guests = 2
        own.commit()
    with pytest.raises(StaleWrite) as raised:
        client.update(Booking, "b1", {"guests": 3}, 1)
    assert 2 == raised.value.actual
    assert 3 == client.update(Booking, "b1", {"guests": 3}, 2).version


def test_w03_a_write_without_a_version_is_refused(client):
    """It would overwrite what its writer has not seen; the refusal says what to pass. I6"""
    client.insert(Move, {"id": "m1"})
    for call in (
        lambda: client.update(Move, "m1", {"stage": "booked"}, None),
        lambda: client.delete(Move, "m1", None),
    ):
        with pytest.raises(
            VersionRequired, match=r"move 'm1': expected_version is missing; pass the version you last read, or"
        ):
            call()
    assert 1 == client.head()


def test_any_version_overwrites_what_is_there(client):
    """`expected_version="any"` is said, not forgotten: it takes the row as it is. I6"""
    client.insert(Move, {"id": "m1"})
    client.update(Move, "m1", {"stage": "booked"}, 1)
    assert 3 == client.update(Move, "m1", {"stage": "done"}, "any").version


def test_w02_patches_of_different_fields_merge(client):
    """With `merge="fields"` a patch passes when nobody touched its fields since; both values are kept. I6"""
    client.insert(Move, {"id": "m1", "stage": "new", "note": "old"})
    client.update(Move, "m1", {"note": "by hand"}, 1, actor=USER)
    assert 3 == client.update(Move, "m1", {"stage": "booked"}, 1, actor=AGENT, merge="fields").version
    assert [("booked", "by hand", 3)] == client.rows("SELECT stage, note, version FROM move")


def test_w02_patches_of_one_field_do_not_merge(client):
    """Overlapping patches are a conflict that tells who was first; so is a patch without `merge`. I6"""
    client.insert(Move, {"id": "m1", "note": "old"})
    client.update(Move, "m1", {"note": "by hand", "stage": "booked"}, 1, actor=USER)
    for fields, merge in (({"note": "by agent"}, "fields"), ({"memo": "x"}, None)):
        with pytest.raises(StaleWrite) as raised:
            client.update(Move, "m1", fields, 1, actor=AGENT, merge=merge)
        assert [(USER, ("note", "stage"))] == [(change.actor, change.changed_fields) for change in raised.value.changes]
    assert [("by hand", 2)] == client.rows("SELECT note, version FROM move")


def test_a_patch_does_not_merge_with_what_is_not_known(client):
    """Changes past the log, secret fields, and a row that was deleted meanwhile keep a patch from passing. I6"""
    client.insert(Move, {"id": "m1"})
    client.rows("UPDATE move SET stage = 'psql', version = 2")
    with pytest.raises(StaleWrite):
        client.update(Move, "m1", {"note": "x"}, 1, merge="fields")
    client.update(Move, "m1", {"alarm_code": "1"}, 2)
    with pytest.raises(StaleWrite):
        client.update(Move, "m1", {"alarm_code": "2"}, 2, merge="fields")
    client.delete(Move, "m1", 3)
    client.insert(Move, {"id": "m1"})
    with pytest.raises(StaleWrite):
        client.update(Move, "m1", {"memo": "x"}, 3, merge="fields")


def test_w16_losers_try_again_on_the_fresh_version(client):
    """Twenty workers that each add to one row at a version they read keep every addition. I6"""
    client.insert(Move, {"id": "m1", "note": ""})
    read = [(1, "")] * 20
    refused = 0
    for worker, (version, note) in enumerate(read):
        try:
            client.update(Move, "m1", {"note": f"{note} {worker}"}, version)
        except StaleWrite as conflict:
            refused += 1
            row = client.snapshot("w1").entities[0].rows[0]
            client.update(Move, "m1", {"note": f"{row.values['note']} {worker}"}, conflict.actual)
    assert 19 == refused
    assert [(" ".join(["", *map(str, range(20))]), 21)] == client.rows("SELECT note, version FROM move")
    assert list(range(1, 22)) == [event.version for event in client.changes()]


def test_versions_of_a_table_without_a_version_column(client):
    """They are kept by abreast: reads give them, writes count them on, stale ones are refused. I6"""
    moves(client, 1)
    client.put(item, {"id": "c1", "move_id": "m000", "title": "Boxes"})
    assert [1] == [row.version for row in client.snapshot("w1").entities[2].rows]
    assert 2 == client.update(item, "c1", {"title": "Chairs"}, 1).version
    with pytest.raises(StaleWrite) as raised:
        client.update(item, "c1", {"done": True}, 1)
    assert (2, [("title",)]) == (
        raised.value.actual,
        [change.changed_fields for change in raised.value.changes],
    )
    assert 3 == client.update(item, "c1", {"done": True}, 1, merge="fields").version
    assert [3] == [row.version for row in client.snapshot("w1").entities[2].rows]
    assert 4 == client.delete(item, "c1", 3).version


@pytest.mark.parametrize("kind", ["column", "kept"])
def test_versions_go_on_when_a_row_is_inserted_again(client, kind):
    """A version names one state of a row for good: after a deletion and a new insertion an old one is stale. I6"""
    client.insert(Move, {"id": "m1"})
    table, fields = (Move, {"id": "m2"}) if kind == "column" else (item, {"id": "m2", "move_id": "m1"})
    change = {"stage": "booked"} if kind == "column" else {"done": True}
    extra = {} if kind == "column" else {"title": "Boxes"}
    client.insert(table, {**fields, **extra})
    client.delete(table, "m2", 1)
    assert 3 == client.insert(table, {**fields, **extra}).version
    with pytest.raises(StaleWrite):
        client.update(table, "m2", change, 1)
    assert 4 == client.update(table, "m2", change, 3).version


@pytest.mark.parametrize("table", [remark, label], ids=["column", "kept"])
def test_versions_go_on_when_the_database_gives_a_number_again(client, table):
    """SQLite numbers a new row like the one deleted last; the old row's versions are stale for it. I6"""
    client.insert(Move, {"id": "m1"})
    client.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"})
    place = {"item_id": "c1"} if table is remark else {}
    first = client.insert(table, {**place, "text": "fragile"}).entity_id
    client.update(table, first, {"text": "heavy"}, 1)
    client.delete(table, first, 2)
    again = client.insert(table, {**place, "text": "this side up"}, mutation_id="k1")
    reused = again.entity_id == first
    assert (client.kind == "sqlite", 4 if reused else 1) == (reused, again.version)
    if reused:
        with pytest.raises(StaleWrite):
            client.update(table, first, {"text": "heavy"}, 1)
    assert again.version == client.insert(table, {**place, "text": "this side up"}, mutation_id="k1").version
    assert again.version + 1 == client.update(table, again.entity_id, {"text": "x"}, again.version).version


@pytest.mark.parametrize("kind", ["column", "kept"])
def test_versions_go_on_though_the_log_forgot_the_row(client, kind):
    """A deleted row's last version is known for as long as it may come again, whatever the log still keeps. I6"""
    client.insert(Move, {"id": "m1"})
    table, fields = (slot, {"day": "2026-09-28", "hour": 9}) if kind == "column" else (item, BOXES)
    key, change = (tuple(fields.values()), {"taken_by": "m1"}) if kind == "column" else ("c1", {"done": True})
    client.insert(table, fields)
    client.update(table, key, change, 1)
    client.delete(table, key, 2)
    client.insert(label, {"text": "fragile"})
    assert 5 == client.forget_before("w1", 5)
    assert 4 == client.insert(table, fields).version
    with pytest.raises(StaleWrite):
        client.update(table, key, change, 1)


BOXES = {"id": "c1", "move_id": "m1", "title": "Boxes"}


def test_w04_a_row_a_person_deleted_is_told_when_it_comes_again(client):
    """An agent's insertion of a row that a person deleted is recorded as such: delete and insert, one line. I6"""
    client.insert(Move, {"id": "f5"})
    client.open_thread()
    client.delete(Move, "f5", 1, actor=USER)
    assert 3 == client.insert(Move, {"id": "f5"}, actor=JOB).version
    (line,) = client.read_batch().lines
    assert ("replace", (USER, JOB)) == (line.kind, line.actors)


def test_a_row_that_is_gone_or_elsewhere_is_not_found(client):
    """Deleted, never there, or in another workspace: the same words, and nothing stored. I6"""
    client.insert(Move, {"id": "m1"})
    client.insert(Move, {"id": "m2"}, "w2")
    client.delete(Move, "m1", 1)
    for key in ("m1", "m2", "m3"):
        for call in (
            lambda key=key: client.update(Move, key, {"stage": "x"}, 1),
            lambda key=key: client.delete(Move, key, "any"),
        ):
            with pytest.raises(EntityNotFound) as raised:
                call()
            assert (
                f"move {key!r} was not found; read the rows of workspace 'w1' again and use an id from there"
            ) == str(raised.value)
    assert (2, 1) == (client.head("w1"), client.head("w2"))


def test_versions_are_whole_numbers(client):
    """A version that is no whole number, or an unknown way to merge, is named before anything happens. I6"""
    client.insert(Move, {"id": "m1"})
    for version in ("1", 1.0, True):
        with pytest.raises(InvalidInput, match='expected_version: is neither a whole number nor "any"; pass'):
            client.update(Move, "m1", {"stage": "x"}, version)
    with pytest.raises(InvalidInput, match='merge: is unknown; use merge="fields" or leave it out'):
        client.update(Move, "m1", {"stage": "x"}, 1, merge="rows")
    assert 1 == client.head()
