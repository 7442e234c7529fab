"""I11: stored bytes that changed or went missing are detected and named, never defaulted."""

import math
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel
from sqlalchemy import delete, select, update

from abreast.errors import CheckpointCorrupt, InvalidInput, StateTooLarge
from tests.contract.savers import CONFIG, STEP, Savers, at, checkpoint, graph_of

BYTES = [
    ("checkpoint", "body", None),
    ("checkpoint", "checksum", None),
    ("checkpoint_value", "bytes", "note"),
    ("checkpoint_value", "checksum", "note"),
    ("checkpoint_value", "kind", "note"),
    ("checkpoint_element", "bytes", "todo"),
    ("checkpoint_element", "sizes", "todo"),
    ("checkpoint_element", "checksum", "todo"),
    ("checkpoint_write", "bytes", "todo"),
    ("checkpoint_write", "checksum", "todo"),
    ("checkpoint_write", "channel", "other"),
]
VALUES = {"note": "a note " * 30, "todo": [f"item {number} " * 12 for number in range(5)], "count": 7}


@pytest.fixture
def savers(place):
    """Give savers of a fresh database."""
    made = Savers(place)
    yield made
    made.close()


def stored(savers):
    """Store two checkpoints, the second with everything."""
    saver = savers.new()
    first = {**VALUES, "todo": VALUES["todo"][:3]}
    savers.call(saver, "put", at(), checkpoint("c1", **first), STEP, dict.fromkeys(first, 1))
    config = savers.call(saver, "put", at("c1"), checkpoint("c2", **VALUES), STEP, {"todo": 1})
    savers.call(saver, "put_writes", config, [("todo", "by the task " * 9), ("note", "x" * 99)], "task")
    return saver


def damage(savers, table, column):
    """Change a byte, or a letter, of every row of a table; the row itself stays as it is otherwise."""
    found = getattr(savers.place.database.tables, table)
    keys = list(found.primary_key)
    with savers.place.past.begin() as connection:
        for row in connection.execute(select(found)).mappings().all():
            value = row[column]
            changed = "other" if isinstance(value, str) else bytes([value[0], value[1] ^ 4]) + bytes(value[2:])
            here = [key == row[key.name] for key in keys]
            connection.execute(update(found).where(*here).values({column: changed}))


@pytest.mark.parametrize(("table", "column", "channel"), BYTES)
def test_a_changed_byte_is_named(savers, table, column, channel):
    """Whatever byte changes, the load says of which thread, checkpoint and channel it is. I11"""
    stored(savers)
    damage(savers, table, column)
    for saver in (savers.replica(), savers.new(serde=JsonPlusSerializer(pickle_fallback=True))):
        with pytest.raises(CheckpointCorrupt) as raised:
            savers.call(saver, "get_tuple", at())
        error = raised.value
        assert ("t1", "", "c2", channel) == (error.thread_id, error.checkpoint_ns, error.checkpoint_id, error.channel)
        assert "backup" in str(error)
        with pytest.raises(CheckpointCorrupt):
            savers.call(saver, "list", at())


@pytest.mark.parametrize(
    ("table", "channel"),
    [("checkpoint", None), ("checkpoint_value", "note"), ("checkpoint_element", "todo"), ("checkpoint_write", None)],
)
def test_a_missing_row_is_named(savers, table, channel):
    """A row that is gone is never an absent channel, an empty list or a write that was not made. I11"""
    stored(savers)
    found = getattr(savers.place.database.tables, table)
    which = {
        "checkpoint": lambda: found.c.checkpoint_id == "c2",
        "checkpoint_value": lambda: found.c.channel == "note",
        "checkpoint_element": lambda: found.c.first == 3,
        "checkpoint_write": lambda: found.c.idx == 0,
    }[table]
    with savers.place.past.begin() as connection:
        assert connection.execute(delete(found).where(which())).rowcount > 0
    with pytest.raises(CheckpointCorrupt, match="missing") as raised:
        savers.call(savers.replica(), "get_tuple", at())
    assert channel == raised.value.channel


def test_what_is_whole_still_loads(savers):
    """An older checkpoint that does not need the lost bytes is a way out. I11"""
    saver = stored(savers)
    with savers.place.past.begin() as connection:
        element = savers.place.database.tables.checkpoint_element
        connection.execute(delete(element).where(element.c.first == 3))
    assert VALUES["todo"][:3] == savers.call(saver, "get_tuple", at("c1")).checkpoint["channel_values"]["todo"]


def test_rows_that_were_exchanged_are_named(savers):
    """Bytes with the right checksum in the place of others are wrong too. I11"""
    saver = savers.new()
    values = {"a": "x" * 99, "b": "y" * 99}
    savers.call(saver, "put", at(), checkpoint("c1", **values), STEP, dict.fromkeys(values, 1))
    value = savers.place.database.tables.checkpoint_value
    with savers.place.past.begin() as connection:
        rows = {row.channel: row for row in connection.execute(select(value))}
        for channel, other in (("a", "b"), ("b", "a")):
            changed = {"bytes": rows[other].bytes, "checksum": rows[other].checksum}
            connection.execute(update(value).where(value.c.channel == channel).values(changed))
    with pytest.raises(CheckpointCorrupt):
        savers.call(saver, "get_tuple", at())


def test_damage_is_not_merged_away(savers):
    """Rows that are put together keep what is wrong with them, for whoever loads them. I11"""
    saver = savers.new()
    todo: list[str] = []
    parent = None
    for number in range(70):
        todo.append(f"item {number} " * 8)
        if number == 60:
            damage(savers, "checkpoint_element", "bytes")
        made = checkpoint(f"c{number:02}", todo=list(todo), **{"branch:to:next": None})
        savers.call(saver, "put", at(parent), made, STEP, {"todo": 1})
        parent = f"c{number:02}"
    assert 68 > len(savers.rows()["checkpoint_element"])
    with pytest.raises(CheckpointCorrupt, match="elements from 0 is wrong"):
        savers.call(savers.replica(), "get_tuple", at())


class Money(BaseModel):
    """A value of the application's own."""

    amount: float
    currency: str = "EUR"


@dataclass
class Point:
    """Another one."""

    x: int
    y: int


NESTED = {"list": [1, 2.5, None, True, "x"], "dict": {"a": [b"\x00\xff"]}, 3: "int key"}
SAME = [
    ("nul", "a\x00b" * 40),
    ("surrogate", "lone \ud800 " * 20),
    ("short surrogate", "\udfff"),
    ("empty", ""),
    ("none", None),
    ("zero", 0),
    ("large int", 2**63),
    ("negative", -(2**62)),
    ("true", True),
    ("inf", math.inf),
    ("bytes", b"\x00\x01" * 60),
    ("no bytes", b""),
    ("nested", NESTED),
    ("empty list", []),
    ("list of empties", [[], {}, "", None, b""] * 30),
    ("list of lists", [[number, [number]] for number in range(80)]),
    ("texts with surrogates", ["\ud800 " * 5, "\x00" * 70, "ok"]),
    ("model", Money(amount=1.5)),
    ("models", [Money(amount=number) for number in range(20)]),
    ("points", [Point(number, 1) for number in range(20)]),
    ("messages", [HumanMessage("x" * 99, id="1"), AIMessage([{"type": "text", "text": "y"}], id="2")]),
]


def test_c17_encrypted_values_come_back_as_they_were(savers):
    """C17: so do values that are encrypted, each in a channel and as a pending write. I11"""
    options = {"serde": EncryptedSerializer(Cipher())}
    channels = dict(SAME)
    saver = savers.new(**options)
    savers.call(saver, "put", at(), checkpoint("c1", **channels), STEP, dict.fromkeys(channels, 1))
    savers.call(saver, "put_writes", at("c1"), SAME, "task")
    found = savers.call(savers.replica(**options), "get_tuple", at())
    # LangGraph's serializer writes a question mark for a lone surrogate.
    wanted = {name: JsonPlusSerializer().loads_typed(JsonPlusSerializer().dumps_typed(each)) for name, each in SAME}
    assert wanted == found.checkpoint["channel_values"]
    assert [("task", *each) for each in wanted.items()] == found.pending_writes


def test_c37_too_large_is_refused_before_it_is_stored(savers, caplog):
    """C37: from a size on a warning names the bytes of each channel, beyond another one nothing is stored."""
    saver = savers.new(warn_bytes=1_000, max_bytes=5_000)
    savers.call(saver, "put", at(), checkpoint("c1", a="x" * 2_000, b="small"), STEP, {"a": 1, "b": 1})
    savers.call(saver, "put", at("c1"), checkpoint("c2", a="x" * 2_001, b="small"), STEP, {"a": 1})
    assert 1 == len(caplog.messages)
    assert "'a' has 2,003 bytes" in caplog.messages[0]
    with savers.unchanged(), pytest.raises(StateTooLarge, match="max_bytes") as raised:
        savers.call(saver, "put", at("c2"), checkpoint("c3", a="x", b=["y" * 6_000]), STEP, {"a": 1, "b": 1})
    assert ("b", 5_000, {"a", "b"}) == (raised.value.channel, raised.value.limit, set(raised.value.sizes))


class TestChangedInPlace:
    """Elements that a node changes instead of returning new ones."""

    @pytest.mark.parametrize("encrypted", [False, True])
    @pytest.mark.parametrize(("count", "verify"), [(6, "end"), (40, "always"), (40, "end")])
    def test_it_is_stored(self, savers, count, verify, encrypted):
        """A message changed in place is stored as a new element, at the latest at the end of the run. I11"""
        serde = EncryptedSerializer(Cipher()) if encrypted else None
        saver = savers.new(verify=verify, serde=serde)
        graph = graph_of(saver, self.change)
        messages = [HumanMessage(f"question {number}") for number in range(count)]
        savers.invoke(graph, {"messages": messages})
        savers.ask(graph, "again")
        state = savers.call(graph_of(savers.replica(serde=serde)), "get_state", CONFIG)
        assert "changed twice" == state.values["messages"][0].content
        assert f"question {1}" == state.values["messages"][1].content
        assert count + 3 == len(state.values["messages"])

    def change(self, state):
        """Change the first message."""
        first = state["messages"][0]
        first.content = "changed once" if first.content.startswith("question") else "changed twice"
        return {"messages": [AIMessage("done")]}

    def test_nothing_is_returned(self, savers):
        """A message that is changed in place by a node that returns nothing is stored at the end of the run. I11"""

        def change(state):
            state["messages"][0].content = "changed"
            return {"note": "done"}

        graph = graph_of(savers.new(), change)
        savers.ask(graph, "question")
        assert "changed" == savers.call(graph_of(savers.replica()), "get_state", CONFIG).values["messages"][0].content


class Cipher:
    """A cipher whose output is another one each time, as that of real ones is."""

    count = 0

    def encrypt(self, plaintext):
        """Turn the bytes round, with a number in front."""
        Cipher.count += 1
        key = 1 + Cipher.count % 250
        return "turned", bytes([key]) + bytes(byte ^ key for byte in plaintext)

    def decrypt(self, name, ciphertext):
        """Turn them back."""
        assert name == "turned"
        return bytes(byte ^ ciphertext[0] for byte in ciphertext[1:])


def test_p04_what_is_encrypted_is_nowhere_in_the_clear(savers):
    """P04: with an encrypting serializer no word of the conversation is in the tables. I9"""
    saver = savers.new(serde=EncryptedSerializer(Cipher()))
    graph = graph_of(saver)
    for number in range(40):
        savers.ask(graph, f"my canary {number}")
    everything = "\n".join(row for rows in savers.rows().values() for row in rows)
    assert "canary" not in everything
    assert 40 == len(savers.told(graph_of(savers.replica(serde=EncryptedSerializer(Cipher())))))
    with pytest.raises((InvalidInput, NotImplementedError), match="turned"):
        savers.call(savers.replica(), "get_tuple", CONFIG)


class Own:
    """A serializer of the application's own."""

    def dumps_typed(self, value: Any) -> tuple[str, bytes]:
        """Say msgpack and mean something else."""
        kind, data = JsonPlusSerializer().dumps_typed(value)
        return kind, data[::-1]

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Read it."""
        return JsonPlusSerializer().loads_typed((data[0], data[1][::-1]))


@pytest.mark.parametrize("serde", [Own(), JsonPlusSerializer(pickle_fallback=True)])
def test_other_serializers_keep_lists_too(savers, serde):
    """Elements whose bytes cannot be joined are kept one by one, also among others that can. I11"""
    values = [*range(70), complex(1, 2) if isinstance(serde, JsonPlusSerializer) else "x", *range(70)]
    saver = savers.new(serde=serde)
    savers.call(saver, "put", at(), checkpoint("c1", todo=values), STEP, {"todo": 1})
    savers.call(
        savers.replica(serde=serde), "put", at("c1"), checkpoint("c2", todo=[*values[1:], "new"]), STEP, {"todo": 1}
    )
    assert [*values[1:], "new"] == savers.call(saver, "get_tuple", at()).checkpoint["channel_values"]["todo"]
    assert values == savers.call(saver, "get_tuple", at("c1")).checkpoint["channel_values"]["todo"]
