"""What a newcomer gets wrong in the first hour is told at once, with the way out."""

import asyncio
import subprocess
import sys

import pytest
from sqlalchemy import (
    Column,
    Date,
    DateTime,
    Enum,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    create_engine,
    text,
)
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, scoped_session, sessionmaker

from abreast import Actor, Database, Entity, WorkspaceLog
from abreast.errors import DatabaseBusy, DatabaseUnavailable, InvalidEntity, InvalidInput, TableMissing
from abreast.prompt import render
from abreast.sql.mapping import EntityTable

PERSON = Actor.user("u1")
metadata = MetaData()
move = Table(
    "move",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("day", Date),
    Column("moment", DateTime),
    Column("stage", Enum("new", "booked", native_enum=False, create_constraint=False)),
    Column("version", Integer, nullable=False),
)
box = Table(
    "box",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("move_id", ForeignKey("move.id")),
    Column("label", String(40)),
)
room = Table(
    "room",
    metadata,
    Column("workspace_id", String(40), primary_key=True),
    Column("move_id", String(40), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("name", String(40)),
    Column("version", Integer, nullable=False),
)


class Base(DeclarativeBase):
    """Mapped classes whose attributes have other names than their columns."""


class Project(Base):
    """A row with its workspace under another name."""

    __tablename__ = "project"
    id: Mapped[str] = mapped_column("p_id", String(40), primary_key=True)
    tenant: Mapped[str] = mapped_column("tenant_id", String(40))


class Task(Base):
    """A row below a project."""

    __tablename__ = "task"
    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    project: Mapped[str] = mapped_column("project_id", ForeignKey("project.p_id"))


def entities():
    """Describe the tables."""
    return [
        Entity(move, expose=["day", "moment", "stage"]),
        Entity(box, expose=["label"], workspace="move_id.workspace_id"),
        Entity(room, expose=["name"], label="room"),
    ]


@pytest.fixture
def log(tmp_path):
    """Give a log on a file of its own, with a move."""
    with Database.open(f"sqlite:///{tmp_path / 'app.db'}") as database:
        database.upgrade()
        database.run(metadata.create_all)
        log = WorkspaceLog(database, entities())
        with log.write("w1", actor=PERSON) as write:
            write.insert(move, {"id": "m1"})
        yield log


@pytest.mark.parametrize("kept", ["hidden", "secret"])
def test_a_key_is_not_hidden(kept):
    """I9: what every block and event shows can be named in neither `hidden` nor `secret`."""
    for options, name in (({"key": ["day"]}, "day"), ({}, "id"), ({}, "version")):
        with pytest.raises(InvalidEntity, match=f"'{name}' is named in {kept}, but it is"):
            EntityTable(Entity(move, expose=[], **options, **{kept: [name]}))
    with pytest.raises(InvalidEntity, match="'number' is named in"):
        EntityTable(Entity(room, expose=[], **{kept: ["number"]}))
    with pytest.raises(InvalidEntity, match="'id' is named in"):
        EntityTable(Entity(Project, expose=[], workspace="tenant", **{kept: ["id"]}))
    EntityTable(Entity(move, expose=[], version=None, **{kept: ["version"]}))


@pytest.mark.parametrize("argument", ["expose", "hidden", "secret", "key", "order_by"])
@pytest.mark.parametrize("given", ["stage", None, 7, [7]])
def test_fields_are_listed(argument, given):
    """A text is no list of names, whichever argument it is given to."""
    with pytest.raises(InvalidEntity, match=f"{argument} is no list of field names"):
        Entity(move, **{"expose": [], argument: given})


def test_what_a_log_is_made_of(log):
    """A URL for a database, a class for its description, and a description for a list are named."""
    for database, given, words in (
        ("sqlite:///app.db", [], r"database: is str, no Database; pass Database\.open"),
        (log.database, Entity(move, expose=[]), r"entities: is no list of entities; pass \[Entity"),
        (log.database, "move", "entities: is no list of entities"),
        (log.database, None, "entities: is no list of entities"),
    ):
        with pytest.raises(InvalidInput, match=words):
            WorkspaceLog(database, given)
    for source in (Project, move, "move"):
        with pytest.raises(InvalidEntity, match=r"'(Project|move)': is no Entity; pass Entity\("):
            WorkspaceLog(log.database, [source])


def test_a_path_is_named_like_the_classes():
    """Each step of a path has the name of the class's attribute, as a field has; the column's own serves too."""
    for path in ("project.tenant", "project.tenant_id"):
        found = EntityTable(Entity(Task, expose=[], workspace=path))
        assert Project.__table__.c.tenant_id is found.workspace_column
    with pytest.raises(InvalidEntity, match=r"no column 'team' among id, p_id, tenant, tenant_id; .*attributes"):
        EntityTable(Entity(Task, expose=[], workspace="project.team"))


def test_a_block_that_was_not_entered(log):
    """I1: what nobody would send is refused by the first call, sync and async, and stored nowhere."""
    for begin, words in ((log.write, r"enter it: with log\.write"), (log.awrite, r"enter it: async with log\.awrite")):
        block = begin("w1", actor=PERSON)
        for call in (
            lambda block=block: block.insert(move, {"id": "m2"}),
            lambda block=block: block.update(move, "m1", {"stage": "booked"}, expected_version=1),
            lambda block=block: block.delete(move, "m1", expected_version=1),
        ):
            with pytest.raises(InvalidInput, match=words):
                call()
    assert 1 == len(log.changes("w1"))


def test_a_block_is_entered_once(log):
    """A block that is entered within itself would be sent twice."""
    with log.write("w1", actor=PERSON) as block:
        with pytest.raises(InvalidInput, match="was entered before; begin another one"):
            block.__enter__()
        block.insert(move, {"id": "m2"})
    with pytest.raises(InvalidInput, match="has ended; begin another one"):
        block.insert(move, {"id": "m3"})
    assert 2 == len(log.changes("w1"))


def test_what_is_no_transaction(log):
    """I1: a maker of transactions, or one of the other kind, is refused when the block is begun."""
    engine = create_engine(log.database.name)
    url = log.database.name.replace("pysqlite", "aiosqlite")

    async def told():
        async_engine = create_async_engine(url)
        async with async_engine.connect() as connection, async_sessionmaker(async_engine)() as async_session:
            for given in (connection, async_session):
                with pytest.raises(
                    InvalidInput, match=r"within: is Async\w+, no Connection .*; use awrite\(\) with it"
                ):
                    log.write("w1", actor=PERSON, within=given)
        for given in (async_engine, async_sessionmaker(async_engine), engine):
            with pytest.raises(InvalidInput, match=r"within: is \w+, no AsyncConnection or AsyncSession; pass the"):
                log.awrite("w1", actor=PERSON, within=given)
        await async_engine.dispose()

    asyncio.run(told())
    makers = (engine, sessionmaker(engine), scoped_session(sessionmaker(engine)), "connection")
    for given in makers:
        with pytest.raises(InvalidInput, match=r"within: is \w+, no Connection or Session; pass the"):
            log.write("w1", actor=PERSON, within=given)
    with sessionmaker(engine)() as session, pytest.raises(InvalidInput, match=r"use write\(\) with it"):
        log.awrite("w1", actor=PERSON, within=session)
    engine.dispose()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"moment": "2026-09-28T09:30:00+09:00"}, r"move\.moment: has a time zone, and its column keeps none; pass it"),
        ({"stage": "moved"}, r"move\.stage: is none of the enum's names; pass one of: 'new', 'booked'"),
        ({"day": 7}, r"move\.day: an int was given that is no date; pass a date"),
    ],
)
def test_values_that_do_not_fit(log, fields, words):
    """The field and what it takes are told."""
    with log.write("w1", actor=PERSON) as block, pytest.raises(InvalidInput, match=f"^{words}"):
        block.update(move, "m1", fields, expected_version=1)


def calls(log):
    """Give the calls that read or write product rows."""

    def written():
        with log.write("w1", actor=PERSON) as block:
            block.insert(move, {"id": "m1"})

    def changed():
        with log.write("w1", actor=PERSON) as block:
            block.update(move, "m1", {"stage": "booked"}, expected_version=1)

    return {
        "insert": written,
        "update": changed,
        "snapshot": lambda: log.snapshot("w1"),
        "read_batch": lambda: log.read_batch("w1", "t1"),
        "open_thread": lambda: log.open_thread("w1", "t1"),
        "asnapshot": lambda: asyncio.run(snapshot(log)),
    }


async def snapshot(log):
    """Read on an event loop, and close its connections."""
    try:
        return await log.asnapshot("w1")
    finally:
        await log.database.aclose()


@pytest.mark.parametrize("call", ["insert", "update", "snapshot", "read_batch", "open_thread", "asnapshot"])
def test_a_table_that_was_not_made(database_url, call):
    """Who forgot to make the product's tables is told so, whatever the first call is."""
    with Database.open(database_url) as database:
        log = WorkspaceLog(database, entities())
        with pytest.raises(TableMissing, match=r"^entity 'move': table 'move' does not exist .*create_all") as caught:
            calls(log)[call]()
    assert (None, ("move",)) == (caught.value.__cause__, caught.value.tables)


def test_a_column_that_was_not_made(database_url):
    """Neither has a table all of the columns where a migration is missing; those on a path are named too."""
    with Database.open(database_url) as database:
        database.run(lambda connection: connection.execute(text("CREATE TABLE move (id VARCHAR(40) PRIMARY KEY)")))
        log = WorkspaceLog(database, [Entity(box, expose=["label"], workspace="move_id.workspace_id")])
        with pytest.raises(TableMissing, match="table 'box' or 'move'"):
            log.snapshot("w1")
        with pytest.raises(TableMissing, match="has not all of the columns"):
            WorkspaceLog(database, entities()).snapshot("w1")


def test_composite_keys_can_be_read_and_copied(log):
    """The parts of a key stand in the block as they are, and what stands there is taken as a key."""
    with log.write("w1", actor=PERSON) as block:
        block.insert(room, {"move_id": "af00-b", "number": 1, "name": "Kitchen"})
    batch = log.read_batch("w1", "t1")
    assert '- room ["af00-b",1] (version 1): name: "Kitchen"' in render(batch, log.entities).splitlines()
    log.open_thread("w1", "t2")
    with log.write("w1", actor=PERSON) as block:
        block.update(room, '["af00-b",1]', {"name": "Hall"}, expected_version=1)
    told = render(log.read_batch("w1", "t2"), log.entities)
    assert 'of room ["af00-b",1] from "Kitchen" to "Hall"' in told
    assert '["af00-b",1]의 name을(를) "Kitchen"에서' in render(log.read_batch("w1", "t2"), log.entities, language="ko")


def test_what_to_look_at_fits_the_database():
    """A file is no server: the way out speaks of what there is."""
    for database, reason, words in (
        ("sqlite+pysqlite:///app.db", "SQLITE_NOTADB: file is not a database", "; check the path: its folder has"),
        ("postgresql://h/app", 'connection failed: FATAL: database "app" does not exist', "; create what does not"),
        ("postgresql://h/app", "connection refused", "; check that it runs and is reachable, then try again"),
    ):
        assert words in str(DatabaseUnavailable(database, reason))
    assert "end the transaction that holds it" == DatabaseBusy("sqlite:///app.db", "locked").way_out


WITHOUT = """
import importlib.util, sys

found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == {missing!r} else found(name, *rest)
import {package}
"""


def test_an_extra_that_is_not_installed():
    """What to install is told instead of the name of a module that is missing."""
    code = WITHOUT.format(missing="langgraph", package="abreast.langgraph")
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith("ImportError: abreast.langgraph needs LangGraph")
    assert "pip install 'abreast[langgraph]'" in done.stderr
