"""The examples in the docstrings run as they stand."""

import doctest
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AnyMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from sqlalchemy import Column, Integer, MetaData, String, Table

from abreast import Actor, Database, Entity, WorkspaceLog
from abreast.langgraph import CursorState, WorkspaceNodes, nodes, state

MOVE = Table(
    "move",
    MetaData(),
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40)),
    Column("move_in_date", String(40)),
    Column("version", Integer),
)


class State(CursorState):
    """The state that the examples speak of."""

    messages: Annotated[list[AnyMessage], add_messages]


@pytest.fixture
def names() -> Iterator[dict[str, Any]]:
    """Give the names that examples use without making them."""
    with Database.temporary() as database:
        database.upgrade()
        database.run(MOVE.metadata.create_all)
        log = WorkspaceLog(database, entities=[Entity(MOVE, expose=["move_in_date"])])
        with log.write("w1", actor=Actor.user("u1")) as write:
            write.insert("move", {"id": "m1", "move_in_date": "2026-09-28"})
        log.open_thread("w1", "t1")
        with log.write("w1", actor=Actor.user("u1")) as write:
            write.update("move", "m1", {"move_in_date": "2026-09-30"}, expected_version=1)
        yield {
            "Annotated": Annotated,
            "AnyMessage": AnyMessage,
            "CursorState": CursorState,
            "InMemorySaver": InMemorySaver,
            "START": START,
            "State": State,
            "StateGraph": StateGraph,
            "WorkspaceNodes": WorkspaceNodes,
            "add_messages": add_messages,
            "log": log,
            "model": FakeListChatModel(responses=["On September 30."]),
        }


def run(part: object, names: dict[str, Any]) -> int:
    """Run the examples of a class or function and count them."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    found = doctest.DocTestFinder(recurse=False).find(part, globs=names)
    for test in found:
        runner.run(test, clear_globs=False)
        names.update(test.globs)
    assert 0 == runner.summarize(verbose=False).failed
    return runner.tries


def test_examples(names: dict[str, Any]):
    """A reader can paste them one after the other."""
    assert run(nodes.WorkspaceNodes, names) > 0
    for name in ("model", "request", "nominate", "confirm_finished", "confirm_result"):
        assert run(getattr(nodes.WorkspaceNodes, name), names) > 0
    assert run(state.CursorState, names) > 0
