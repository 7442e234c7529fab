"""Every argument of every public function of abreast.langchain and abreast.langgraph is checked where it is passed."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from langchain.tools import ToolRuntime
from langchain_core.language_models import FakeListChatModel
from langgraph.graph import START, MessagesState, StateGraph
from sqlalchemy import Column, Integer, MetaData, String, Table

import abreast.langchain
import abreast.langgraph
from abreast import Database, Entity, WorkspaceLog
from abreast.errors import InvalidInput
from abreast.langgraph import SqlSaver, WorkspaceNodes
from abreast.langgraph.arguments import came

MODULES = (abreast.langchain, abreast.langgraph)
NAN = float("nan")
BLOCK = {
    "language": ["xx", 5, []],
    "names": [3],
    "now": ["noon"],
    "time_zone": ["Europe/Berlin"],
    "max_bytes": [0, "1"],
    "value_limit": [-1, 1.5],
}
MIDDLEWARE = {
    "placement": ["top", 5],
    "on_read_error": ["x", None],
    "viewer": ["u1"],
    "bogus": [(1, "unknown")],
    **BLOCK,
}
SYNC = {"refresh": ["x", None], "extras": [{}], "accept": [1], "limit": [0, "5", True, 1.5]}
RUNS = {
    "on_busy": ["x", None],
    "on_interrupted": ["x", None],
    "busy_timeout": [-1, "5", NAN, None, True],
    "lease_seconds": [0, 1e9, "5", NAN, None],
}
BAD: dict[str, dict[str, list[Any]]] = {
    "bind": {"graph": [5, None], "log": [5, None], **RUNS},
    "WorkspaceSyncMiddleware": {
        "log": [5, None],
        "scope": [5, None, ("a\n", "control character")],
        **SYNC,
        **MIDDLEWARE,
    },
    "WorkspaceSnapshotMiddleware": {
        "log": [5],
        "database": [5],
        "entities": [5, None, "move", ([5], "5")],
        "load": [5],
        **MIDDLEWARE,
    },
    "workspace_tools": {
        "log": [5, None],
        "allow": [5, ({"move": 5}, "5"), ({"move": "read"}, "read"), ({"move": ["fly"]}, "fly"), ({"move": [5]}, "5")],
        "fields": [5, ["stage"], ({"move": "stage"}, "stage"), ({"move": [5]}, "5")],
        "rights": [1],
        "viewer": [2],
        "agent": [5, ("", "empty")],
        "merge": ["x", 5],
    },
    "write_options": {"log": [5, None], "runtime": [None, 5, {}], "payload": [{1, 2}, {"a": b"x"}]},
    "awrite_options": {"log": [5, None], "runtime": [None, 5, {}], "payload": [{1, 2}, {"a": b"x"}]},
    "create_synced_agent": {
        "model": [5, None],
        "tools": [5, "book", None],
        "log": [5, None],
        "checkpointer": [5, "x"],
        "store": [5],
        "middleware": [5, None, ([5], "5")],
        "context_schema": [5, None],
        "block": [5, "ko"],
        "entity_tools": [5, None, ({"move": "read"}, "read")],
        "rights": [1],
        "viewer": [2],
        "placement": ["top"],
        "on_read_error": ["x"],
        **SYNC,
        **RUNS,
    },
    "WorkspaceNodes": {
        "log": [5, None],
        "scope": [5, None],
        "viewer": ["u1"],
        "limit": [0, "5", True],
        "placement": ["top", None],
        "render": [None, 5],
        "messages_key": [5, ("", "empty"), None],
    },
    "WorkspaceNodes.model": {"model": [5, None, len]},
    "WorkspaceNodes.request": {
        "state": [5, None],
        "workspace_id": [5, ("", "empty"), b"w1"],
        "thread_id": [5, ("", "empty"), b"t1"],
    },
    "WorkspaceNodes.nominate": {"state": [5, None]},
    "WorkspaceNodes.confirm_finished": {"graph": [5, None], "config": [5, None, "t1"]},
    "WorkspaceNodes.confirm_result": {"result": [5, None]},
    "SqlSaver": {
        "database": [5, None],
        "leases": [5],
        "serde": [5],
        "verify": ["x", None],
        "warn_bytes": [0, "5"],
        "max_bytes": [-1, 1.5],
        "allow_new_roots": [1, None],
    },
    "SqlSaver.prune": {
        "thread_ids": ["t1", 5, None],
        "strategy": ["x", None],
        "keep_last": [0, "5"],
        "older_than": [5, (timedelta(-1), "-1 day")],
    },
    "SqlSaver.delete_for_runs": {"run_ids": ["r1", 5, None]},
    "SqlSaver.list": {"config": [5], "filter": [5], "before": [5], "limit": [-1, "5", True]},
    "SqlSaver.get_tuple": {"config": [5, None]},
}
"""By function and argument what is refused: a value, or a pair of a value and what the error says that came."""

CASES = [(name, argument, value) for name, bad in BAD.items() for argument, values in bad.items() for value in values]

MADE_BY_ABREAST = {"BoundGraph", "Request"}
TYPES = {"CursorState", "WorkspaceContext"}


@pytest.fixture(scope="module")
def good() -> Iterator[dict[str, Any]]:
    """Give an argument of every name that fits."""
    columns = (Column("id", String, primary_key=True), Column("workspace_id", String), Column("stage", String))
    move = Table("move", MetaData(), *columns, Column("version", Integer))
    with Database.temporary() as database:
        nothing: Any = None
        yield {
            "log": WorkspaceLog(database, [Entity(move, expose=["stage"])]),
            "database": database,
            "graph": StateGraph(MessagesState).add_node("a", len).add_edge(START, "a").compile(),
            "config": {"configurable": {"thread_id": "t1"}},
            "model": FakeListChatModel(responses=["fine"]),
            "runtime": ToolRuntime(nothing, nothing, {}, nothing, "call", nothing),
            "state": {"messages": []},
            "result": {},
            "thread_ids": ["t1"],
            "run_ids": ["r1"],
        }


def call(name: str, good: dict[str, Any], argument: str, value: Any) -> Any:
    """Call a public function with what fits, and one argument that does not."""
    owner, _, method = name.partition(".")
    function: Callable[..., Any] = next(getattr(module, owner) for module in MODULES if hasattr(module, owner))
    if method:
        function = getattr(
            WorkspaceNodes(good["log"]) if owner == "WorkspaceNodes" else SqlSaver(good["database"]), method
        )
    needed = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    ]
    arguments = {each: good[each] for each in needed} | {argument: value}
    if name == "WorkspaceSnapshotMiddleware" and argument not in ("log", "database", "load"):
        arguments["log"] = good["log"]
    found = function(**arguments)
    return list(found) if method == "list" else asyncio.run(found) if inspect.iscoroutine(found) else found


@pytest.mark.parametrize(("name", "argument", "value"), CASES)
def test_bad_argument(good: dict[str, Any], name: str, argument: str, value: Any):
    """The error names the argument, what came, and what is allowed."""
    value, known = value if isinstance(value, tuple) else (value, came(value))
    with pytest.raises(InvalidInput) as raised:
        call(name, good, argument, value)
    assert argument == raised.value.name
    assert known in raised.value.problem or type(value).__name__ in raised.value.problem
    assert raised.value.way_out


def test_every_argument_is_in_the_table():
    """Who adds a public function or an argument adds what it refuses."""
    public = {name for module in MODULES for name in module.__all__} - MADE_BY_ABREAST - TYPES
    assert public == {name.partition(".")[0] for name in BAD}
    for name in public:
        function = next(getattr(module, name) for module in MODULES if hasattr(module, name))
        taken = set(inspect.signature(function).parameters) - {"options"}
        assert taken <= set(BAD[name]), name


def test_sources_of_the_snapshot(good: dict[str, Any]):
    """Exactly one source is named; what belongs to another one is refused, never ignored."""
    log, database = good["log"], good["database"]
    make: Any = abreast.langchain.WorkspaceSnapshotMiddleware
    for sources in ({}, {"log": log, "database": database}, {"log": log, "load": len}):
        with pytest.raises(InvalidInput, match=f"^source: is {' and '.join(sources) or 'none'}, not exactly one; pass"):
            make(**sources)
    with pytest.raises(InvalidInput, match="^entities: is empty; pass the entities"):
        make(database=database)
    with pytest.raises(InvalidInput, match="^entities: comes with load=.*; leave one of them out"):
        make(load=len, entities=log.entities)
