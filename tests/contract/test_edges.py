"""Corners of a product's own schema: spellings, enums, defaults, moves, cells nobody can read, waiting."""

import enum
import threading
from uuid import UUID

import pytest
from sqlalchemy import (
    JSON,
    Column,
    Enum,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    Numeric,
    String,
    Table,
    Uuid,
    create_engine,
    insert,
    text,
)

from abreast import Actor, Database, Entity, WorkspaceLog
from abreast.errors import InvalidEntity, InvalidInput, StaleWrite

PERSON = Actor.user("u1")
ID = "00000000-0000-0000-0000-00000000abcd"

metadata = MetaData()


class Color(enum.StrEnum):
    """Colours of a box."""

    RED = "red"


office = Table("office", metadata, Column("id", Uuid, primary_key=True), Column("workspace_id", Uuid, nullable=False))
move = Table(
    "move",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("stage", String(40), default="new"),
    Column("rent", Numeric(10, 2)),
    Column("secret", String(40)),
    Column("version", Integer, nullable=False, default=0),
)
box = Table(
    "box",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("move_id", ForeignKey("move.id"), nullable=False),
    Column("color", String(40)),
    Column("size", Enum("small", "large", native_enum=False, create_constraint=False)),
    Column("labels", JSON),
)


@pytest.fixture
def database(database_url):
    """Give a database with the product's tables."""
    with Database.open(database_url, lock_timeout=5) as database:
        database.run(metadata.create_all)
        yield database


@pytest.fixture
def log(database):
    """Give a log of two entities, one below the other."""
    return WorkspaceLog(
        database,
        [
            Entity(move, expose=["stage", "rent"], hidden=["secret"]),
            Entity(box, expose=["color", "size", "labels"], workspace="move_id.workspace_id"),
        ],
    )


def write(log, operation, *args, workspace_id="w1", **options):
    """Make one change in a block of its own."""
    with log.write(workspace_id, actor=PERSON) as block:
        getattr(block, operation)(*args, **options)
    return block.results[0]


@pytest.fixture
def filled(log):
    """Give the log with a move and a box."""
    write(log, "insert", move, {"id": "m1"})
    write(log, "insert", box, {"id": "b1", "move_id": "m1", "color": "red"})
    return log


def test_a_workspace_has_one_spelling(database):
    """Another spelling of a workspace's id is refused, so that no change goes to a log nobody reads. I4"""
    log = WorkspaceLog(database, [Entity(office, expose=["id"])])
    write(log, "insert", office, {"id": ID}, workspace_id=ID)
    for call in (
        lambda: write(log, "delete", office, ID, workspace_id=ID.upper(), expected_version="any"),
        lambda: log.open_thread(ID.replace("-", ""), "t1"),
        lambda: log.open_workspace("acme"),
    ):
        with pytest.raises(InvalidInput, match="workspace_id"):
            call()
    assert [UUID(ID)] == [row.id for row in database.run(lambda connection: connection.execute(office.select()).all())]


def test_a_path_names_one_row():
    """A foreign key of several columns, or to one that is not unique, does not say whose row it is. P02"""
    other = MetaData()
    Table(
        "parent", other, Column("workspace_id", String(9), primary_key=True), Column("id", String(9), primary_key=True)
    )
    child = Table(
        "child",
        other,
        Column("id", String(9), primary_key=True),
        Column("workspace_id", String(9)),
        Column("parent_id", String(9)),
        ForeignKeyConstraint(["workspace_id", "parent_id"], ["parent.workspace_id", "parent.id"]),
    )
    with pytest.raises(InvalidEntity, match="parent_id"):
        WorkspaceLog(
            Database.open("sqlite:///never.db"), [Entity(child, expose=[], workspace="parent_id.workspace_id")]
        )


def test_a_block_writes_nothing_below_a_row_it_has_moved(filled):
    """A row below a moved one has another workspace by then: such a block is refused, and nothing is stored. I1"""
    with pytest.raises(InvalidInput, match="box"), filled.write("w1", actor=PERSON) as block:
        block.update(move, "m1", {"workspace_id": "w2"}, expected_version=1, to_workspace="w2")
        block.update(box, "b1", {"color": "blue"}, expected_version=1)
    assert 2 == len(filled.changes("w1"))


def test_a_move_waits_for_a_change_below(filled, database):
    """A row below is not changed in the old workspace while the row above it moves. I4"""
    if database.name.startswith("sqlite"):
        return  # one writer at a time: the move waits for the file
    engine = create_engine(database.name)
    with engine.connect() as connection, connection.begin() as transaction:
        with filled.write("w1", actor=PERSON, within=connection) as block:
            block.update(box, "b1", {"color": "late"}, expected_version=1)
        mover = threading.Thread(
            target=write,
            args=(filled, "update", move, "m1", {"workspace_id": "w2"}),
            kwargs={"expected_version": 1, "to_workspace": "w2"},
        )
        mover.start()
        mover.join(0.5)
        assert mover.is_alive()
        transaction.commit()
    mover.join()
    engine.dispose()
    assert ["insert", "update", "delete"] == [event.operation for event in filled.changes("w1", entity=box)]
    assert [3] == [event.version for event in filled.changes("w2", entity=box)]


def test_who_refers_to_a_row_delays_nobody(filled, database):
    """An open transaction that inserted a row below another does not hold up changes of that one. W24"""
    if database.name.startswith("sqlite"):
        return
    engine = create_engine(database.name)
    with engine.connect() as connection, connection.begin():
        connection.execute(insert(box).values(id="b2", move_id="m1"))
        assert 2 == write(filled, "update", move, "m1", {"stage": "booked"}, expected_version=1).version
    engine.dispose()


def test_versions_go_on_after_a_deletion(filled, database):
    """A row that the application puts back with version 1 can be changed, moved and deleted. I6"""
    write(filled, "delete", box, "b1", expected_version=1)
    assert 3 == write(filled, "insert", box, {"id": "b1", "move_id": "m1"}).version
    with pytest.raises(StaleWrite):
        write(filled, "update", box, "b1", {"color": "blue"}, expected_version=1)
    write(filled, "delete", box, "b1", expected_version=3)
    write(filled, "delete", move, "m1", expected_version=1)
    database.run(lambda connection: connection.execute(insert(move).values(id="m1", workspace_id="w1", version=1)))
    assert 2 == write(filled, "update", move, "m1", {"stage": "booked"}, expected_version=1).version
    write(filled, "delete", move, "m1", expected_version="any")


def test_version_0_is_a_version(filled, database):
    """A row whose version column begins at 0 is shown with 0 and written with 0. I6"""
    database.run(lambda connection: connection.execute(insert(move).values(id="m0", workspace_id="w1")))
    assert [0, 1] == [row.version for row in filled.snapshot("w1").entities[0].rows]
    assert 1 == write(filled, "update", move, "m0", {"stage": "booked"}, expected_version=0).version


def test_enums_that_are_text_are_text(filled):
    """A text enum in a text or JSON column is its text; the same again is no change. W15"""
    assert () == write(filled, "update", box, "b1", {"color": Color.RED}, expected_version=1).changed_fields
    write(filled, "update", box, "b1", {"labels": {"color": Color.RED}}, expected_version=1)
    assert {"labels": {"color": "red"}} == filled.changes("w1", entity=box)[-1].after


def test_defaults_are_not_taken_for_nothing(filled):
    """A field the insert left to its default and a later change of the block empties is empty. I1"""
    with filled.write("w1", actor=PERSON) as block:
        block.insert(move, {"id": "m2"})
        block.update(move, "m2", {"stage": None}, expected_version=1)
    assert [None] == [row.values["stage"] for row in filled.snapshot("w1").entities[0].rows if row.entity_id == "m2"]


def test_money_is_rounded_as_databases_do(filled):
    """Half a cent goes up, and what the column cannot hold is refused by name. I1"""
    write(filled, "update", move, "m1", {"rent": "12.345"}, expected_version=1)
    assert "12.35" == filled.changes("w1", entity=move)[-1].after["rent"]
    with pytest.raises(InvalidInput, match="move.rent"):
        write(filled, "update", move, "m1", {"rent": "1e150000000"}, expected_version=2)


def test_a_cell_nobody_can_read_stops_no_conversation(filled, database):
    """An unknown enum member put there past the log is shown as text, and the row can be changed. S03"""
    filled.open_thread("w1", "t1")
    database.run(lambda connection: connection.execute(text("UPDATE box SET size = 'huge'")))
    assert "huge" == filled.read_batch("w1", "t1").snapshot.entities[1].rows[0].values["size"]
