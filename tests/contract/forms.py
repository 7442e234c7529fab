"""Every way of calling a bound graph, by name."""

import threading
from collections.abc import Callable
from typing import Any, Protocol
from unittest.mock import MagicMock

from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from langsmith import Client as LangSmith
from langsmith import traceable
from langsmith.run_helpers import tracing_context

from abreast import WorkspaceLog
from abreast.langgraph import BoundGraph, bind
from tests.contract.bound import CONTEXT, QUESTION, State, config

IN_CONFIG = config("t1", workspace_id="w1")
CHAIN = ChatPromptTemplate.from_messages([("user", "{text}")]) | RunnableLambda(
    lambda prompt: {"messages": prompt.to_messages()}
)


class Around(Protocol):
    """Where a graph is called: what a parent of it needs."""

    log: WorkspaceLog
    saver: Any


def parent_of(node: Any, world: Around, *, stores: bool = True, **options: Any) -> Any:
    """
    Build a graph whose only node is another one.

    Args:
        stores: It keeps checkpoints. Two graphs cannot move the head of one thread in turn.
    """
    builder = StateGraph(State).add_node("agent", node).add_edge(START, "agent").add_edge("agent", END)
    return builder.compile(checkpointer=world.saver if stores else None, **options)


def in_a_thread(graph: BoundGraph, _world: Around) -> None:
    """Call the graph from a thread of its own."""
    thread = threading.Thread(target=lambda: graph.invoke(QUESTION, config(), context=CONTEXT))
    thread.start()
    thread.join()


def traced(graph: BoundGraph, _world: Around) -> None:
    """Call the graph inside a traced function, with nothing leaving the process."""
    client = LangSmith(session=MagicMock(), api_key="none", auto_batch_tracing=False, info={})
    ask = traceable(lambda: graph.invoke(QUESTION, config(), context=CONTEXT), name="ask")
    with tracing_context(enabled=True, client=client):
        ask()


def node_of_unbound_parent(graph: BoundGraph, world: Around) -> None:
    """Let a graph without a lease call it."""
    # Its own checkpoints come before and after the agent's run, and not beside it.
    parent_of(graph, world).invoke(QUESTION, config(), context=CONTEXT, durability="sync")


def node_of_bound_parent(graph: BoundGraph, world: Around) -> None:
    """Let a graph with the same thread's lease call it."""
    bind(parent_of(graph, world), world.log).invoke(QUESTION, config(), context=CONTEXT)


def called_in_a_node(graph: BoundGraph, world: Around) -> None:
    """Let a node of a bound graph call it by name of the same thread."""

    def ask(_state: State) -> dict[str, Any]:
        found = graph.invoke(QUESTION, config(), context=CONTEXT)
        return {"messages": found["messages"][-1:]}

    bind(parent_of(ask, world, stores=False), world.log).invoke(QUESTION, config(), context=CONTEXT)


def three_deep(graph: BoundGraph, world: Around) -> None:
    """Let a bound graph call it in a bound graph."""
    middle = bind(parent_of(graph, world), world.log)
    bind(parent_of(middle, world), world.log).invoke(QUESTION, config(), context=CONTEXT)


SYNC: dict[str, Callable[[BoundGraph, Around], Any]] = {
    "invoke": lambda graph, _: graph.invoke(QUESTION, config(), context=CONTEXT),
    "invoke v2": lambda graph, _: graph.invoke(QUESTION, config(), context=CONTEXT, version="v2"),
    "invoke updates": lambda graph, _: graph.invoke(QUESTION, config(), context=CONTEXT, stream_mode="updates"),
    "invoke async durability": lambda graph, _: graph.invoke(QUESTION, config(), context=CONTEXT, durability="async"),
    "invoke exit durability": lambda graph, _: graph.invoke(QUESTION, config(), context=CONTEXT, durability="exit"),
    "batch": lambda graph, _: graph.batch([QUESTION], IN_CONFIG),
    "batch_as_completed": lambda graph, _: list(graph.batch_as_completed([QUESTION], IN_CONFIG)),
    "stream": lambda graph, _: list(graph.stream(QUESTION, config(), context=CONTEXT)),
    "stream messages": lambda graph, _: list(
        graph.stream(QUESTION, config(), context=CONTEXT, stream_mode=["messages", "custom"], subgraphs=True)
    ),
    "stream checkpoints": lambda graph, _: list(
        graph.stream(QUESTION, config(), context=CONTEXT, stream_mode=["checkpoints", "tasks", "debug"])
    ),
    "stream_events v3": lambda graph, _: graph.stream_events(QUESTION, config(), context=CONTEXT, version="v3").output,
    "with_config": lambda graph, _: graph.with_config(config(workspace_id="w1")).invoke(QUESTION),
    "prompt | agent": lambda graph, _: (CHAIN | graph).invoke({"text": "When?"}, IN_CONFIG),
    "prompt | agent, streamed": lambda graph, _: list((CHAIN | graph).stream({"text": "When?"}, IN_CONFIG)),
    "inside a RunnableLambda": lambda graph, _: RunnableLambda(graph.invoke).invoke(QUESTION, IN_CONFIG),
    "returned by a RunnableLambda": lambda graph, _: RunnableLambda(lambda _value: graph).invoke(QUESTION, IN_CONFIG),
    "bind of options": lambda graph, _: graph.bind(context=CONTEXT).invoke(QUESTION, config()),
    "in a thread": in_a_thread,
    "traced": traced,
    "node of an unbound parent": node_of_unbound_parent,
    "node of a bound parent": node_of_bound_parent,
    "called in a node": called_in_a_node,
    "three deep": three_deep,
}


async def drained(parts: Any) -> None:
    """Consume an async iterator."""
    async for _ in parts:
        pass


async def atraced(graph: BoundGraph, _world: Around) -> None:
    """Call the graph inside a traced coroutine, with nothing leaving the process."""
    client = LangSmith(session=MagicMock(), api_key="none", auto_batch_tracing=False, info={})

    @traceable(name="ask")
    async def ask() -> None:
        await graph.ainvoke(QUESTION, config(), context=CONTEXT)

    with tracing_context(enabled=True, client=client):
        await ask()


async def aevents_v3(graph: BoundGraph, _world: Around) -> None:
    """Stream the newest events."""
    run = await graph.astream_events(QUESTION, config(), context=CONTEXT, version="v3")
    await run.output()


async def ainside(graph: BoundGraph, _world: Around) -> None:
    """Let a coroutine of a chain call it."""

    async def ask(value: Any) -> Any:
        return await graph.ainvoke(value)

    await RunnableLambda(ask).ainvoke(QUESTION, IN_CONFIG)


async def acalled_in_a_node(graph: BoundGraph, world: Around) -> None:
    """Let a node of a bound graph call it by name of the same thread."""

    async def ask(_state: State) -> dict[str, Any]:
        found = await graph.ainvoke(QUESTION, config(), context=CONTEXT)
        return {"messages": found["messages"][-1:]}

    await bind(parent_of(ask, world, stores=False), world.log).ainvoke(QUESTION, config(), context=CONTEXT)


ASYNC: dict[str, Callable[[BoundGraph, Around], Any]] = {
    "ainvoke": lambda graph, _: graph.ainvoke(QUESTION, config(), context=CONTEXT),
    "ainvoke v2": lambda graph, _: graph.ainvoke(QUESTION, config(), context=CONTEXT, version="v2"),
    "ainvoke exit durability": lambda graph, _: graph.ainvoke(QUESTION, config(), context=CONTEXT, durability="exit"),
    "abatch": lambda graph, _: graph.abatch([QUESTION], IN_CONFIG),
    "abatch_as_completed": lambda graph, _: drained(graph.abatch_as_completed([QUESTION], IN_CONFIG)),
    "astream": lambda graph, _: drained(graph.astream(QUESTION, config(), context=CONTEXT)),
    "astream messages": lambda graph, _: drained(
        graph.astream(QUESTION, config(), context=CONTEXT, stream_mode=["messages", "custom"], subgraphs=True)
    ),
    "astream_events v1": lambda graph, _: drained(graph.astream_events(QUESTION, IN_CONFIG, version="v1")),
    "astream_events v2": lambda graph, _: drained(graph.astream_events(QUESTION, IN_CONFIG, version="v2")),
    "astream_events v3": aevents_v3,
    "prompt | agent": lambda graph, _: (CHAIN | graph).ainvoke({"text": "When?"}, IN_CONFIG),
    "prompt | agent, streamed": lambda graph, _: drained((CHAIN | graph).astream({"text": "When?"}, IN_CONFIG)),
    "inside a RunnableLambda": ainside,
    "traced": atraced,
    "node of an unbound parent": lambda graph, world: parent_of(graph, world).ainvoke(
        QUESTION, config(), context=CONTEXT, durability="sync"
    ),
    "node of a bound parent": lambda graph, world: bind(parent_of(graph, world), world.log).ainvoke(
        QUESTION, config(), context=CONTEXT
    ),
    "called in a node": acalled_in_a_node,
}
