"""I5: rows, HEAD and batch of one read come from one database snapshot."""

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import true

from abreast import Database, Entity, WorkspaceLog
from tests.contract.product import AGENT, Move, item

ITEM = Entity(item, expose=["title"], workspace="move_id.workspace_id")


def interrupting(columns, viewer):
    """Let the viewer do something while rows are being read."""
    if isinstance(viewer, Callable):
        viewer()
    return true()


MOVE = Entity(Move, expose=["stage"], where=interrupting)


@pytest.fixture
def elsewhere(client) -> Iterator[WorkspaceLog]:
    """Give a log on connections of its own, for what happens meanwhile."""
    with Database.open(client.engine().url.render_as_string(hide_password=False)) as database:
        yield WorkspaceLog(database, [MOVE, ITEM])


class Once:
    """Write once, whenever it is called first."""

    def __init__(self, log: WorkspaceLog, number: str) -> None:
        self.log, self.number, self.version = log, number, 0

    def __call__(self) -> None:
        """Change a row, delete one and insert one."""
        if self.version:
            return
        with self.log.write("w1", actor=AGENT, number=self.number) as write:
            write.update(Move, "m1", {"stage": "booked"}, expected_version=1)
            write.delete(Move, "m2", expected_version=1)
            write.insert(item, {"id": "c1", "move_id": "m1", "title": "Boxes"})
        self.version = 2


@pytest.fixture
def reader(client):
    """Give a log with two rows, one of which was changed since the thread was opened."""
    reading = client.of(MOVE, ITEM)
    reading.insert(Move, {"id": "m1"})
    reading.insert(Move, {"id": "m2"})
    reading.open_thread()
    reading.insert(Move, {"id": "m3"})
    return reading


def rows(snapshot):
    """Give the listed rows."""
    return [
        (row.entity_id, row.values.get("stage", row.values.get("title")))
        for entity in snapshot.entities
        for row in entity.rows
    ]


BEFORE = [("m1", "new"), ("m2", "new"), ("m3", "new")]
AFTER = [("m1", "booked"), ("m3", "new"), ("c1", "Boxes")]


@pytest.mark.parametrize("number", ["now", "later"])
def test_what_commits_while_a_batch_is_read_is_all_in_the_next(reader, elsewhere, number):
    """Neither its rows nor its events nor its HEAD are in the batch being read; all are in the next. I5 I4"""
    meanwhile = Once(elsewhere, number)
    batch = reader.read_batch(viewer=meanwhile)
    assert 2 == meanwhile.version
    assert (3, BEFORE) == (batch.head, rows(batch.snapshot))
    assert ["m3"] == [line.entity_id for line in batch.lines]
    assert (0, 3) == (batch.remaining, batch.cursor_after.revision)
    reader.confirm(batch)
    following = reader.read_batch()
    assert (6, AFTER) == (following.head, rows(following.snapshot))
    assert [("update", "m1"), ("delete", "m2"), ("insert", "c1")] == [
        (line.kind, line.entity_id) for line in following.lines
    ]


def test_what_commits_while_a_snapshot_is_read_is_in_none_of_it(reader, elsewhere):
    """Rows and HEAD of a snapshot are of one moment too. I5"""
    snapshot = reader.snapshot("w1", viewer=Once(elsewhere, "now"))
    assert (3, BEFORE) == (snapshot.head, rows(snapshot))
    assert (6, AFTER) == (reader.snapshot("w1").head, rows(reader.snapshot("w1")))


def test_what_waits_is_numbered_before_rows_are_read(reader):
    """The HEAD beside the rows covers what was only recorded when they were read. I5 I2"""
    reader.update(Move, "m1", {"stage": "booked"}, number="later")
    snapshot = reader.snapshot("w1")
    assert (4, "booked") == (snapshot.head, dict(rows(snapshot))["m1"])
    assert ["m3", "m1"] == [line.entity_id for line in reader.read_batch().lines]


def test_an_uncommitted_change_is_in_neither(reader):
    """What another transaction has not committed is in no row and no event. I5"""
    with reader.own("connection") as own:
        reader.update(Move, "m1", {"stage": "booked"}, within=own.raw)
        batch = reader.read_batch()
        assert (BEFORE, ["m3"]) == (rows(batch.snapshot), [line.entity_id for line in batch.lines])
        own.commit()
    assert ["m3", "m1"] == [line.entity_id for line in reader.read_batch().lines]


def test_replaying_events_on_a_snapshot_gives_the_rows(reader):
    """The events after a snapshot's HEAD, applied to its rows, give the rows of every later moment. I5 I2"""
    snapshot = reader.snapshot("w1")
    state = dict(rows(snapshot))
    head = snapshot.head
    for place in range(12):
        reader.insert(Move, {"id": f"n{place}"})
        reader.update(Move, f"n{place // 2}", {"stage": f"stage {place}"})
        if place % 3 == 0:
            reader.delete(Move, f"n{place}")
            reader.insert(Move, {"id": f"n{place}", "stage": "again"})
        for event in reader.changes(after=head):
            assert event.revision == head + 1
            head = event.revision
            if event.operation == "delete":
                del state[event.entity_id]
            else:
                state[event.entity_id] = event.after["stage"]
        live = reader.snapshot("w1")
        assert (head, state) == (live.head, dict(rows(live)))


def test_lines_agree_with_the_rows_beside_them(reader):
    """A line's last value is the value of the row in the same batch. I5"""
    reader.update(Move, "m1", {"stage": "booked"})
    reader.update(Move, "m1", {"stage": "done"})
    reader.delete(Move, "m2")
    batch = reader.read_batch()
    told = {line.entity_id: line.after if line.kind == "update" else None for line in batch.lines}
    current = {entity_id: row and row.values["stage"] for (_, entity_id), row in batch.current.items()}
    assert {"m1": "done", "m2": None, "m3": None} == told
    assert {"m1": "done", "m2": None, "m3": "new"} == current
