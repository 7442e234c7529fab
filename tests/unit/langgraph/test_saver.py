"""Parts of the saver that need no database."""

import doctest
import json

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, MessagesState, StateGraph

from abreast import Database
from abreast.errors import InvalidInput
from abreast.langgraph.saver import SqlSaver, saver
from abreast.langgraph.saver.loads import LOADED_KEY, Load, load_of, place_of
from abreast.langgraph.saver.memory import Elements, Memory, State
from abreast.langgraph.saver.publishing import next_nodes
from abreast.operations.elements import Address
from abreast.operations.manifests import Body, Inline, Listed, Place, Serialized, Span, Stored, decode, encode


def test_the_example():
    """What the docstring shows is what happens."""
    with Database.temporary() as database:
        database.upgrade()
        builder = (
            StateGraph(MessagesState).add_node("say", lambda _: {"messages": [("ai", "x")]}).add_edge(START, "say")
        )
        names = {"database": database, "builder": builder, "SqlSaver": SqlSaver}
        runner = doctest.DocTestRunner()
        for test in doctest.DocTestFinder().find(saver, globs=names):
            runner.run(test)
        assert (0, True) == (runner.summarize(verbose=False).failed, runner.tries > 0)


def test_every_method_of_the_base_is_overridden():
    """A method of LangGraph's that is only inherited would raise, or walk checkpoint by checkpoint."""
    inherited = {"config_specs", "get", "aget", "with_allowlist"}
    methods = {name for name in vars(BaseCheckpointSaver) if not name.startswith("_") and name != "serde"}
    assert inherited == {name for name in methods if name not in vars(SqlSaver)}


@pytest.mark.parametrize("options", [{"verify": "never"}, {"warn_bytes": 0}, {"max_bytes": -1}])
def test_bad_arguments(options):
    """They are named."""
    with Database.temporary() as database, pytest.raises(InvalidInput, match=next(iter(options))):
        SqlSaver(database, **options)


def test_bodies_come_back():
    """What is written is read, large and small, with versions of every kind."""
    for size in (3, 9_000):
        body = Body(
            Serialized("msgpack", bytes(range(256)) * size),
            Serialized("msgpack+aes", b"m"),
            {
                "inline": Place(1, Inline("bytes", b"\x00\xff")),
                "stored ü": Place("00001.5", Stored(7, 8)),
                "listed": Place(2.5, Listed((Span(0, 5), Span(7, 9)), 100, 12, 5, 3)),
                "\ud800": Place(3, Inline("null", b"")),
            },
            4,
        )
        assert body == decode(encode(body))


def test_loads_belong_to_their_namespace():
    """A load's token is read back, and is nothing to another thread or namespace."""
    load = Load(5, place_of("t1", ""), 0, "c2", "c1", None, 3)
    configurable = {"thread_id": "t1", LOADED_KEY: load.token()}
    assert load == load_of(configurable)
    assert load == load_of({**configurable, "checkpoint_ns": ""})
    assert load_of({**configurable, "thread_id": "t2"}) is None
    assert load_of({**configurable, "checkpoint_ns": "inner"}) is None
    assert load_of({"thread_id": "t1"}) is None
    assert isinstance(json.loads(load.token()), list)


def test_memory_is_bounded():
    """The oldest states go first, by their number and by their bytes."""
    memory = Memory()
    place = {"m": Place(1, Listed((Span(0, 1),), 1_000_000, 1, 0, 1))}
    for number in range(40):
        memory.keep(Address("t", ""), number, State(f"c{number}", place, {"m": Elements([1], [])}))
    kept = [number for number in range(40) if memory.get(Address("t", ""), number, f"c{number}")]
    assert kept == list(range(7, 40))
    assert memory.get(Address("t", ""), 39, "another") is None
    memory.drop(Address("t", ""), 39)
    assert memory.get(Address("t", ""), 39, "c39") is None
    for number in range(300):
        memory.keep(Address("t", ""), number, State("c", {}, {}))
    assert 128 == sum(memory.get(Address("t", ""), number, "c") is not None for number in range(300))


@pytest.mark.parametrize(
    ("values", "nodes"),
    [
        ({"messages": []}, []),
        ({"branch:to:say": None, "messages": []}, ["say"]),
        ({"__start__": {"messages": []}}, ["__start__"]),
        ({"__pregel_tasks": []}, []),
        ({"join:a+b:c": {"a"}}, []),
        ({"join:a+b:c": {"a", "b"}}, ["c"]),
    ],
)
def test_nodes_that_run_next(values, nodes):
    """The channels of a checkpoint say whether work is left."""
    assert nodes == list(next_nodes(values))
