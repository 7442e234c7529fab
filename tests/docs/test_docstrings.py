import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langchain_core.language_models import FakeListChatModel
from langgraph.checkpoint.memory import InMemorySaver
from sqlalchemy import Column, Integer, MetaData, String, Table

import abreast
from abreast import Actor, Database, Entity, WorkspaceLog
from abreast import langchain as agents

# Their examples run beside their own tests, with names of their own.
ELSEWHERE = ("abreast.prompt.", "abreast.langgraph.nodes", "abreast.langgraph.state")
OF_AGENTS = ("abreast.langchain.", "abreast.langgraph.")


class Model(FakeListChatModel):
    """A model that takes tools, and says what it was told to say."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        """Take tools."""
        return self


def modules() -> list[str]:
    """Give the modules whose docstrings hold examples that are run here."""
    package = Path(abreast.__file__).parent
    with_examples = [path for path in sorted(package.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(package.parent).with_suffix("").parts) for path in with_examples]
    return [name for name in names if not name.startswith(ELSEWHERE)]


@pytest.fixture
def names() -> Iterator[dict[str, Any]]:
    """Give the names that examples use without making them: a log with a move at version 1."""
    move_table = Table(
        "move",
        MetaData(),
        Column("id", String(40), primary_key=True),
        Column("workspace_id", String(40), nullable=False),
        Column("move_in_date", String(10)),
        Column("stage", String(20)),
        Column("version", Integer),
    )
    with Database.temporary() as database:
        database.upgrade()
        database.run(move_table.metadata.create_all)
        log = WorkspaceLog(database, entities=[Entity(move_table, expose=["move_in_date", "stage"])])
        yield {
            "Actor": Actor,
            "Entity": Entity,
            "database": database,
            "log": log,
            "move_table": move_table,
        }


def of_agents(log: WorkspaceLog) -> dict[str, Any]:
    """Give what examples of agents use besides: what a reader imports, a workspace with a move, and a model."""
    with log.write("w1", actor=Actor.user("u1")) as write:
        write.insert("move", {"id": "m1", "move_in_date": "2026-09-28"})
    imported = {part.__name__: part for part in (InMemorySaver, ToolRuntime, create_agent)}
    return {
        **imported,
        **{name: getattr(agents, name) for name in agents.__all__},
        "Any": Any,
        "config": {"configurable": {"thread_id": "t1"}},
        "context": {"workspace_id": "w1", "user_id": "u1"},
        "model": Model(responses=["On September 28."]),
        "tool": tool,
        "tools": [],
    }


@pytest.mark.parametrize("name", modules())
def test_examples(name: str, names: dict[str, Any]):
    """What the docstrings of a module show, one after the other, is what happens."""
    module = importlib.import_module(name)
    names = vars(module) | names | (of_agents(names["log"]) if name.startswith(OF_AGENTS) else {})
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in sorted(doctest.DocTestFinder().find(module), key=lambda test: test.lineno or 0):
        test.globs = names
        runner.run(test, clear_globs=False)
    assert 0 == runner.summarize(verbose=False).failed
    assert runner.tries > 0


def test_examples_are_found():
    """The modules users begin with are among them."""
    wanted = {"workspace_log.log", "database.database", "model.entity", "langchain.agent", "langgraph.graph"}
    assert {f"abreast.{name}" for name in wanted} <= set(modules())
