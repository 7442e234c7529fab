"""What is wrong with an input is named, with the way out, before anything is stored."""

import re

import pytest
from sqlalchemy import Column, MetaData, String, Table

from abreast import Actor, Cursor, Entity, WorkspaceLog
from abreast.errors import (
    InvalidEntity,
    InvalidInput,
    UnknownEntity,
    UnknownField,
    WorkspaceNotFound,
    WriteRefused,
)
from tests.contract.product import ENTITIES, USER, Move, item, label, sample, slot, ticket

LONG = "x" * 256
ID = "00000000-0000-0000-0000-000000000001"
BAD_IDS = {
    "": "is empty; pass an id of 1 to 255 bytes",
    LONG: "is 256 bytes long; use an id of at most 255 bytes",
    "é" * 128: "is 256 bytes long; use an id of at most 255 bytes",
    "a\0b": r"holds a control character \(NUL to U\+001F\); use an id without it",
    "a\nb": r"holds a control character",
    "a\ud800": "holds a lone surrogate; use an id that is valid Unicode",
    7: "is int, not a string; pass the id as a string",
    None: "is NoneType, not a string; pass the id as a string",
}


def refuses(call, error, words):
    """See to it that a call is refused in these words."""
    with pytest.raises(error, match=words) as raised:
        call()
    return raised.value


@pytest.fixture
def filled(client):
    """Give a workspace with a row."""
    client.insert(Move, {"id": "m1"})
    client.insert(slot, {"day": "2026-09-28", "hour": 9})
    return client


@pytest.fixture(autouse=True)
def nothing_stored(client):
    """See to it that no refused call leaves an event, a receipt, a thread or a workspace."""
    yield
    assert {"w1", "w2"} >= {row[0] for row in client.rows("SELECT workspace_id FROM abreast_workspace")}
    assert [] == client.rows("SELECT mutation_id FROM abreast_mutation")
    assert [] == client.rows("SELECT thread_id FROM abreast_thread WHERE thread_id <> 't1'")
    assert 2 >= client.head()


def test_a_workspace_nobody_knows(client):
    """Without row or log it is not found, and asking for it does not make it."""
    words = r"workspace 'nowhere' was not found; check the id; a workspace begins with its first row, or with open"
    for call in (
        lambda: client.open_thread("nowhere"),
        lambda: client.read_batch("nowhere"),
        lambda: client.read_batch("nowhere", has_history=True),
        lambda: client.renew_epoch("nowhere"),
        lambda: client.forget_before("nowhere", 1),
    ):
        refuses(call, WorkspaceNotFound, words)
    assert [] == client.changes("nowhere")
    assert 0 == client.snapshot("nowhere").head
    client.open_workspace("w1")
    assert 0 == client.open_thread().revision


def test_an_entity_nobody_knows(filled):
    """It is named with those there are, and how to add it."""
    stranger = Table("parcel", MetaData(), Column("id", String(9), primary_key=True))
    known = "booking, item, label, move, remark, sample, slot, vault"
    words = rf"entity 'parcel' is not registered \(registered: {known}\); add Entity\(...\) for it to WorkspaceLog"
    for entity in ("parcel", stranger):
        for call in (
            lambda entity=entity: filled.insert(entity, {"id": "x"}),
            lambda entity=entity: filled.update(entity, "x", {}, 1),
            lambda entity=entity: filled.delete(entity, "x", 1),
            lambda entity=entity: filled.changes(entity=entity),
            lambda entity=entity: filled.erase("w1", entity, "x"),
        ):
            refuses(call, UnknownEntity, words)
    refuses(lambda: filled.insert(ticket, {}), UnknownEntity, "entity 'ticket' is not registered")
    refuses(lambda: filled.erase("w1", None, "x"), UnknownEntity, "is not registered")
    refuses(lambda: filled.erase("w1", Move, None), InvalidInput, r"^move\.id: is missing; pass the key of a row")


def test_a_field_nobody_knows(filled):
    """It is named with those there are."""
    words = "slot has no field 'owner'; use one of: day, hour, taken_by, version, workspace_id"
    refuses(lambda: filled.insert(slot, {"owner": "u1"}), UnknownField, words)
    refuses(lambda: filled.update(slot, ("2026-09-28", 9), {"owner": "u1"}, 1), UnknownField, words)


def test_ids_that_cannot_be_kept(filled):
    """Too long, empty, no text, or with characters some database loses: the id is named, nothing is done."""
    calls = {
        "workspace_id": [
            filled.write,
            filled.open_workspace,
            filled.open_thread,
            filled.read_batch,
            filled.snapshot,
            filled.number,
            filled.changes,
            lambda id_: filled.forget_before(id_, 1),
            filled.renew_epoch,
            lambda id_: filled.erase(id_, Move, "m1"),
        ],
        "thread_id": [
            lambda id_: filled.open_thread(thread_id=id_),
            lambda id_: filled.read_batch(thread_id=id_),
        ],
    }
    for name, known in calls.items():
        for call in known:
            for id_, words in BAD_IDS.items():
                refuses(lambda call=call, id_=id_: call(id_), InvalidInput, f"^{name}: {words}")


def test_optional_ids_that_cannot_be_kept(filled):
    """A scope may be empty and the ids of a write's origin may be left out; given, they must be ids too."""
    for name in ("mutation_id", "source_thread_id", "run_id"):
        for id_, words in BAD_IDS.items():
            if id_ is not None:
                refuses(lambda name=name, id_=id_: filled.write(**{name: id_}), InvalidInput, f"^{name}: {words}")
    for id_, words in BAD_IDS.items():
        if id_ != "":
            refuses(lambda id_=id_: filled.read_batch(scope=id_), InvalidInput, f"^scope: {words}")
    for id_ in ("a\0b", LONG, "a\ud800"):
        refuses(lambda id_=id_: filled.write(actor=Actor.user(id_)), InvalidInput, r"^actor\.id: ")
        on_behalf = Actor.agent("a", on_behalf_of=id_)
        refuses(lambda actor=on_behalf: filled.write(actor=actor), InvalidInput, r"^actor\.on_behalf_of: ")


def test_another_workspace_of_a_change_must_be_one(filled):
    """An empty or impossible workspace of a single change is refused, not taken for the block's."""
    with filled.write() as write:
        for id_ in ("", LONG, "a\0b"):
            refuses(lambda id_=id_: write.insert(Move, {"id": "m2"}, workspace_id=id_), InvalidInput, "workspace_id")
            refuses(
                lambda id_=id_: write.update(Move, "m1", {}, expected_version=1, to_workspace=id_),
                InvalidInput,
                "to_workspace",
            )
            refuses(
                lambda id_=id_: write.delete(Move, "m1", expected_version=1, workspace_id=id_),
                InvalidInput,
                "workspace_id",
            )


def test_actors_that_cannot_be_named(filled):
    """An actor has a known type and an id, and is an Actor."""
    refuses(lambda: filled.write(actor="u1"), InvalidInput, r"actor: is not an Actor; pass Actor\.user")
    refuses(lambda: filled.write(actor=None), InvalidInput, r"actor: is not an Actor; pass Actor\.user")
    refuses(lambda: Actor.user(""), InvalidInput, r"actor\.id: is empty; pass the id of who makes the change")
    refuses(
        lambda: Actor("robot", "r1"),
        InvalidInput,
        r"actor\.type: is unknown; use one of: user, agent, system, database",
    )
    refuses(lambda: filled.write(actor=Actor("user", 7)), InvalidInput, r"actor\.id: is int, not a string")


def test_texts_that_some_database_loses(filled):
    """NUL and lone surrogates in values are named by field, in exposed and other fields, also inside JSON."""
    for field in ("note", "door_code", "alarm_code", "memo"):
        for value, words in (
            ("a\0b", "holds a NUL character, which PostgreSQL cannot store; remove it"),
            ("a\ud800", "holds a lone surrogate; pass valid Unicode text"),
        ):
            refuses(
                lambda field=field, value=value: filled.update(Move, "m1", {field: value}, 1),
                InvalidInput,
                rf"^move\.{field}: {words}",
            )
    for value in ({"a\0": 1}, ["\ud800"], [{"a": "b\0"}]):
        refuses(
            lambda value=value: filled.insert(sample, {"id": ID, "tags": value}),
            InvalidInput,
            r"^sample\.tags: holds a",
        )


UNFIT = {
    "day": (["2026-13-01", "soon", 20260928, "2026-09-28T00:00:00", 1.5], "date"),
    "moment": (["soon", 5, "2026-09-28T25:00"], "datetime"),
    "local_moment": (["soon", "2026-09-28T00:00+02:00"], "datetime|time zone"),
    "at": (["soon", 9, "25:00"], "time"),
    "lasts": (["soon", "90"], "interval"),
    "price": (["much", True, [], float("inf"), "NaN", "Infinity", 10**40], "numeric|finite"),
    "weight": (["heavy", True, {}, float("nan"), "nan", "inf", 10**400], "float|finite"),
    "amount": (["7", 7.0, True, 2**63, -(2**63) - 1, 10**30], "integer"),
    "paid": (["yes", 2, 1.0], "boolean"),
    "size": (["XL", 5, ""], "enum"),
    "tags": ([{1: "a"}, {"a": {1, 2}}, object(), [float("nan")]], "JSON"),
    "parcel": (["no-uuid", 7, b"x" * 16], "uuid"),
    "photo": (["AP8=", 7], "largebinary"),
    "text": ([7, b"x", ["a"]], "text|string"),
}


def test_values_that_do_not_fit_their_column(filled):
    """Field, what was given, and what is wanted are named; the value is not. The row is not touched."""
    filled_row = {"id": ID}
    for field, (values, wanted) in UNFIT.items():
        for value in values:
            error = refuses(
                lambda field=field, value=value: filled.insert(sample, {**filled_row, field: value}),
                InvalidInput,
                rf"^sample\.{field}: .*({wanted}).*; (pass|store|use) ",
            )
            assert f"sample.{field}" == error.name
    assert [] == filled.rows("SELECT id FROM sample")


def test_what_only_the_database_refuses(filled):
    """The entity, the kind of refusal and the constraint are named, without the database's own text."""
    filled.put(label, {"id": 7, "workspace_id": "w1", "text": "x"})
    words = (
        r"the database refused the write of (label|item|move)( by constraint '[\w.]+')? \([\w ]+\); check the values"
    )
    for call in (
        lambda: filled.insert(label, {"id": 7, "text": "y"}),
        lambda: filled.insert(item, {"id": "c1", "move_id": "m1"}),
        lambda: filled.insert(Move, {"id": "m1"}, "w2"),
    ):
        error = refuses(call, WriteRefused, words)
        assert error.__cause__ is None
        assert error.__context__ is None


def test_keys_of_another_shape(filled):
    """The entity's key is named with its parts in order."""
    words = r"slot key: has other parts than the entity's key; pass \(day, hour\) in this order"
    for key in ("2026-09-28", ("2026-09-28",), ("2026-09-28", 9, 1), {"day": "2026-09-28"}, 9, None, '["x"', "[1]"):
        refuses(lambda key=key: filled.update(slot, key, {}, 1), InvalidInput, words)
    words = r"^move key: has other parts than the entity's key; pass \(id\)"
    for key in (("m1", "x"), (), {"key": "m1"}):
        refuses(lambda key=key: filled.delete(Move, key, 1), InvalidInput, words)


def test_keys_that_do_not_fit_their_column(filled):
    """The key's field is named, and what it wants."""
    for call, words in (
        (lambda: filled.update(slot, ("soon", 9), {}, 1), r"^slot\.day: a str was given that is no date; pass a date"),
        (lambda: filled.update(slot, ("2026-09-28", "nine"), {}, 1), r"^slot\.hour: .* integer"),
        (lambda: filled.update(label, "seven", {}, 1), r"^label\.id: a str .* no integer; pass a"),
        (lambda: filled.update(label, "--5", {}, 1), r"^label\.id: a str .* no integer; pass a"),
        (lambda: filled.update(label, 10**30, {}, 1), r"^label\.id: is an integer of more than 64 bits"),
        (lambda: filled.update(label, None, {}, 1), r"^label\.id: is missing"),
        (lambda: filled.update(Move, None, {}, 1), r"^move\.id: is missing"),
        (lambda: filled.update(sample, 7, {}, 1), r"^sample\.id: an int was given that is no uuid"),
        (lambda: filled.update(Move, LONG, {}, 1), r"^move\.id: is 256 bytes long"),
        (lambda: filled.update(Move, "", {}, 1), r"^move\.id: is empty"),
        (lambda: filled.insert(Move, {"id": "a\0"}), r"^move\.id: holds a"),
        (lambda: filled.insert(Move, {"id": LONG}), r"^move\.id: is 256 bytes long"),
        (lambda: filled.insert(Move, {"id": ""}), r"^move\.id: is empty"),
        (lambda: filled.insert(slot, {"day": "2026-09-28", "hour": None}), r"slot"),
    ):
        refuses(call, (InvalidInput, WriteRefused), words)


def test_key_and_version_are_not_written(filled):
    """A row's key never changes, and its version is counted, not set."""
    for call, field in (
        (lambda: filled.update(Move, "m1", {"id": "m2"}, 1), r"move\.id"),
        (lambda: filled.update(Move, "m1", {"version": 7}, 1), r"move\.version"),
        (lambda: filled.insert(Move, {"id": "m2", "version": 7}), r"move\.version"),
        (lambda: filled.update(slot, ("2026-09-28", 9), {"hour": 10}, 1), r"slot\.hour"),
    ):
        refuses(call, InvalidInput, f"{field}: cannot be set by a write; leave it out")


def test_bounds_that_are_none(filled):
    """A limit is a whole number of at least 1, and a revision a whole number of at least 0."""
    for name in ("limit", "max_bytes", "max_runs"):
        for value in (0, -1, 1.5, "5", None, True):
            refuses(
                lambda name=name, value=value: filled.read_batch(**{name: value}),
                InvalidInput,
                f"^{name}: is no whole number of at least 1; pass 1 or more",
            )
    for value in (0, -1, 10_001, "5", 1.5, None, True):
        refuses(lambda value=value: filled.changes(limit=value), InvalidInput, r"^limit: is .*; pass 1 to 10000")
    for value in (-1, "5", 1.5, None, True, 2**63):
        refuses(lambda value=value: filled.changes(after=value), InvalidInput, r"^after: is no whole number")
        refuses(lambda value=value: filled.forget_before("w1", value), InvalidInput, r"^revision: is no whole number")


def test_words_that_are_unknown(filled):
    """Options that take one of a few words name them."""
    refuses(lambda: filled.write(number="soon"), InvalidInput, 'number: is unknown; use "now" or "later"')


def test_fields_that_are_no_mapping(filled):
    """Values are given by field name."""
    for fields in (None, ["stage"], "stage", 7):
        for call in (
            lambda fields=fields: filled.insert(Move, fields),
            lambda fields=fields: filled.update(Move, "m1", fields, 1),
        ):
            refuses(call, InvalidInput, "^fields: is no mapping; pass values by field name")


def test_a_block_that_was_sent_takes_nothing_more(filled):
    """What is asked of a block after its end would be lost; it is refused."""
    with filled.write() as write:
        pass
    for call in (
        lambda: write.update(Move, "m1", {"stage": "x"}, expected_version=1),
        lambda: write.insert(Move, {"id": "m2"}),
        lambda: write.delete(Move, "m1", expected_version=1),
    ):
        refuses(call, InvalidInput, "write: the block has ended; begin another one: (async )?with log")
    with pytest.raises(ZeroDivisionError), filled.write() as broken:
        raise ZeroDivisionError
    refuses(lambda: broken.insert(Move, {"id": "m2"}), InvalidInput, "the block has ended")


@pytest.mark.parametrize("before", ["insert", "delete"])
def test_a_row_is_inserted_once_in_a_block(filled, before):
    """An insertion of a row that the block itself has written is refused with the way out."""
    block = filled.write()
    with pytest.raises(InvalidInput, match="is written and then inserted in one block; update it"), block as write:
        if before == "insert":
            write.insert(Move, {"id": "m2"})
            write.insert(Move, {"id": "m2"})
        else:
            write.delete(Move, "m1", expected_version=1)
            write.insert(Move, {"id": "m1"})


def test_cursors_that_are_none(filled):
    """A cursor comes from `to_json` whole, and counts from 0."""
    whole = filled.open_thread().to_json()
    for wrong in (None, [], "x", {}, {**whole, "more": 1}, {k: v for k, v in whole.items() if k != "mark"}):
        refuses(
            lambda wrong=wrong: Cursor.from_json(wrong),
            InvalidInput,
            r"cursor: has other fields than a cursor; pass what Cursor\.to_json\(\) gave",
        )
    for wrong in ({"revision": "1"}, {"revision": True}, {"epoch": None}):
        refuses(lambda wrong=wrong: Cursor.from_json({**whole, **wrong}), InvalidInput, "has another type; pass what")
    refuses(
        lambda: filled.read_batch(checkpoint_cursor=whole),
        InvalidInput,
        r"checkpoint_cursor: is no Cursor; read it with Cursor\.from_json\(\)",
    )


def test_entities_that_do_not_fit_their_table(client):
    """The entity is named with what is wrong and what to pass, when the log is made."""
    keyless = Table("keyless", MetaData(), Column("workspace_id", String(9)))
    wrong = {
        "its table has no field 'nothing'; use one of: alarm_code, door_code": lambda: Entity(Move, expose=["nothing"]),
        "there is no column 'team' among alarm_code, door_code": lambda: Entity(Move, expose=[], workspace="team"),
        "'stage' is no foreign key to one table; name a column with one ForeignKey": lambda: Entity(
            Move, expose=[], workspace="stage.workspace_id"
        ),
        "there is no column 'team'": lambda: Entity(item, expose=[], workspace="move_id.team"),
        "its table has no primary key; pass key=": lambda: Entity(keyless, expose=[]),
        "its table has no field 'revision'": lambda: Entity(Move, expose=[], version="revision"),
        "its version column 'stage' is no integer; pass version=None": lambda: Entity(Move, expose=[], version="stage"),
        "its table has no field 'size'": lambda: Entity(Move, expose=[], order_by=["-size"]),
        "stage is named twice in expose, hidden and secret": lambda: Entity(Move, expose=["stage"], hidden=["stage"]),
        "title 'stage' is not exposed; add it to expose": lambda: Entity(Move, expose=[], title="stage"),
        "limit is below 1; pass a limit of at least 1": lambda: Entity(Move, expose=[], limit=0),
        'event_values is unknown; use "all" or "names"': lambda: Entity(Move, expose=[], event_values="none"),
        "is neither a mapped class nor a Table; pass one of these": lambda: Entity(object, expose=[]),
    }
    for words, make in wrong.items():
        refuses(lambda make=make: WorkspaceLog(client.database, [make()]), InvalidEntity, re.escape(words))
    refuses(
        lambda: WorkspaceLog(client.database, [ENTITIES[0], ENTITIES[0]]),
        InvalidEntity,
        "Entity 'move': two entities have this name; pass name= to one of them",
    )


def test_many_errors_leave_the_log_usable(filled):
    """After any of them the same log writes and reads on."""
    with pytest.raises(InvalidInput):
        filled.update(Move, "m1", {"move_in_date": "soon"}, 1)
    with pytest.raises(WriteRefused):
        filled.insert(Move, {"id": "m1"}, "w2")
    assert 2 == filled.head()
    assert USER == filled.changes()[0].actor
