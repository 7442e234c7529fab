"""I4, I9: rows no type can read, fields named like parameters, events that are gone: nothing stops, nothing leaks."""

import traceback
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import (
    JSON,
    Column,
    Date,
    DateTime,
    Enum,
    Integer,
    Interval,
    MetaData,
    PickleType,
    String,
    Table,
    cast,
    func,
    literal_column,
    text,
)
from sqlalchemy.exc import DBAPIError

from abreast import Entity
from abreast.errors import AbreastError, InvalidEntity, InvalidInput, StaleWrite
from abreast.operations.changes import Search, search_changes
from abreast.prompt import render
from tests.contract.client import Client
from tests.contract.product import USER
from tests.servers.shared import POSTGRESQL

CANARY = "4711-hush"
metadata = MetaData()


def fields() -> list[Column[Any]]:
    """Give a column of every type whose cells can be beyond it."""
    return [
        Column("title", String(40)),
        Column("at", DateTime),
        Column("day", Date),
        Column("lasts", Interval),
        Column("tags", JSON),
        Column("size", Enum("s", "l", native_enum=False, length=20)),
    ]


odd = Table(
    "odd",
    metadata,
    Column("id", String(400), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    *fields(),
    Column("version", Integer, nullable=False),
)
dated = Table(
    "dated",
    metadata,
    Column("day", Date, primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("title", String(40)),
)
FIELDS = [column.name for column in fields()]
GOOD = {
    "title": "t",
    "at": datetime(2026, 9, 28, 9, 30),  # noqa: DTZ001 - as the column keeps it
    "day": date(2026, 9, 28),
    "lasts": timedelta(days=2),
    "tags": {"a": [1]},
    "size": "s",
}
JSON_OF_GOOD = {
    "title": "t",
    "at": "2026-09-28T09:30:00",
    "day": "2026-09-28",
    "lasts": 172_800.0,
    "tags": {"a": [1]},
    "size": "s",
}

DEEP, DEEPER = ("[" * depth + "]" * depth for depth in (400, 3_000))
CELLS = {
    "sqlite": [
        ("title", "CAST(X'ff41' AS TEXT)", "\ufffdA"),
        ("at", f"'{CANARY}'", CANARY),
        ("day", f"'{CANARY}'", CANARY),
        ("lasts", f"'{CANARY}'", CANARY),
        ("tags", f"'{CANARY}'", CANARY),
        ("size", f"'{CANARY}'", CANARY),
        ("tags", f"'{DEEP}'", "(list that does not fit JSON)"),
        ("tags", f"'{DEEPER}'", DEEPER),
    ],
    "postgresql": [
        ("at", "'infinity'", "infinity"),
        ("at", "'-infinity'", "-infinity"),
        ("day", "'infinity'", "infinity"),
        ("day", "'0044-03-15 BC'", "0044-03-15 BC"),
        ("lasts", "'170000000 years'", "170000000 years"),
        ("size", f"'{CANARY}'", CANARY),
        ("tags", f"'{DEEP}'", "(list that does not fit JSON)"),
        ("tags", f"'{DEEPER}'", DEEPER),
    ],
}
"""A field, SQL for a value of it that its type cannot read, and what is shown in its place."""
EACH_CELL = pytest.mark.parametrize("place", range(8))
ON_POSTGRESQL = pytest.mark.parametrize(
    "backend", [pytest.param(kind, marks=pytest.mark.external) for kind in POSTGRESQL], indirect=True
)


@pytest.fixture
def client(make_client: Callable[..., Client]) -> Client:
    """Give a log of rows with all kinds of fields, exposed."""
    return make_client(metadata, Entity(odd, expose=FIELDS))


def hiding(client: Client, **options: Any) -> Client:
    """Give a log of the same rows whose fields are hidden."""
    return client.of(Entity(odd, expose=[], hidden=FIELDS, **options))


def spoil(client: Client, place: int) -> tuple[str, str]:
    """Put a cell past the log that its type cannot read; its field and what stands for it."""
    field, value, shown = CELLS[client.kind][place]
    client.rows(f"UPDATE odd SET {field} = {value} WHERE id = 'm2'")
    return field, shown


def filled(client: Client) -> None:
    """Insert two rows."""
    with client.write() as write:
        write.insert(odd, {"id": "m1", **GOOD})
        write.insert(odd, {"id": "m2", **GOOD})


def everything_of(error: BaseException) -> str:
    """Write an error with all that hangs on it."""
    told, left = "".join(traceback.format_exception(error)), [error]
    while left:
        one = left.pop()
        told += f"{one} {one!r} {one.args} {vars(one)}"
        left.extend(other for other in (one.__cause__, one.__context__) if other is not None)
    return told


@EACH_CELL
def test_a_cell_that_cannot_be_read_is_text(client, place):
    """One such cell stops no reader: it is shown as text, all others as ever; a write can mend it. I4"""
    client.open_workspace("w1")
    client.open_thread()
    filled(client)
    field, shown = spoil(client, place)
    batch = client.read_batch()
    rows = {row.entity_id: row.values for row in batch.snapshot.entities[0].rows}
    assert {"m1": JSON_OF_GOOD, "m2": {**JSON_OF_GOOD, field: shown}} == rows
    assert render(batch, client.log.entities, max_bytes=20_000)
    client.update(odd, "m2", {"title": "other", field: GOOD[field]} if field != "title" else {"title": "other"}, 1)
    event = client.changes()[-1]
    assert shown == event.before[field]
    assert (JSON_OF_GOOD[field] if field != "title" else "other") == event.after[field]
    spoil(client, place)
    assert 3 == client.delete(odd, "m2", 2).version
    assert shown == client.changes()[-1].before[field]


@ON_POSTGRESQL
def test_intervals_beside_one_that_cannot_be_read(client):
    """They stay seconds, whatever units they were written in: the server's words stand for the bad one alone. I4"""
    kept = ["1 year 2 mons 3 days 04:05:06.789", "-2 years", "2000000 years", "0"]
    for number, lasts in enumerate(kept):
        client.insert(odd, {"id": f"k{number}", "title": lasts})
    client.rows("UPDATE odd SET lasts = CAST(title AS interval)")
    before = client.snapshot("w1").entities[0].rows
    bad = ["170000000 years", "-170000000 years"]
    for number, lasts in enumerate(bad):
        client.put(odd, {"id": f"x{number}", "workspace_id": "w1", "version": 1})
        client.rows(f"UPDATE odd SET lasts = '{lasts}' WHERE id = 'x{number}'")
    after = client.snapshot("w1").entities[0].rows
    assert before == after[: len(kept)]
    assert all(isinstance(row.values["lasts"], float) for row in before)
    assert bad == [row.values["lasts"] for row in after[len(kept) :]]


@EACH_CELL
def test_a_hidden_cell_that_cannot_be_read_is_mended(client, place):
    """A write may overwrite a hidden cell that nothing can read; its value comes out nowhere. I9"""
    guarded = hiding(client)
    filled(guarded)
    field, shown = spoil(client, place)
    client.update(odd, "m1", {"title": "x"}, 1)
    result = guarded.update(odd, "m2", {field: GOOD[field]}, 1)
    assert (field,) == result.changed_fields
    assert shown not in guarded.dump()
    assert JSON_OF_GOOD == client.snapshot("w1").entities[0].rows[1].values


@pytest.mark.parametrize(
    "odd_id", ["a\nb", "", "x" * 256, "ä" * 128], ids=["newline", "empty", "long", "long in UTF-8"]
)
def test_a_row_whose_id_cannot_be_shown_is_counted(client, odd_id):
    """A key put past the log that makes no id is left out and counted; the other rows are there. I4"""
    filled(client)
    client.put(odd, {"id": odd_id, "workspace_id": "w1", "version": 1, **GOOD})
    client.open_thread()
    for rows in (client.snapshot("w1").entities[0], client.read_batch().snapshot.entities[0]):
        assert (["m1", "m2"], 3) == ([row.entity_id for row in rows.rows], rows.total)
    assert "1 more odd is not listed." in render(client.read_batch(), client.log.entities)
    small = client.of(Entity(odd, expose=[], limit=1)).snapshot("w1").entities[0]
    assert (["m1"], 3) == ([row.entity_id for row in small.rows], small.total)
    client.update(odd, "m1", {"title": "other"}, 1)


def test_a_row_whose_key_cannot_be_read_is_counted(client):
    """So is one whose key no driver reads, wherever it stands in the order; a row below a moved one too. I4"""
    if client.kind == "sqlite":
        keys = client.of(Entity(odd, expose=["title"]))
        filled(keys)
        for place in ("X'00ff'", "X'6dff'", "X'feff'"):
            client.rows(f"INSERT INTO odd (id, workspace_id, version) VALUES (CAST({place} AS TEXT), 'w1', 1)")
        wanted, total = ["m1", "m2"], 5
    else:
        keys = client.of(Entity(dated, expose=["title"]))
        with keys.write() as write:
            write.insert(dated, {"day": "2026-09-28"})
            write.insert(dated, {"day": "2026-09-30"})
        client.rows("INSERT INTO dated (day, workspace_id) VALUES ('infinity', 'w1'), ('-infinity', 'w1')")
        wanted, total = ["2026-09-28", "2026-09-30"], 4
    keys.open_thread()
    for rows in (keys.snapshot("w1").entities[0], keys.read_batch().snapshot.entities[0]):
        assert (wanted, total) == ([row.entity_id for row in rows.rows], rows.total)


@pytest.mark.parametrize("condition", ["where", "visible"])
def test_a_condition_that_fails_on_a_value_says_which_entity(client, condition):
    """What the server says of a value that `where` or `visible` cannot take is not passed on. I9"""
    filled(client)
    client.rows(f"UPDATE odd SET title = '{CANARY}'")
    if client.kind == "sqlite":  # its casts never fail, so a function does that names its argument
        failing: Callable[..., Any] = lambda columns, _viewer: func.json_extract(columns.title, "$.a") > 0  # noqa: E731
    else:
        failing = lambda columns, _viewer: cast(columns.title, Integer) > 0  # noqa: E731
    guarded = hiding(client, **{condition: failing})
    for read in (lambda: guarded.snapshot("w1"), guarded.read_batch):
        with pytest.raises(InvalidEntity, match=r"odd.*where= and visible=") as raised:
            read()
        assert CANARY not in everything_of(raised.value)


@ON_POSTGRESQL
@pytest.mark.parametrize("code", ["57014", "22023", "42501", "XX000", "55P03", "40001", "40P01"])
@pytest.mark.parametrize("place", ["own", "within"])
def test_a_trigger_that_names_a_value_is_not_quoted(client, code, place):
    """The text of a server's error stays out of ours, whatever code a trigger gives it. I9"""
    guarded = hiding(client)
    filled(guarded)
    client.rows(
        "CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'bad title %', NEW.title USING ERRCODE = NEW.size; END $$"
    )
    client.rows("CREATE TRIGGER told BEFORE UPDATE ON odd FOR EACH ROW EXECUTE FUNCTION told()")
    table = Table("odd", MetaData(), *(column._copy() for column in odd.c if column.name != "size"))
    table.append_column(Column("size", String(20)))
    plain = client.of(Entity(table, name="odd", expose=[], hidden=FIELDS))
    with client.own("connection") as own:
        # What passes is the driver's error in a caller's transaction: his own code repeats that.
        repeatable = place == "within" and code in ("40001", "40P01")
        with pytest.raises(DBAPIError if repeatable else AbreastError) as raised:
            within = {"within": own.raw} if place == "within" else {}
            plain.update("odd", "m1", {"title": CANARY, "size": code}, 1, **within)
        assert CANARY not in everything_of(raised.value)
        assert code == getattr(getattr(raised.value, "orig", None), "sqlstate", code)


@pytest.mark.parametrize("kept", ["hidden", "secret", "neither", "no entity"])
def test_a_field_that_is_exposed_no_more_is_not_told(client, kept):
    """Values that events still hold are told as the entity is described today; a secret not even by name. I9"""
    client.open_workspace("w1")
    client.open_thread()
    client.insert(odd, {"id": "m1", "title": CANARY, "size": "s"})
    client.update(odd, "m1", {"title": f"{CANARY}!", "size": "l"}, 1)
    client.delete(odd, "m1", 2)
    client.insert(odd, {"id": "m1", "title": CANARY, "size": "s"})
    client.update(odd, "m1", {"title": f"{CANARY}!", "size": "l"}, 4)
    options: dict[str, Any] = {kept: ["title"]} if kept in ("hidden", "secret") else {}
    name = "another" if kept == "no entity" else "odd"
    today = client.of(Entity(odd, name=name, expose=["size"], **options))
    events = today.changes()
    catalog, tables = today.log.steps.catalog, today.database.tables
    found = today.database.read(search_changes, tables, catalog, Search("w1", ("odd",))) if today.mode == "sync" else []
    batch = today.read_batch()
    assert CANARY not in repr((events, found, batch.lines))
    assert (5, kept != "secret") == (len(events), "title" in events[1].changed_fields)
    assert [{"size": "l"}, {}][kept == "no entity"] == events[1].after
    if kept != "no entity":
        with pytest.raises(StaleWrite) as raised:
            today.update(odd, "m1", {"size": "s"}, 4)
        assert [({"size": "s"}, {"size": "l"})] == [(change.before, change.after) for change in raised.value.changes]
        assert CANARY not in everything_of(raised.value)
    assert CANARY in client.dump()


def test_fields_named_like_parameters(make_client):
    """A column may have any name, also one that a generated parameter would get. I1"""
    tables = MetaData()
    taken = ["id_1", "version_1", "workspace_id_1", "coalesce_1", "coalesce_2", "param_1", "id_2"]
    table = Table(
        "named",
        tables,
        Column("id", String(40), primary_key=True),
        Column("workspace_id", String(40), nullable=False),
        *(Column(name, String(40)) for name in taken),
        Column("version", Integer),
    )
    client = make_client(tables, Entity(table, expose=taken))
    client.insert(table, {"id": "m1", **dict.fromkeys(taken, "a")})
    assert 2 == client.update(table, "m1", dict.fromkeys(taken, "b"), 1).version
    with client.write() as write:
        fields = {"workspace_id": "w2", "id_1": "c"}
        write.update(table, "m1", fields, expected_version=2, to_workspace="w2")
    assert 4 == client.delete(table, "m1", 3, workspace_id="w2").version


def test_a_key_of_none_is_made_by_the_database(make_client):
    """None for a key is the same as leaving it out. I1"""
    tables = MetaData()
    table = Table(
        "made",
        tables,
        Column("id", Integer, primary_key=True),
        Column("workspace_id", String(40), nullable=False),
        Column("title", String(40)),
    )
    client = make_client(tables, Entity(table, expose=["title"]))
    assert ["1", "2"] == [client.insert(table, {"id": key, "title": "t"}).entity_id for key in (None, None)]
    assert ["1", "2"] == [event.entity_id for event in client.changes()]
    named = make_client(metadata, Entity(odd, expose=[]))
    with pytest.raises(AbreastError):
        named.insert(odd, {"id": None, "title": "t"})


@pytest.mark.parametrize(
    "value",
    [func.now(), text("now()"), literal_column("1"), odd.c.title],
    ids=["function", "text", "literal", "column"],
)
def test_a_sql_expression_is_no_value(make_client, value):
    """What only the database would know the value of is refused, also where any object is a value. I1"""
    tables = MetaData()
    table = Table(
        "pickled",
        tables,
        Column("id", String(40), primary_key=True),
        Column("workspace_id", String(40), nullable=False),
        Column("anything", PickleType),
        Column("title", String(40)),
    )
    client = make_client(tables, Entity(table, expose=[]))
    for field in ("anything", "title"):
        with pytest.raises(InvalidInput, match=f"{field}: is a SQL expression"):
            client.insert(table, {"id": "m1", field: value})
    client.insert(table, {"id": "m1", "anything": {"a": USER.id}})
    assert [] == client.changes("w1", after=1)


def test_a_log_whose_events_were_deleted_is_confirmed(client):
    """Where HEAD's event is gone, a thread is told once that changes cannot be listed, and goes on. I3 I4"""
    filled(client)
    client.open_thread()
    client.rows("DELETE FROM abreast_workspace_event")
    batch = client.read_batch()
    assert ("other_mark", 0) == (batch.reset, batch.event_count)
    assert client.confirm(batch)
    assert client.read_batch().reset is None
    client.update(odd, "m1", {"title": "other"}, 1)
    later = client.read_batch()
    assert (None, ["title"]) == (later.reset, [line.field for line in later.lines])
    assert client.confirm(later)
    assert not client.confirm(batch)
