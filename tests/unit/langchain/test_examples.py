"""The examples in the docstrings run as they stand."""

import doctest
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langchain_core.language_models import FakeListChatModel
from langgraph.checkpoint.memory import InMemorySaver
from sqlalchemy import Column, Integer, MetaData, String, Table

from abreast import Actor, Database, Entity, WorkspaceLog
from abreast.langchain import (
    WorkspaceSnapshotMiddleware,
    WorkspaceSyncMiddleware,
    bind,
    create_synced_agent,
    workspace_tools,
    write_options,
)

MOVE = Table(
    "move",
    MetaData(),
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40)),
    Column("move_in_date", String(40)),
    Column("version", Integer),
)


class Model(FakeListChatModel):
    """A model that takes tools."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        """Take tools, which a scripted model does not need."""
        return self


@pytest.fixture
def names() -> Iterator[dict[str, Any]]:
    """Give the names that examples use without making them."""
    with Database.temporary() as database:
        database.upgrade()
        database.run(MOVE.metadata.create_all)
        log = WorkspaceLog(database, entities=[Entity(MOVE, expose=["move_in_date"])])
        with log.write("w1", actor=Actor.user("u1")) as write:
            write.insert("move", {"id": "m1", "move_in_date": "2026-09-28"})
        known = (
            *(InMemorySaver, ToolRuntime, WorkspaceSnapshotMiddleware, WorkspaceSyncMiddleware, bind, create_agent),
            *(create_synced_agent, workspace_tools, write_options),
        )
        yield {
            **{part.__name__: part for part in known},
            "Any": Any,
            "config": {"configurable": {"thread_id": "t1"}},
            "context": {"workspace_id": "w1", "user_id": "u1"},
            "log": log,
            "model": Model(responses=["On September 28."]),
            "tool": tool,
        }


@pytest.mark.parametrize(
    "part",
    [WorkspaceSyncMiddleware, WorkspaceSnapshotMiddleware, workspace_tools, write_options, create_synced_agent],
)
def test_examples(names: dict[str, Any], part: Any):
    """A reader can paste them."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in doctest.DocTestFinder(recurse=False).find(part, globs=names):
        runner.run(test)
    assert 0 == runner.summarize(verbose=False).failed
    assert runner.tries > 0
