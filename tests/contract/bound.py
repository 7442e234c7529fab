"""A bound graph in a workspace, and what the database says of its runs."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from sqlalchemy import select

from abreast.langgraph import BoundGraph, CursorState, WorkspaceNodes, bind
from abreast.operations.runs import outcome_of
from tests.contract.client import Client, Place
from tests.contract.product import MOVE, OTHER_USER, Move

CONTEXT = {"workspace_id": "w1"}
QUESTION = {"messages": [("user", "When do I move in?")]}


class State(CursorState):
    """The state of the graphs."""

    messages: Annotated[list[AnyMessage], add_messages]


class Standing(NamedTuple):
    """
    Where a thread stands in the database.

    Attributes:
        fence: How often its lease was taken.
        holder: Who has it; empty for nobody.
        outcomes: How its runs ended, oldest first.
        cursor: The last revision it has processed; -1 without one.
    """

    fence: int
    holder: str
    outcomes: list[str]
    cursor: int


@dataclass
class Model:
    """
    A model that keeps its requests.

    Attributes:
        before: Called before each answer.
        abefore: Awaited before each answer on an event loop.
    """

    requests: list[list[Any]] = field(default_factory=list)
    before: Callable[[], Any] = lambda: None
    abefore: Callable[[], Any] = lambda: asyncio.sleep(0)

    @property
    def runnable(self) -> RunnableLambda[Any, AIMessage]:
        """The model as a graph takes it."""
        return RunnableLambda(self._answer, self._aanswer)

    def block(self, call: int = -1) -> str:
        """Give the block of a request."""
        (found,) = [message.content for message in self.requests[call] if "<workspace_state" in str(message.content)]
        return found

    def _answer(self, messages: list[Any]) -> AIMessage:
        self.requests.append(messages)
        self.before()
        return AIMessage("fine")

    async def _aanswer(self, messages: list[Any]) -> AIMessage:
        self.requests.append(messages)
        await self.abefore()
        self.before()
        return AIMessage("fine")


class World:
    """
    A workspace with one move, a conversation that has begun, and a change that it has not been told.

    Attributes:
        told: The revision the conversation knows.
        head: The revision of the change.
    """

    told = 1
    head = 2

    def __init__(self, place: Place, client: Client) -> None:
        self.place = place
        self.client = client.of(MOVE)
        self.log = self.client.log
        self.model = Model()
        self.nodes = WorkspaceNodes(self.log)
        self.saver: Any = InMemorySaver()
        with self.client.write() as write:
            write.insert(Move, {"id": "m1", "move_in_date": "2026-09-28"})
        self.client.open_thread("w1", "t1")
        self.change(move_in_date="2026-09-30")

    def plain(self, *between: tuple[str, Any], last: Any = None, saver: Any = "own") -> Any:
        """Build a graph: the model, nodes between, the nomination, and a node after it."""
        builder = StateGraph(State)
        after = [] if last is None else [("last", last)]
        steps = [
            ("model", self.nodes.model(self.model.runnable)),
            *between,
            ("nominate", self.nodes.nominate),
            *after,
        ]
        for name, step in steps:
            builder.add_node(name, step)
        for source, target in itertools.pairwise([START, *(name for name, _ in steps), END]):
            builder.add_edge(source, target)
        return builder.compile(checkpointer=self.saver if saver == "own" else saver)

    def bound(self, *between: tuple[str, Any], last: Any = None, saver: Any = "own", **options: Any) -> BoundGraph:
        """Build the same graph and bind it."""
        return bind(self.plain(*between, last=last, saver=saver), self.log, **{"on_interrupted": "cancel", **options})

    def run(self, graph: Any, value: Any = QUESTION, thread_id: str = "t1", **options: Any) -> Any:
        """Run a graph once, sync or async."""
        options = {"context": CONTEXT, "config": config(thread_id), **options}
        if self.place.runner is None:
            return graph.invoke(value, **options)
        return self.place.runner.run(graph.ainvoke(value, **options))

    def change(self, **fields: Any) -> None:
        """Change the move on a screen."""
        with self.client.write(actor=OTHER_USER) as write:
            write.update(Move, "m1", fields, expected_version="any")

    def standing(self, thread_id: str = "t1") -> Standing:
        """Read where a thread stands, past the library."""
        lease = self.client.rows("SELECT fence, run_id FROM abreast_thread_lease WHERE thread_id = :t", t=thread_id)
        cursor = self.client.rows(
            "SELECT revision FROM abreast_thread_cursor WHERE thread_id = :t AND scope = ''", t=thread_id
        )
        runs = self.log.database.tables.run
        with self.client.engine().begin() as connection:
            outcome = outcome_of(self.log.database.tables)
            outcomes = connection.scalars(
                select(outcome).where(runs.c.thread_id == thread_id).order_by(runs.c.fence)
            ).all()
        fence, holder = lease[0] if lease else (0, "")
        return Standing(fence, holder, list(outcomes), cursor[0][0] if cursor else -1)


class Away(InMemorySaver):
    """A saver that fails from its n-th checkpoint on."""

    def __init__(self, failing_from: int) -> None:
        super().__init__()
        self.left = failing_from - 1

    def put(self, *arguments: Any) -> Any:
        """Store one, or fail."""
        self.left -= 1
        if self.left < 0:
            raise ConnectionError("the store is away")
        return super().put(*arguments)

    async def aput(self, *arguments: Any) -> Any:
        """Store one, or fail."""
        return self.put(*arguments)


def config(thread_id: str = "t1", **more: Any) -> dict[str, Any]:
    """Name a thread."""
    return {"configurable": {"thread_id": thread_id, **more}}
