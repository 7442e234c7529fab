"""I4: keys of every type are read back from their ids, and a row has one workspace and one id, byte for byte."""

import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import (
    ARRAY,
    CHAR,
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Enum,
    Float,
    ForeignKey,
    Integer,
    Interval,
    LargeBinary,
    MetaData,
    Numeric,
    PickleType,
    String,
    Table,
    Time,
    Uuid,
)
from sqlalchemy.types import NullType, TypeDecorator

from abreast import Entity
from abreast.errors import AbreastError, EntityNotFound, InvalidEntity, InvalidInput
from abreast.prompt import render
from tests.contract.client import Client
from tests.contract.product import Size, new_uuid


class BytesOfUuid(TypeDecorator[uuid.UUID]):
    """A UUID kept in 16 bytes, as most schemas of MySQL have it."""

    impl = LargeBinary(16)
    cache_ok = True

    def process_bind_param(self, value: Any, _dialect: Any) -> Any:
        """Take its bytes."""
        return None if value is None else value.bytes

    def process_result_value(self, value: Any, _dialect: Any) -> Any:
        """Make it of its bytes."""
        return None if value is None else uuid.UUID(bytes=value)


class BytesOfHex(BytesOfUuid):
    """The same, as text."""

    cache_ok = True

    def process_bind_param(self, value: Any, _dialect: Any) -> Any:
        """Take the bytes."""
        return None if value is None else bytes.fromhex(value)

    def process_result_value(self, value: Any, _dialect: Any) -> Any:
        """Write the bytes."""
        return None if value is None else value.hex()


KEYS: dict[str, tuple[Any, Any, Any, str]] = {
    "text": (String(40), "m1", "m2", "m1"),
    "integer": (Integer(), 1, -2, "1"),
    "bigint": (BigInteger(), 2**40, 2, str(2**40)),
    "bytes": (LargeBinary(20), b"1", b"\x00\xff", "MQ=="),
    "uuid": (Uuid(), new_uuid(1), new_uuid(2), str(new_uuid(1))),
    "uuid as bytes": (BytesOfUuid(), new_uuid(1), new_uuid(2), str(new_uuid(1))),
    "hex as bytes": (BytesOfHex(), new_uuid(1).hex, new_uuid(2).hex, new_uuid(1).hex),
    "boolean": (Boolean(), True, False, "true"),
    "date": (Date(), date(2026, 9, 28), date(2026, 9, 30), "2026-09-28"),
    "time": (Time(), time(9, 30), time(10), "09:30:00"),
    "moment": (
        DateTime(timezone=True),
        datetime(2026, 9, 28, tzinfo=UTC),
        datetime(2026, 9, 30, tzinfo=UTC),
        "2026-09-28T00:00:00+00:00",
    ),
    "interval": (Interval(), timedelta(days=2), timedelta(hours=1, microseconds=5), "172800.0"),
    "numeric": (Numeric(10, 2), Decimal("1.5"), Decimal(-2), "1.50"),
    "float": (Float(53), 1.5, 0.1, "1.5"),
    "enum": (Enum(Size, name="key_size"), Size.SMALL, Size.LARGE, "SMALL"),
}


def keyed(kind: Any, name: str = "keyed", **more: Any) -> Table:
    """Give a table with a key of a type."""
    columns = [Column(field, Integer, primary_key=True) for field in more]
    return Table(
        name,
        MetaData(),
        Column("id", kind, primary_key=True, **({"autoincrement": False} if isinstance(kind, Integer) else {})),
        *columns,
        Column("workspace_id", String(40), nullable=False),
        Column("title", String(40)),
    )


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("composite", [False, True], ids=["alone", "beside another"])
def test_a_key_of_any_type_is_read_back(make_client, name, composite):
    """A row is found by the id that events and rows show, also when it is gone, hidden or counted. I4"""
    kind, one, other, entity_id = KEYS[name]
    table = keyed(kind, **({"number": 1} if composite else {}))
    client = make_client(table.metadata, Entity(table, expose=["title"], limit=1, visible=lambda columns, _: True))  # noqa: ARG005
    client.open_workspace("w1")
    client.open_thread()
    beside: dict[str, Any] = {"number": 7} if composite else {}
    with client.write() as write:
        write.insert(table, {"id": one, **beside, "title": "a"})
        write.insert(table, {"id": other, **beside, "title": "b"})
    first, second = (result.entity_id for result in write.results)
    assert composite or entity_id == first
    for by in (first, second):
        assert 2 == client.update(table, by, {"title": "c"}, 1).version
    assert 3 == client.update(table, (one, 7) if composite else one, {"title": "d"}, 2).version
    shown = client.read_batch().current
    assert {first: "d", second: "c"} == {place[1]: row and row.values["title"] for place, row in shown.items()}
    counted = client.read_batch(limit=1, max_runs=1)
    assert (4, 5) == (sum(line.count for line in counted.summary), counted.event_count)
    client.delete(table, first, 3)
    batch = client.read_batch()
    assert render(batch, client.log.entities)
    assert 4 == client.erase("w1", table, one if not composite else (one, 7))
    assert [first] * 4 == [event.entity_id for event in client.changes(entity=table, key=first)]
    assert client.confirm(batch)


@pytest.mark.parametrize(
    "kind",
    [JSON(), PickleType(), NullType(), ARRAY(Integer)],
    ids=["JSON", "pickle", "no type", "array"],
)
def test_a_key_that_cannot_be_read_back_is_refused(make_client, kind):
    """An id that nothing could be found by makes no log: that is said before the first write. I4"""
    table = keyed(kind)
    with pytest.raises(InvalidEntity, match="'keyed'.*'id'.*cannot be read back"):
        make_client(MetaData(), Entity(table, expose=["title"]))


@pytest.mark.parametrize("name", [name for name in KEYS if name not in ("text", "hex as bytes")])
def test_events_of_ids_that_the_key_has_no_more(make_client, name):
    """A key column that got another type leaves ids behind that fit it no more: they are rows that are gone. I4"""
    was = keyed(String(40), "changed")
    old = make_client(was.metadata, Entity(was, expose=["title"]))
    old.open_workspace("w1")
    old.open_thread()
    with old.write() as write:
        for place in range(3):
            write.insert(was, {"id": f"former {place}", "title": "a"})
    old.rows("DROP TABLE changed")
    kind, one, _, entity_id = KEYS[name]
    table = keyed(kind, "changed")
    for visible in (None, lambda columns, _: columns.title == "b"):
        client = make_client(table.metadata, Entity(table, expose=["title"], visible=visible))
        if visible is None:
            client.insert(table, {"id": one, "title": "b"})
        batch = client.read_batch()
        gone = {f"former {place}": None for place in range(3)} if visible is None else {}
        row = batch.snapshot.entities[0].rows[0]
        assert {**gone, entity_id: row} == {place[1]: found for place, found in batch.current.items()}
        assert render(batch, client.log.entities)
        summary = client.read_batch(limit=1, max_runs=1)
        assert 4 == sum(line.count for line in summary.summary) + len(summary.lines) + (3 if visible else 0)
    assert client.confirm(batch)
    with pytest.raises(InvalidInput, match=r"changed\.id"):
        client.update(table, "former 1", {"title": "c"}, "any")


FOLDING = {"sqlite": String(40, collation="NOCASE"), "postgresql": CHAR(10)}
"""Columns that find a value by another spelling too: without regard to case, or to the spaces behind it."""


def spelled(client_kind: str, name: str) -> str:
    """Write a name in another way that the column takes for the same."""
    return name.upper() if client_kind == "sqlite" else name + " " * (10 - len(name))


def folding(
    make_client: Callable[..., Client], database_url: str, *, path: bool = False
) -> tuple[Client, Table, Table]:
    """Give a log of rows whose key and workspace are compared loosely, and the tables."""
    kind = FOLDING[database_url.partition(":")[0].partition("+")[0]]
    tables = MetaData()
    parent = Table(
        "parent",
        tables,
        Column("id", kind, primary_key=True),
        Column("workspace_id", kind, nullable=False),
        Column("title", String(40)),
        Column("version", Integer, nullable=False),
    )
    child = Table(
        "child",
        tables,
        Column("id", kind, primary_key=True),
        Column("parent_id", ForeignKey("parent.id"), nullable=False),
        Column("title", String(40)),
    )
    entities = [Entity(parent, expose=["title"])]
    if path:
        entities.append(Entity(child, expose=["title"], workspace="parent_id.workspace_id"))
    return make_client(tables, *entities), parent, child


def test_a_row_has_one_log_and_one_id(make_client, database_url):
    """By another spelling of its id or workspace a row is not there, in whatever way its columns compare. I4"""
    client, parent, child = folding(make_client, database_url, path=True)
    own = {name: name if client.kind == "sqlite" else spelled(client.kind, name) for name in ("w1", "m1", "c1")}
    other = {name: spelled(client.kind, name) if client.kind == "sqlite" else name for name in own}
    client.put(parent, {"id": "m1", "workspace_id": "w1", "title": "a", "version": 1})
    client.put(child, {"id": "c1", "parent_id": "m1", "title": "a"})
    for workspace_id, key, place in ((own["w1"], other, 0), (other["w1"], own, 1), (other["w1"], other, 2)):
        for table, name in ((parent, "m1"), (child, "c1")):
            for write in (client.update, client.delete):
                arguments = (table, key[name], {"title": "b"}, "any") if write == client.update else (table, key[name])
                with pytest.raises(EntityNotFound):
                    write(*arguments, workspace_id=workspace_id)
        assert place >= 0
    client.update(parent, own["m1"], {"title": "b"}, 1, workspace_id=own["w1"])
    client.update(child, own["c1"], {"title": "b"}, 1, workspace_id=own["w1"])
    assert [own["m1"], own["c1"]] == [event.entity_id for event in client.changes(own["w1"])]
    assert [] == client.changes(other["w1"])
    assert [] == client.changes(own["w1"], entity=parent, key=other["m1"])
    assert (0, 1) == (client.erase(own["w1"], parent, other["m1"]), client.erase(own["w1"], parent, own["m1"]))
    with client.write(own["w1"]) as write:
        write.update(parent, own["m1"], {"workspace_id": own["w1"], "title": "c"}, expected_version=2)
        write.delete(child, own["c1"], expected_version=2)
    assert [4, 2] == [len(client.changes(own["w1"])), len(client.changes(own["w1"], after=2))]


def test_an_insert_is_told_by_the_id_that_is_stored(make_client, database_url):
    """What the database pads is told as it is stored; a workspace that is stored otherwise than named is refused. I4"""
    client, parent, _ = folding(make_client, database_url)
    stored = "m1" if client.kind == "sqlite" else spelled(client.kind, "m1")
    place = "w1" if client.kind == "sqlite" else spelled(client.kind, "w1")
    assert stored == client.insert(parent, {"id": "m1", "title": "a"}, workspace_id=place).entity_id
    client.delete(parent, stored, 1, workspace_id=place)
    assert 3 == client.insert(parent, {"id": "m1", "title": "a"}, workspace_id=place).version
    assert [(stored, 1), (stored, 2), (stored, 3)] == [
        (event.entity_id, event.version) for event in client.changes(place)
    ]
    if client.kind == "postgresql":
        with pytest.raises(InvalidInput, match="is stored as 'w1        '"):
            client.insert(parent, {"id": "m2", "title": "a"}, workspace_id="w1")
    with pytest.raises(AbreastError):
        client.insert(parent, {"id": spelled(client.kind, "m1"), "title": "a"}, workspace_id=place)
    assert 1 == client.rows("SELECT COUNT(*) FROM parent")[0][0]


@pytest.mark.parametrize("kept", ["hidden", "secret", "neither"])
def test_a_move_takes_along_what_points_to_a_field_that_is_not_shown(make_client, kept):
    """Rows below are found by the column they point to, whoever may see it; its value is told nowhere. I4 I9"""
    tables = MetaData()
    parent = Table(
        "parent",
        tables,
        Column("id", String(40), primary_key=True),
        Column("workspace_id", String(40), nullable=False),
        Column("code", String(40), unique=True),
        Column("version", Integer, nullable=False),
    )
    child = Table(
        "child",
        tables,
        Column("id", String(40), primary_key=True),
        Column("code", ForeignKey("parent.code"), nullable=False),
        Column("title", String(40)),
    )
    options: dict[str, Any] = {} if kept == "neither" else {kept: ["code"]}
    client = make_client(
        tables,
        Entity(parent, expose=["id"], **options),
        Entity(child, expose=["title"], workspace="code.workspace_id"),
    )
    client.insert(parent, {"id": "m1", "code": "4711-hush"})
    client.insert(child, {"id": "c1", "code": "4711-hush", "title": "a"})
    with client.write() as write:
        write.insert(parent, {"id": "m2"})
        for key in ("m1", "m2"):
            write.update(parent, key, {"workspace_id": "w2"}, expected_version=1, to_workspace="w2")
    moved = [("child", "c1"), ("parent", "m1"), ("parent", "m2")]
    assert moved == sorted((event.entity_type, event.entity_id) for event in client.changes("w2"))
    assert ["a"] == [row.values["title"] for row in client.snapshot("w2").entities[1].rows]
    assert "4711-hush" not in client.dump()
