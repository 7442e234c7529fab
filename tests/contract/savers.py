"""Savers of a place, called sync or async, and the graphs that they keep."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from sqlalchemy import select
from typing_extensions import TypedDict

from abreast import Database
from abreast.langgraph.saver import SqlSaver
from tests.contract.client import Place

CONFIG: Any = {"configurable": {"thread_id": "t1"}}
TABLES = ("checkpoint_head", "checkpoint", "checkpoint_value", "checkpoint_element", "checkpoint_write")


class State(TypedDict, total=False):
    """The state of the graphs."""

    messages: Annotated[list[AnyMessage], add_messages]
    note: str
    todo: list[str]


def say(_state: State) -> dict[str, Any]:
    """Answer."""
    return {"messages": [AIMessage("fine, " * 20)], "note": "answered " * 10}


class Savers:
    """
    Makes savers on one database and calls them.

    Attributes:
        place: The database, and how calls are made.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self._replicas: list[Database] = []

    def new(self, **options: Any) -> SqlSaver:
        """Give a saver."""
        return SqlSaver(self.place.database, **options)

    def replica(self, **options: Any) -> SqlSaver:
        """Give the saver of another process, as far as connections and memory go."""
        self._replicas.append(Database.open(self.place.url))
        return SqlSaver(self._replicas[-1], **options)

    def close(self) -> None:
        """Close the replicas."""
        for database in self._replicas:
            if self.place.runner is None:
                database.close()
            else:
                self.place.runner.run(database.aclose())

    def call(self, saver: Any, method: str, *arguments: Any, **options: Any) -> Any:
        """Call a method, or its async twin."""
        if self.place.runner is None:
            found = getattr(saver, method)(*arguments, **options)
            return list(found) if method == "list" else found
        found = getattr(saver, f"a{method}")(*arguments, **options)
        return self.place.runner.run(_all(found) if method == "list" else found)

    def invoke(self, graph: Any, value: Any, config: Any = CONFIG, **options: Any) -> Any:
        """Run a graph."""
        if self.place.runner is None:
            return graph.invoke(value, config, **options)
        return self.place.runner.run(graph.ainvoke(value, config, **options))

    def ask(self, graph: Any, question: str, config: Any = CONFIG) -> Any:
        """Run a turn."""
        return self.invoke(graph, {"messages": [("user", question)]}, config)

    def told(self, graph: Any, config: Any = CONFIG) -> list[str]:
        """Give what people have said in a conversation."""
        state = self.call(graph, "get_state", config)
        return [message.content for message in state.values.get("messages", []) if message.type == "human"]

    def together(self, *calls: Callable[[], Any]) -> list[Any]:
        """Make calls at the same time, as plain functions in threads or as coroutines; give results or errors."""
        if self.place.runner is None:
            return in_threads(*calls)

        async def gathered() -> list[Any]:
            return await asyncio.gather(*(call() for call in calls), return_exceptions=True)

        return self.place.runner.run(gathered())

    def rows(self) -> dict[str, list[Any]]:
        """Give everything that is stored, past the library."""
        tables = self.place.database.tables
        with self.place.past.begin() as connection:
            found = {name: connection.execute(select(getattr(tables, name))).all() for name in TABLES}
        return {name: sorted(map(repr, rows)) for name, rows in found.items()}

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[None]:
        """Make sure that a block stores nothing; that a fence was made known does not count."""
        before = self.rows()
        yield
        assert before == self.rows()


async def _all(found: Any) -> list[Any]:
    return [each async for each in found]


def in_threads(*calls: Callable[[], Any]) -> list[Any]:
    """Run functions in threads of their own; give results or errors."""
    results: list[Any] = [None] * len(calls)

    def run(place: int) -> None:
        try:
            results[place] = calls[place]()
        except Exception as error:  # noqa: BLE001 - whoever loses a race is asked for his error
            results[place] = error

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def graph_of(saver: Any, node: Any = say, *more: tuple[str, Any], state: Any = State) -> Any:
    """Compile a graph of nodes one after the other."""
    builder = StateGraph(state)
    names = ["say", *(name for name, _ in more)]
    for name, step in [("say", node), *more]:
        builder.add_node(name, step)
    for source, target in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(source, target)
    return builder.compile(checkpointer=saver)


def checkpoint(checkpoint_id: str, **values: Any) -> Any:
    """Make a checkpoint whose channels all have the version that their number of bytes says."""
    versions = {name: _version(value) for name, value in values.items()}
    made = {**empty_checkpoint(), "id": checkpoint_id, "channel_values": values, "channel_versions": versions}
    return {name: value for name, value in made.items() if name != "pending_sends"}


def _version(value: Any) -> int:
    return len(repr(value))


def at(checkpoint_id: str | None = None, namespace: str = "", thread_id: str = "t1", **more: Any) -> Any:
    """Name a checkpoint."""
    named = {} if checkpoint_id is None else {"checkpoint_id": checkpoint_id}
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": namespace, **named, **more}}


STEP: Any = {"source": "loop", "step": 1, "parents": {}}
