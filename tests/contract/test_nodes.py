"""Graphs made by hand: what their model is given, and when the cursor moves."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt

from abreast import Cursor
from abreast.errors import InvalidInput, ThreadBoundElsewhere
from abreast.langgraph import CursorState, WorkspaceNodes
from abreast.langgraph.state import DELIVERED, NOMINATED
from tests.contract.client import Client, Place
from tests.contract.product import MOVE, OTHER_USER, Move

CONTEXT = {"workspace_id": "w1"}
CONFIG = {"configurable": {"thread_id": "t1"}}


class State(CursorState):
    """The state of the graphs below."""

    messages: Annotated[list[AnyMessage], add_messages]


@dataclass
class Model:
    """
    A model that keeps its requests and answers in order.

    Attributes:
        failing: Whether the next call fails.
        answers: What it says next; "fine" when there is nothing.
    """

    requests: list[list[Any]] = field(default_factory=list)
    failing: bool = False
    answers: list[Any] = field(default_factory=list)

    @property
    def runnable(self) -> RunnableLambda:
        """The model as a graph takes it."""
        return RunnableLambda(self.answer, self.aanswer)

    def answer(self, messages: list[Any]) -> AIMessage:
        """Answer, or fail."""
        self.requests.append(messages)
        if self.failing:
            raise ConnectionError("the provider is away")
        return self.answers.pop(0) if self.answers else AIMessage("fine")

    async def aanswer(self, messages: list[Any]) -> AIMessage:
        """Answer on an event loop."""
        await asyncio.sleep(0)
        return self.answer(messages)

    def block(self, call: int = -1) -> str:
        """Give the block of a request."""
        (found,) = [message.content for message in self.requests[call] if is_block(message)]
        return found


def is_block(message: Any) -> bool:
    """Say whether a message is the block."""
    return "<workspace_state" in str(message.content)


class Talk:
    """A graph and its thread, called sync or async."""

    def __init__(self, place: Place, client: Client) -> None:
        self.place = place
        self.client = client
        self.model = Model()
        self.nodes = WorkspaceNodes(client.log)
        self.saver = InMemorySaver()
        self.graph: Any = None

    def build(self, *between: tuple[str, Any], saver: Any = "own") -> None:
        """Build a graph: the model, nodes between, and the nomination."""
        builder = StateGraph(State)
        steps = [
            ("model", self.nodes.model(self.model.runnable)),
            *between,
            ("nominate", self.nodes.nominate),
        ]
        for name, step in steps:
            builder.add_node(name, step)
        names = [START, *(name for name, _ in steps), END]
        for source, target in itertools.pairwise(names):
            builder.add_edge(source, target)
        self.graph = builder.compile(checkpointer=self.saver if saver == "own" else saver)

    def run(self, value: Any, config: Any = None, **options: Any) -> Any:
        """Run the graph once."""
        options = {"context": CONTEXT, **options}
        if self.place.runner is None:
            return self.graph.invoke(value, config or CONFIG, **options)
        return self.place.runner.run(self.graph.ainvoke(value, config or CONFIG, **options))

    def confirm(self, config: Any = None) -> bool:
        """Confirm what the run nominated if it has finished."""
        if self.place.runner is None:
            return self.nodes.confirm_finished(self.graph, config or CONFIG)
        return self.place.runner.run(self.nodes.aconfirm_finished(self.graph, config or CONFIG))

    def confirm_result(self, result: Any) -> bool:
        """Confirm what a run without checkpointer nominated."""
        if self.place.runner is None:
            return self.nodes.confirm_result(result)
        return self.place.runner.run(self.nodes.aconfirm_result(result))

    def ask(self, text: str = "When do I move in?", **options: Any) -> bool:
        """Run the graph with a question and confirm it."""
        self.run({"messages": [("user", text)]}, **options)
        return self.confirm()

    def cursor(self) -> int:
        """Say where the thread stands in the database."""
        return self.client.open_thread().revision

    def state_cursor(self, key: str = NOMINATED) -> int:
        """Say where the thread stands in its newest checkpoint."""
        note = self.graph.get_state(CONFIG).values.get(key, {}).get("")
        return -1 if note is None else note["cursor"]["revision"]

    def change(self, **fields: Any) -> None:
        """Change the move on a screen."""
        with self.client.write(actor=OTHER_USER) as write:
            write.update(Move, "m1", fields, expected_version="any")


@pytest.fixture
def talk(place: Place, client: Client) -> Talk:
    """Give a workspace with a move, and a conversation about it that has begun."""
    made = Talk(place, client.of(MOVE))
    with client.write() as write:
        write.insert(Move, {"id": "m1", "move_in_date": "2026-09-28"})
    made.build()
    made.ask()
    return made


def test_success_moves_the_cursor(talk: Talk):
    """I3: after a finished run the cursor stands where the model was told it stands."""
    talk.change(move_in_date="2026-09-30")
    assert talk.ask() is True
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()
    assert (2, 2) == (talk.cursor(), talk.state_cursor())
    assert talk.ask() is False
    assert "Nothing changed." in talk.model.block()


def test_no_checkpoint_holds_the_block(talk: Talk):
    """The block is part of one request; history and state keep messages and cursors alone."""
    talk.change(move_in_date="2026-09-30")
    talk.ask()
    assert "<workspace_state" in talk.model.block()
    assert b"workspace_state" not in repr((talk.saver.storage, talk.saver.blobs, talk.saver.writes)).encode()
    kinds = [message.type for message in talk.graph.get_state(CONFIG).values["messages"]]
    assert ["human", "ai", "human", "ai"] == kinds


def test_no_stream_holds_the_block(place: Place, talk: Talk):
    """What is streamed to a screen is the answer, token by token, and the state without the block."""
    answers = iter([AIMessage("on the thirtieth")])
    builder = StateGraph(State)
    builder.add_node("model", talk.nodes.model(GenericFakeChatModel(messages=answers))).add_edge(START, "model")
    builder.add_node("nominate", talk.nodes.nominate).add_edge("model", "nominate")
    talk.graph = builder.compile(checkpointer=talk.saver)
    talk.change(move_in_date="2026-09-30")
    options: dict[str, Any] = {
        "context": CONTEXT,
        "stream_mode": ["messages", "values", "updates", "tasks", "checkpoints", "debug"],
    }

    async def collect() -> list[Any]:
        return [part async for part in talk.graph.astream({"messages": [("user", "When?")]}, CONFIG, **options)]

    if place.runner is None:
        parts = list(talk.graph.stream({"messages": [("user", "When?")]}, CONFIG, **options))
    else:
        parts = place.runner.run(collect())
    tokens = [part[0].content for mode, part in parts if mode == "messages"]
    assert ["on", " ", "the", " ", "thirtieth"] == [token for token in tokens if token][:5]
    assert "workspace_state" not in repr(parts)
    assert talk.confirm() is True


def test_block_stands_before_the_question(talk: Talk):
    """The block is given beside the question, and the history before it stays as it was."""
    talk.change(move_in_date="2026-09-30")
    talk.ask("And now?")
    first, second = talk.model.requests
    assert ["human", "human"] == [message.type for message in first]
    assert [False, False, True, False] == [is_block(message) for message in second]
    assert "And now?" == second[-1].content


def test_new_thread_is_told_no_past(talk: Talk):
    """What happened before a conversation began is no news to it; its own question is no history."""
    assert "Nothing changed." in talk.model.block()
    assert "not known" not in talk.model.block()


def test_model_error_leaves_the_cursor(talk: Talk):
    """I4: a run whose model fails moves nothing, and the next run is given the same changes."""
    talk.change(move_in_date="2026-09-30")
    talk.model.failing = True
    with pytest.raises(ConnectionError):
        talk.run({"messages": [("user", "When?")]})
    assert talk.confirm() is False
    assert (1, 1) == (talk.cursor(), talk.state_cursor())
    given = talk.model.block()
    talk.model.failing = False
    assert talk.ask() is True
    assert given == talk.model.block()
    assert 2 == talk.cursor()


def test_retry_of_the_failed_node(talk: Talk):
    """A run that goes on with None after the failure reads again and confirms."""
    talk.change(move_in_date="2026-09-30")
    talk.model.failing = True
    with pytest.raises(ConnectionError):
        talk.run({"messages": [("user", "When?")]})
    talk.change(move_in_date="2026-10-01")
    talk.model.failing = False
    talk.run(None)
    assert "from 2026-09-28 to 2026-10-01 in 2 steps" in talk.model.block()
    assert talk.confirm() is True
    assert 3 == talk.cursor()


def test_error_after_the_model(talk: Talk):
    """I3: an answer whose run failed afterwards was given, but does not count."""

    def fail(state: State) -> None:
        if state["messages"][-2].content == "fail":
            raise ConnectionError("a later node")

    talk.build(("later", fail))
    talk.change(move_in_date="2026-09-30")
    with pytest.raises(ConnectionError):
        talk.run({"messages": [("user", "fail")]})
    assert talk.confirm() is False
    assert (1, 1, 2) == (talk.cursor(), talk.state_cursor(), talk.state_cursor(DELIVERED))
    assert talk.ask("again") is True
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()


def test_error_after_the_nomination(place: Place, talk: Talk):
    """A cursor that was nominated by a failed run is not confirmed by a later run that asked no model."""
    builder = StateGraph(State)
    builder.add_node("model", talk.nodes.model(talk.model.runnable)).add_edge("model", "nominate")
    builder.add_node("nominate", talk.nodes.nominate).add_edge("nominate", "last")
    builder.add_node("last", lambda state: 1 / 0 if state["messages"][-2].content == "fail" else {})
    builder.add_conditional_edges(
        START, lambda state: "nominate" if state["messages"][-1].content == "no model" else "model"
    )
    talk.graph = builder.compile(checkpointer=talk.saver)
    talk.change(move_in_date="2026-09-30")
    with pytest.raises(ZeroDivisionError):
        talk.run({"messages": [("user", "fail")]})
    assert (2, False) == (talk.state_cursor(), talk.confirm())
    talk.run({"messages": [("user", "no model")]})
    assert talk.confirm() is False
    assert 1 == talk.cursor()
    assert talk.ask("once more") is True
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()


def test_refused_answer_is_not_nominated(talk: Talk):
    """A check before the nomination keeps the cursor; a later turn without a model takes nothing over."""
    builder = StateGraph(State)
    builder.add_node("model", talk.nodes.model(talk.model.runnable))
    builder.add_node("nominate", talk.nodes.nominate)
    builder.add_conditional_edges(
        START, lambda state: "nominate" if state["messages"][-1].content == "no model" else "model"
    )
    builder.add_conditional_edges(
        "model", lambda state: END if state["messages"][-2].content == "refuse" else "nominate"
    )
    talk.graph = builder.compile(checkpointer=talk.saver)
    talk.change(move_in_date="2026-09-30")
    assert talk.ask("refuse") is False
    assert talk.ask("no model") is False
    assert (1, 1) == (talk.cursor(), talk.state_cursor())
    assert talk.ask("answer") is True


def routed(talk: Talk, *, last: Any = lambda _state: {}) -> dict[str, Any]:
    """Build a graph that is led as the returned dict says: past the model, past the nomination, into a question."""
    led: dict[str, Any] = {"start": "model", "checked": "nominate", "wait": False}
    builder = StateGraph(State)
    builder.add_node("model", talk.nodes.model(talk.model.runnable))
    builder.add_node("approve", lambda _state: interrupt("may I?") and {} if led["wait"] else {})
    builder.add_node("nominate", talk.nodes.nominate).add_edge("nominate", "last")
    builder.add_node("last", last)
    builder.add_conditional_edges(START, lambda _state: led["start"], ["model", "approve"])
    builder.add_edge("model", "approve")
    builder.add_conditional_edges("approve", lambda _state: led["checked"], ["nominate", END])
    talk.graph = builder.compile(checkpointer=talk.saver)
    return led


@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_refused_answer_in_the_same_turn(talk: Talk, *, wait: bool, elsewhere: bool):
    """A later run without a new message and without a model takes nothing over, also resumed or elsewhere."""
    led = routed(talk)
    talk.change(move_in_date="2026-09-30")
    led.update(checked=END)
    assert talk.ask() is False
    if elsewhere:
        talk.nodes = WorkspaceNodes(talk.client.log)
        led = routed(talk)
    led.update(start="approve", checked="nominate", wait=wait)
    talk.run({"messages": []})
    if wait:
        talk.run(Command(resume="yes"))
    assert talk.confirm() is False
    assert 1 == talk.cursor()
    led.update(start="model", wait=False)
    assert talk.ask("answer") is True
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()


def test_regenerated_answer_is_refused(talk: Talk):
    """What the first answer's run had nominated is not confirmed by the run of the second one, which is refused."""
    led = routed(talk)
    talk.change(move_in_date="2026-09-30")
    talk.run({"messages": [HumanMessage("When?", id="same")]})
    talk.change(move_in_date="2026-10-01")
    led.update(checked=END)
    talk.run({"messages": [HumanMessage("When?", id="same")]})
    assert talk.confirm() is False
    assert 1 == talk.cursor()


def test_nomination_of_a_failed_run_in_the_same_turn(talk: Talk):
    """A run that asks no model makes void what a run had nominated that failed afterwards."""
    failing = [True]
    led = routed(talk, last=lambda _state: 1 / 0 if failing else {})
    talk.change(move_in_date="2026-09-30")
    with pytest.raises(ZeroDivisionError):
        talk.run({"messages": [("user", "fail")]})
    failing.clear()
    talk.run(None)
    assert talk.confirm() is True
    talk.change(move_in_date="2026-10-01")
    led.update(checked=END)
    assert talk.ask("refuse") is False
    led.update(start="approve", checked="nominate")
    talk.run({"messages": []})
    assert (False, 2) == (talk.confirm(), talk.cursor())


def test_deferred_nomination(talk: Talk):
    """A nomination that waits for everything else is still the same run's, resumed too."""
    builder = StateGraph(State)
    builder.add_node("model", talk.nodes.model(talk.model.runnable)).add_edge(START, "model")
    builder.add_node("approve", lambda _state: interrupt("may I?") and {}).add_edge("model", "approve")
    builder.add_node("nominate", talk.nodes.nominate, defer=True).add_edge("approve", "nominate")
    talk.graph = builder.compile(checkpointer=talk.saver)
    talk.change(move_in_date="2026-09-30")
    talk.run({"messages": [("user", "When?")]})
    talk.run(Command(resume="yes"))
    assert talk.confirm() is True


def test_interrupt_and_resume(talk: Talk):
    """While a person is asked nothing counts; resumed, the run is given what changed meanwhile and counts."""

    def approve(_state: State) -> dict[str, Any]:
        return {"messages": [("user", interrupt("may I?"))]}

    talk.build(("approve", approve), ("second", talk.nodes.model(talk.model.runnable)))
    talk.change(move_in_date="2026-09-30")
    talk.run({"messages": [("user", "When?")]})
    assert talk.confirm() is False
    assert 1 == talk.cursor()
    talk.change(move_in_date="2026-10-01")
    talk.run(Command(resume="yes"), context=None)
    assert "It is now 2026-10-01." in talk.model.block()
    assert talk.confirm() is True
    assert 3 == talk.cursor()


def test_resume_nominates_what_was_given_before(talk: Talk):
    """The answer came before the interrupt: resumed elsewhere, exactly what it was given counts."""
    talk.build(("approve", lambda _state: interrupt("may I?") and {}))
    talk.change(move_in_date="2026-09-30")
    talk.run({"messages": [("user", "When?")]})
    talk.change(move_in_date="2026-10-01")
    talk.nodes = WorkspaceNodes(talk.client.log)
    talk.run(Command(resume="yes"), context=None)
    assert talk.confirm() is True
    assert 2 == talk.cursor()


def test_person_speaks_within_the_run(talk: Talk):
    """A node that adds a user's message after the answer does not keep the cursor."""
    talk.build(("handover", lambda _state: {"messages": [("user", "to the other agent")]}))
    talk.change(move_in_date="2026-09-30")
    assert talk.ask() is True


def test_abandoned_interrupt(talk: Talk):
    """A new question in place of the answer to an interrupt is given the same changes again."""
    talk.build(("approve", lambda state: interrupt("?") if state["messages"][-2].content == "wait" else {}))
    talk.change(move_in_date="2026-09-30")
    talk.run({"messages": [("user", "wait")]})
    assert talk.ask("forget it") is True
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()


def test_fork(talk: Talk):
    """A branch from an earlier checkpoint is told what its own messages do not know yet."""
    begun = talk.graph.get_state(CONFIG).config
    talk.change(move_in_date="2026-09-30")
    talk.ask()
    talk.change(move_in_date="2026-10-01")
    talk.ask()
    assert 3 == talk.cursor()
    talk.run({"messages": [("user", "And what if?")]}, begun)
    assert "from 2026-09-28 to 2026-10-01 in 2 steps" in talk.model.block()
    assert talk.confirm(begun) is False
    assert (3, 3) == (talk.cursor(), talk.state_cursor())


def test_fork_moves_the_cursor(talk: Talk):
    """A branch that is given what no other one was given confirms it, although it began from an old checkpoint."""
    begun = talk.graph.get_state(CONFIG).config
    talk.ask()
    talk.change(move_in_date="2026-09-30")
    talk.run({"messages": [("user", "And what if?")]}, begun)
    assert talk.confirm(begun) is True
    assert 2 == talk.cursor()


def test_fork_from_a_failed_run(talk: Talk):
    """What a failed run of this branch was given does not count, even where another branch has gone on."""

    def fail(state: State) -> None:
        if state["messages"][-2].content == "fail":
            raise ConnectionError("a later node")

    talk.build(("later", fail))
    talk.change(move_in_date="2026-09-30")
    with pytest.raises(ConnectionError):
        talk.run({"messages": [("user", "fail")]})
    failed = talk.graph.get_state(CONFIG).config
    assert (1, 2) == (talk.state_cursor(), talk.state_cursor(DELIVERED))
    talk.change(move_in_date="2026-10-01")
    assert talk.ask("again") is True
    talk.run({"messages": [("user", "And what if?")]}, failed)
    assert "from 2026-09-28 to 2026-10-01 in 2 steps" in talk.model.block()


def test_checkpoint_cursor_below_the_database(talk: Talk):
    """Reading starts at the lower cursor, whichever it is."""
    talk.change(move_in_date="2026-09-30")
    batch = talk.client.read_batch()
    talk.client.confirm(batch)
    assert (2, 1) == (talk.cursor(), talk.state_cursor())
    talk.ask()
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()
    assert (2, 2) == (talk.cursor(), talk.state_cursor())


def test_two_models_in_one_run(talk: Talk):
    """The block is read once in a run: every model of it is given the same bytes."""
    seen: list[int] = []

    def meanwhile(_state: State) -> dict[str, Any]:
        with talk.client.log.write("w1", actor=OTHER_USER) as write:
            write.update(Move, "m1", {"stage": "booked"}, expected_version="any")
        seen.append(write.results[0].revision or 0)
        return {}

    talk.build(("meanwhile", meanwhile), ("second", talk.nodes.model(talk.model.runnable)))
    talk.change(move_in_date="2026-09-30")
    assert talk.ask() is True
    assert [3] == seen
    assert talk.model.block(-2) == talk.model.block(-1)
    assert 2 == talk.cursor()
    talk.build()
    talk.ask()
    assert "booked" in talk.model.block()


def test_models_side_by_side(talk: Talk):
    """Nodes of one step that both read are given one block."""
    builder = StateGraph(State)
    for name in ("left", "right"):
        builder.add_node(name, talk.nodes.model(talk.model.runnable)).add_edge(START, name)
    builder.add_node("nominate", talk.nodes.nominate).add_edge(["left", "right"], "nominate")
    talk.graph = builder.compile(checkpointer=talk.saver)
    talk.change(move_in_date="2026-09-30")
    assert talk.ask() is True
    assert talk.model.block(-2) == talk.model.block(-1)


def calls_a_tool() -> AIMessage:
    """Give an answer that calls a tool."""
    return AIMessage("", tool_calls=[{"name": "write", "args": {}, "id": "c1"}])


@pytest.mark.parametrize("thread_id", ["t1", "t2"])
def test_own_write_is_read_again(talk: Talk, thread_id: str):
    """After the thread's own tool has written, rows and changes are read again; another's write waits."""

    def tool(_state: State) -> dict[str, Any]:
        with talk.client.log.write("w1", actor=OTHER_USER, source_thread_id=thread_id) as write:
            write.update(Move, "m1", {"stage": "booked"}, expected_version="any")
        return {"messages": [ToolMessage("done", tool_call_id="c1")]}

    talk.build(("tools", tool), ("second", talk.nodes.model(talk.model.runnable)))
    talk.model.answers = [calls_a_tool()]
    talk.change(move_in_date="2026-09-30")
    talk.ask()
    own = thread_id == "t1"
    assert own == ("booked" in talk.model.block())
    assert (3 if own else 2) == talk.cursor()
    order = [message.type + "*" * is_block(message) for message in talk.model.requests[-1][2:]]
    assert (["human", "ai", "tool", "human*"] if own else ["human*", "human", "ai", "tool"]) == order


def test_without_checkpointer(talk: Talk):
    """Where no state is kept the database alone knows where the conversation stands."""
    talk.build(saver=None)
    talk.change(move_in_date="2026-09-30")
    history = [("user", "When?"), ("assistant", "On 2026-09-28."), ("user", "And now?")]
    result = talk.run({"messages": history})
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()
    assert talk.confirm_result(result) is True
    assert 2 == talk.cursor()
    talk.run({"messages": history})
    assert "Nothing changed." in talk.model.block()


def test_history_without_cursor(talk: Talk):
    """Where abreast comes to a conversation that has answers already, these are said to be out of date."""
    config = {"configurable": {"thread_id": "old"}}
    history = [("user", "When?"), ("assistant", "On 2026-09-28."), ("user", "And now?")]
    talk.run({"messages": history}, config)
    assert "It is not known which changes this conversation has seen" in talk.model.block()
    assert talk.confirm(config) is True
    talk.run({"messages": [("user", "And now?")]}, config)
    assert "not known" not in talk.model.block()


def test_function_in_own_node(place: Place, talk: Talk):
    """A node that calls its model itself returns what was delivered beside the answer."""

    def own(state: State) -> dict[str, Any]:
        request = talk.nodes.request(state)
        return {"messages": [talk.model.answer(request.messages)], **request.delivered}

    async def aown(state: State) -> dict[str, Any]:
        request = await talk.nodes.arequest(state)
        return {"messages": [await talk.model.aanswer(request.messages)], **request.delivered}

    builder = StateGraph(State)
    builder.add_node("own", own if place.runner is None else aown).add_edge(START, "own")
    builder.add_node("nominate", talk.nodes.nominate).add_edge("own", "nominate")
    talk.graph = builder.compile(checkpointer=talk.saver)
    talk.change(move_in_date="2026-09-30")
    assert talk.ask() is True
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()


def test_function_outside_of_a_graph(place: Place, talk: Talk):
    """Plain messages and ids are enough where there is no graph; each call reads anew."""
    messages = [{"role": "user", "content": "When?"}]

    def ask() -> Any:
        if place.runner is None:
            return talk.nodes.request(messages, workspace_id="w1", thread_id="t9")
        return place.runner.run(talk.nodes.arequest(messages, workspace_id="w1", thread_id="t9"))

    first = ask()
    assert ["user", "user"] == [message["role"] for message in first.messages]
    assert Cursor("w1", "t9", "", first.batch.since.epoch, 1, first.batch.since.mark) == first.batch.since
    talk.change(move_in_date="2026-09-30")
    assert first.block != ask().block
    assert [{"role": "user", "content": "When?"}] == messages


@pytest.mark.parametrize(
    ("context", "config", "expected"),
    [
        (None, CONFIG, "workspace_id"),
        (CONTEXT, {"configurable": {"other": 1}}, "thread_id"),
    ],
)
def test_who_asks_is_needed(talk: Talk, context: Any, config: Any, expected: str):
    """Without workspace or thread the run ends before the model is called, and is told what to pass."""
    talk.build(saver=None)
    calls = len(talk.model.requests)
    with pytest.raises(InvalidInput, match=expected) as caught:
        talk.run({"messages": [("user", "When?")]}, config, context=context)
    assert expected == caught.value.name
    assert calls == len(talk.model.requests)


def test_workspace_is_named_in_the_configuration(talk: Talk):
    """A graph without context schema names the workspace under `configurable`."""
    config = {"configurable": {"thread_id": "t1", "workspace_id": "w1"}}
    talk.change(move_in_date="2026-09-30")
    talk.run({"messages": [("user", "When?")]}, config, context=None)
    assert talk.confirm(config) is True


def test_other_workspace_is_refused(talk: Talk, client: Client):
    """A thread cannot be read with another workspace than its own."""
    with client.write("w2") as write:
        write.insert(Move, {"id": "m2"})
    with pytest.raises(ThreadBoundElsewhere):
        talk.run({"messages": [("user", "When?")]}, context={"workspace_id": "w2"})


def test_two_agents_of_one_thread(talk: Talk):
    """Each scope has a cursor of its own; what another agent says in the first turn is no history."""
    config = {"configurable": {"thread_id": "new"}}
    other, second = WorkspaceNodes(talk.client.log, scope="critic"), Model()
    talk.build(("critic", other.model(second.runnable)))
    talk.run({"messages": [("user", "When?")]}, config)
    assert "Nothing changed." in second.block()
    talk.change(move_in_date="2026-09-30")
    talk.run({"messages": [("user", "And now?")]}, config)
    assert talk.confirm(config) is True
    assert talk.model.block() == second.block()
    stand = [talk.client.open_thread("w1", "new", scope=scope).revision for scope in ("", "critic")]
    assert [2, 1] == stand


def test_backlog_comes_in_parts(talk: Talk):
    """A run is given at most `limit` lines; the rest comes with the next run, then nothing."""
    talk.nodes = WorkspaceNodes(talk.client.log, limit=2)
    talk.build()
    for number in range(3):
        with talk.client.write() as write:
            write.insert(Move, {"id": f"more{number}"})
    assert talk.ask() is True
    assert (3, "1 more change follows" in talk.model.block()) == (talk.cursor(), True)
    assert talk.ask() is True
    assert 4 == talk.cursor()


def test_nested_graph(talk: Talk, build_parent: Callable[[Talk], None]):
    """A graph that is a node of another one shares its run, and the outer one confirms."""
    build_parent(talk)
    talk.change(move_in_date="2026-09-30")
    assert talk.ask() is True
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()
    assert 2 == talk.cursor()


@pytest.fixture
def build_parent() -> Callable[[Talk], None]:
    """Give a function that puts a conversation's graph into another one."""

    def build(talk: Talk) -> None:
        talk.build(saver=None)
        builder = StateGraph(State)
        builder.add_node("agent", talk.graph).add_edge(START, "agent")
        talk.graph = builder.compile(checkpointer=talk.saver)

    return build
