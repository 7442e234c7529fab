"""Agents made with create_agent: what their model is given, what is stored, and when the cursor moves."""

import asyncio
import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain.tools import tool
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, MessagesState
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from abreast.errors import DatabaseUnavailable, InvalidInput, NotBound, StateUnavailable
from abreast.langchain import WorkspaceSyncMiddleware, bind, create_synced_agent
from tests.contract.agents import CONFIG, CONTEXT, Script, Talk, begin, calls, is_block, update
from tests.contract.client import Client, Place
from tests.contract.product import OTHER_USER, Move

MODES = ["messages", "values", "updates", "tasks", "checkpoints", "debug", "custom"]


@pytest.fixture
def talk(place: Place, client: Client) -> Talk:
    """Give a workspace with a move, and a conversation about it that has begun."""
    return begin(place, client)


def kinds(messages: Any) -> list[str]:
    """Say who speaks."""
    return [message.type for message in messages]


def test_success_moves_the_cursor(talk: Talk):
    """S01 I3: the request holds the new value and what changed, history holds neither, and the cursor moves."""
    talk.change(move_in_date="2026-09-30")
    talk.ask("And now?")
    block = talk.model.block()
    assert "move in date: 2026-09-30" in block
    assert "from 2026-09-28 to 2026-09-30" in block
    assert (2, 2, 2) == (talk.cursor(), talk.noted(), talk.delivered())
    assert ["human", "ai", "human", "ai"] == kinds(talk.state().values["messages"])
    assert not any(is_block(message) for message in talk.state().values["messages"])
    talk.ask("And now?")
    assert "2026-09-28" not in talk.model.block()
    assert "Nothing changed." in talk.model.block()


def test_stands_before_the_question(talk: Talk):
    """I14: everything before the block is what the last request had there."""
    talk.change(move_in_date="2026-09-30")
    talk.ask("And now?")
    first, second = talk.model.requests
    assert [False, False, True, False] == [is_block(message) for message in second]
    assert "And now?" == second[-1].content
    assert first[1:] == second[:1]


def test_new_thread_is_told_no_past(talk: Talk):
    """What happened before a conversation began is no news to it."""
    talk.change(move_in_date="2026-09-30")
    talk.ask("Hi", config={"configurable": {"thread_id": "t2"}})
    assert "Nothing changed." in talk.model.block()
    assert 2 == talk.client.cursors()["t2", ""]


def test_history_without_cursor(talk: Talk):
    """A conversation that is older than abreast is told that its answers may be out of date, until it succeeded."""
    talk.build(make=lambda model, _tools, **options: create_agent(model, checkpointer=options["checkpointer"]))
    talk.ask("Hello", config={"configurable": {"thread_id": "t2"}}, context=None)
    talk.build()
    config = {"configurable": {"thread_id": "t2"}}
    talk.ask("And now?", config=config)
    assert "It is not known which changes" in talk.model.block()
    talk.ask("And now?", config=config)
    assert "Nothing changed." in talk.model.block()


def test_s02_change_within_a_run(talk: Talk):
    """S02: an own write is seen by the next call and is no echo later; a foreign change waits for the next turn."""

    def edit(_messages: Any) -> AIMessage:
        talk.change(note="by a person")
        return calls(update(2, stage="packed"), first="call_1")

    talk.ask("Pack", calls(update(1, stage="booked")), edit, AIMessage("conflict"))
    first, second, third = (talk.model.block(call) for call in (-3, -2, -1))
    assert 'stage: "new"' in first
    assert 'stage: "booked"' in second
    assert "Nothing changed." in second
    assert second == third
    refused = talk.results()[-1]
    assert ("error", "by a person") == (refused.status, refused.content.split('note": "')[1][:11])
    assert ("booked", "by a person", 3) == talk.row()
    talk.ask("And now?")
    assert "A person changed the note" in talk.model.block()
    assert "stage of move" not in talk.model.block()


def test_s02_refresh_at_each_call(talk: Talk):
    """S02: with refresh="call" the next call of the run is given what a person changed meanwhile."""

    @tool
    def wait() -> str:
        """Wait."""
        talk.change(note="by a person")
        return "done"

    talk.build([wait], refresh="call")
    talk.ask("Wait", calls(("wait", {})), AIMessage("seen"))
    assert "by a person" not in talk.model.block(-2)
    assert "by a person" in talk.model.block()
    assert 2 == talk.cursor()


def test_frozen_within_a_run(talk: Talk):
    """I14: without an own write every call of a run has the same block, in the same place."""

    @tool
    def wait() -> str:
        """Wait."""
        talk.change(note="by a person")
        return "done"

    talk.build([wait])
    talk.ask("Wait", calls(("wait", {})), AIMessage("not seen"))
    first, second = talk.model.requests[-2:]
    assert first == second[: len(first)]
    assert (1, "by a person" in talk.model.block()) == (talk.cursor(), False)
    talk.ask("And now?")
    assert "by a person" in talk.model.block()


def test_deleted_and_new_rows(talk: Talk):
    """S03: a deleted row is told until it was delivered, a new one stands among the current rows."""
    talk.client.insert(Move, {"id": "m2", "stage": "new"})
    talk.ask("And now?")
    talk.client.delete(Move, "m2")
    talk.client.insert(Move, {"id": "m3", "stage": "new"})
    with pytest.raises(ConnectionError):
        talk.ask("Anything else?", ConnectionError("away"))
    given = talk.model.block()
    assert "- move m3 (version 1)" in given
    assert "- move m2 (version" not in given
    assert "deleted move m2" in given
    talk.ask("Anything else?")
    assert given == talk.model.block()
    talk.ask("Anything else?")
    assert "m2" not in talk.model.block()


def test_two_threads(talk: Talk):
    """S09: what another conversation's agent did is told once, as an event."""
    other: Any = {"configurable": {"thread_id": "t2"}}
    talk.ask("Book it", calls(update(1, stage="booked")), AIMessage("Booked."), config=other)
    talk.ask("And now?")
    assert "An agent in another conversation changed the stage" in talk.model.block()
    assert "Book it" not in str(talk.model.requests[-1])
    told = talk.model.requests[-1]
    talk.ask("And now?")
    assert "another conversation" not in talk.model.block()
    assert told[0] == talk.model.requests[-1][0]


def jumping(where: str) -> AgentMiddleware:
    """Give a middleware that ends the agent before the model is called."""

    class Jumping(AgentMiddleware):
        @hook_config(can_jump_to=["end"])
        def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - LangChain's signature
            return self.jump("before_agent", state)

        @hook_config(can_jump_to=["end"])
        def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - LangChain's signature
            return self.jump("before_model", state)

        def jump(self, here: str, state: Any) -> dict[str, Any] | None:
            wanted = here == where and state["messages"][-1].content == "jump"
            return {"jump_to": "end"} if wanted else None

    return Jumping()


@pytest.mark.parametrize("where", ["before_agent", "before_model"])
def test_early_end(talk: Talk, where: str):
    """S10 I3 I4: a run that called no model nominates nothing, and the next one is given the changes."""
    talk.build(middleware=[jumping(where)])
    talk.change(move_in_date="2026-09-30")
    requests = len(talk.model.requests)
    talk.ask("jump")
    assert (requests, 1, 1) == (len(talk.model.requests), talk.cursor(), talk.noted())
    talk.ask("And now?")
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()
    assert 2 == talk.cursor()


@pytest.mark.parametrize("modes", [["messages"], ["updates"]])
def test_closed_stream(place: Place, talk: Talk, modes: list[str]):
    """S11 I4: a client that closes after the first part confirms nothing; the thread is free."""
    talk.change(move_in_date="2026-09-30")
    value = {"messages": [("user", "When?")]}
    options: dict[str, Any] = {"context": CONTEXT, "stream_mode": modes}

    async def close() -> None:
        parts = talk.agent.astream(value, CONFIG, **options)
        await anext(parts)
        await parts.aclose()

    if place.runner is None:
        parts = talk.agent.stream(value, CONFIG, **options)
        next(parts)
        parts.close()
    else:
        place.runner.run(close())
    assert 1 == talk.cursor()
    talk.ask("And now?")
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()


def test_s12_fork(talk: Talk):
    """S12: a branch that begins before a turn is given the turn's changes again; the cursor stays in front."""
    before = talk.state().config
    talk.change(move_in_date="2026-09-30")
    talk.ask("And now?")
    assert 2 == talk.cursor()
    talk.ask("And now?", config=before)
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()
    assert 2 == talk.cursor()


def test_s12_replay_of_a_tool(talk: Talk):
    """S12 I7: a replay that enters at the tools writes no second time and is told what was written."""
    talk.build(entity_tools={"move": ["read", "create"]})
    talk.ask("New", calls(("create_move", {"values": {"stage": "fresh", "move_in_date": None, "note": None}})))
    at_tools = next(state for state in talk.history() if state.next == ("tools",))
    rows = talk.client.rows("SELECT count(*) FROM move")
    talk.run(None, config=at_tools.config)
    assert rows == talk.client.rows("SELECT count(*) FROM move")
    assert "was not carried out again" in talk.results()[-1].content


def test_s16_executed_write_vanishes(talk: Talk):
    """S16: a write whose result the conversation does not hold is told as an event, made by its own agent."""

    @tool
    def gated() -> str:
        """Ask first."""
        return str(interrupt("may I?"))

    talk.build([gated])
    talk.ask("Do both", calls(update(1, stage="booked"), ("gated", {})))
    assert ("booked", None, 2) == talk.row()
    before = next(state for state in talk.history() if not state.next)
    talk.run({"messages": [("user", "Never mind")]}, before.config)
    assert "An agent in this conversation changed the stage" in talk.model.block()
    talk.ask("And now?")
    assert "Nothing changed." in talk.model.block()


def test_s17_approval_on_changed_facts(talk: Talk):
    """S17 I6: what was approved on older facts has no effect, and the model is asked again with a fresh block."""

    class Gate(AgentMiddleware):
        def after_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002 - LangChain's signature
            if state["messages"][-1].tool_calls:
                interrupt("approve?")

    talk.build(middleware=[Gate()])
    talk.ask("Pack", calls(update(1, stage="booked")))
    assert 1 == talk.cursor()
    talk.change(stage="cancelled")
    talk.model.answers.append(AIMessage("It was cancelled."))
    talk.run(Command(resume="yes"), context=None)
    assert "error" == talk.results()[-1].status
    assert "cancelled" in talk.results()[-1].content
    assert 'stage: "cancelled"' in talk.model.block()
    assert ("cancelled", None, 2) == talk.row()
    block_at = next(at for at, message in enumerate(talk.model.requests[-1]) if is_block(message))
    assert "tool" == talk.model.requests[-1][block_at - 1].type
    assert 2 == talk.cursor()


def test_model_error(talk: Talk):
    """I4: a run whose model fails moves nothing, and the next run is given the same changes."""
    talk.change(move_in_date="2026-09-30")
    with pytest.raises(ConnectionError):
        talk.ask("When?", ConnectionError("away"))
    assert (1, 1) == (talk.cursor(), talk.noted())
    given = talk.model.block()
    talk.run(None)
    assert given == talk.model.block()
    assert (2, 2) == (talk.cursor(), talk.noted())


def test_error_of_a_later_middleware(talk: Talk):
    """I3: an answer that was nominated by a run that failed afterwards does not count."""

    class Failing(AgentMiddleware):
        def after_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002 - LangChain's signature
            if state["messages"][-2].content == "fail":
                raise ConnectionError

    talk.build(middleware=[Failing()])
    talk.change(move_in_date="2026-09-30")
    with pytest.raises(ConnectionError):
        talk.ask("fail")
    assert 1 == talk.cursor()
    talk.ask("And now?")
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()
    assert 2 == talk.cursor()


@pytest.mark.parametrize("verdict", [False, ValueError("too short")])
def test_refused_answer(talk: Talk, verdict: Any):
    """I3: what the application does not accept is in no checkpoint, and the next run is given the same changes."""
    seen: list[str] = []

    def accept(state: Any, runtime: Any) -> bool:
        seen.append(state["messages"][-1].content)
        if seen[-1] != "bad":
            return True
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    talk.build(accept=accept)
    talk.change(move_in_date="2026-09-30")
    if verdict is False:
        talk.ask("When?", AIMessage("bad"))
    else:
        with pytest.raises(ValueError, match="too short"):
            talk.ask("When?", AIMessage("bad"))
    assert (1, 1) == (talk.cursor(), talk.noted())
    talk.ask("When?", AIMessage("good"))
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()
    assert (2, ["bad", "good"]) == (talk.cursor(), seen)


def test_async_check(place: Place, talk: Talk):
    """An async check is awaited; where the agent is called sync it is refused by name."""

    async def accept(state: Any, runtime: Any) -> bool:
        await asyncio.sleep(0)
        return state["messages"][-1].content != "bad"

    talk.build(accept=accept)
    talk.change(move_in_date="2026-09-30")
    if place.runner is None:
        with pytest.raises(InvalidInput, match="accept: is async"):
            talk.ask("When?")
        return
    talk.ask("When?", AIMessage("bad"))
    assert 1 == talk.cursor()
    talk.ask("When?")
    assert 2 == talk.cursor()


def test_grounding(talk: Talk):
    """Each answer says which revision it is based on, stored and streamed."""
    talk.change(move_in_date="2026-09-30")
    parts = talk.stream({"messages": [("user", "When?")]}, ["messages"])
    (epoch,) = talk.client.rows("SELECT epoch FROM abreast_workspace")[0]
    grounding = {"revision": 2, "epoch": epoch}
    assert [grounding] == [metadata["abreast"] for _mode, (_chunk, metadata) in parts]
    assert grounding == talk.state().values["messages"][-1].response_metadata["abreast"]
    assert 1 == talk.state().values["messages"][1].response_metadata["abreast"]["revision"]


class Answer(BaseModel):
    """A structured answer."""

    date: str


def test_structured_output(talk: Talk):
    """A structured answer is grounded and nominated like any other."""
    talk.build(response_format=Answer)
    talk.change(move_in_date="2026-09-30")
    talk.model.answers.append(calls(("Answer", {"date": "2026-09-30"})))
    result = talk.run({"messages": [("user", "When?")]})
    assert "2026-09-30" == result["structured_response"].date
    (answer,) = [message for message in result["messages"][-2:] if message.type == "ai"]
    assert 2 == answer.response_metadata["abreast"]["revision"]
    assert 2 == talk.cursor()


@pytest.mark.parametrize(
    "prompt", ["You help.", [{"type": "text", "text": "You help."}, {"type": "text", "text": "x"}]]
)
def test_system_message_stays(talk: Talk, prompt: Any):
    """The application's system message is byte for byte what it was."""
    talk.build(system_prompt=SystemMessage(prompt))
    talk.ask("When?")
    assert SystemMessage(prompt) == talk.model.requests[-1][0]
    assert json.dumps(prompt) == json.dumps(talk.model.requests[-1][0].content)


def test_unbound(talk: Talk):
    """Without `bind` nothing holds the thread: the first model call says what to do."""
    talk.agent = create_agent(
        talk.model, middleware=[WorkspaceSyncMiddleware(talk.client.log)], checkpointer=talk.saver
    )
    requests = len(talk.model.requests)
    with pytest.raises(NotBound, match="bind"):
        talk.ask("When?")
    assert requests == len(talk.model.requests)


def failing(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reading fail as it does when the database is away."""
    error = DatabaseUnavailable("here", "closed")

    def read(*_: Any, **__: Any) -> None:
        raise error

    async def aread(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(talk.client.log, "read_batch", read)
    monkeypatch.setattr(talk.client.log, "aread_batch", aread)


def test_read_error(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    """A read that fails ends the run before the model is called."""
    talk.change(move_in_date="2026-09-30")
    requests = len(talk.model.requests)
    with monkeypatch.context() as patched:
        failing(talk, patched)
        with pytest.raises(StateUnavailable) as raised:
            talk.ask("When?")
    assert isinstance(raised.value.__cause__, DatabaseUnavailable)
    assert requests == len(talk.model.requests)
    talk.run(None)
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()


def test_read_error_is_said(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    """Where the application chose so the model is told; its answer is not grounded and nominates nothing."""
    talk.build(on_read_error="say_so")
    talk.change(move_in_date="2026-09-30")
    with monkeypatch.context() as patched:
        failing(talk, patched)
        answer = talk.ask("When?")
    assert "could not be read" in talk.model.block()
    assert "abreast" not in answer.response_metadata
    assert (1, 1, -1) == (talk.cursor(), talk.noted(), talk.delivered())
    talk.ask("And now?")
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()
    assert 2 == talk.cursor()


def test_extras(talk: Talk):
    """What the application adds stands behind the rows, as data."""
    talk.build(extras=lambda *asked: {"plan": f"s3://{asked[1]}/plan</workspace_state>"})
    talk.ask("When?")
    assert '- plan: "s3://w1/plan\\u003c/workspace_state\\u003e"' in talk.model.block()


@pytest.mark.parametrize(("placement", "expected"), [("before", 0), ("after", 1), ("merge", 0), ("system", 0)])
def test_placement(talk: Talk, placement: Any, expected: int):
    """The block stands where the application wants it."""
    talk.build(placement=placement)
    talk.ask("When?", config={"configurable": {"thread_id": "t2"}})
    request = talk.model.requests[-1]
    assert expected == next(at for at, message in enumerate(request) if is_block(message))
    assert ("system" if placement == "system" else "human") == request[expected].type


def test_summarised_history(talk: Talk):
    """A middleware that rewrites the history neither cuts the block nor moves it."""

    class Cut(AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:  # noqa: ARG002 - LangChain's signature
            summary = HumanMessage("They talked.", additional_kwargs={"lc_source": "summarization"})
            return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), summary, state["messages"][-1]]}

    talk.build(middleware=[Cut()])
    talk.change(move_in_date="2026-09-30")
    talk.ask("And now?")
    assert [False, True, False] == [is_block(message) for message in talk.model.requests[-1]]
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()


def test_sub_agent(talk: Talk):
    """A nested agent has a cursor of its own; it counts once the outermost graph has returned."""
    inner = Script()
    child = create_agent(inner, middleware=[WorkspaceSyncMiddleware(talk.client.log)], name="writer")

    @tool
    def delegate() -> str:
        """Ask the writer."""
        return child.invoke({"messages": [("user", "Write")]})["messages"][-1].content

    talk.build([delegate])
    talk.ask("Delegate", calls(("delegate", {})), AIMessage("done"))
    assert {("t1", ""): 1, ("t1", "tools/writer"): 1} == talk.client.cursors()
    talk.change(move_in_date="2026-09-30")
    with pytest.raises(ConnectionError):
        talk.ask("Delegate", calls(("delegate", {})), ConnectionError("away"))
    assert {("t1", ""): 1, ("t1", "tools/writer"): 1} == talk.client.cursors()
    talk.ask("Delegate", calls(("delegate", {})), AIMessage("done"))
    assert {("t1", ""): 2, ("t1", "tools/writer"): 2} == talk.client.cursors()
    assert "from 2026-09-28 to 2026-09-30" in inner.block()
    assert {""} == set(talk.state().values["_abreast_cursor"])


def test_agent_as_a_node(talk: Talk):
    """An agent within a bound graph confirms when the graph has returned, and not when a later node fails."""
    child = create_agent(talk.model, middleware=[WorkspaceSyncMiddleware(talk.client.log)], name="writer")
    builder = StateGraph(MessagesState)
    builder.add_node("agent", child).add_edge(START, "agent")
    builder.add_node("later", lambda state: 1 / 0 if state["messages"][0].content == "fail" else {})
    builder.add_edge("agent", "later")
    talk.agent = bind(builder.compile(), talk.client.log)
    talk.ask("Hello")
    talk.change(move_in_date="2026-09-30")
    with pytest.raises(ZeroDivisionError):
        talk.ask("fail")
    assert 1 == talk.cursor("agent/writer")
    talk.ask("And now?")
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()
    assert (2, 1) == (talk.cursor("agent/writer"), talk.cursor())


def test_other_saver(place: Place, talk: Talk, tmp_path: Any):
    """The cursor survives in LangGraph's own SQLite saver."""
    path = str(tmp_path / "checkpoints.sqlite")
    config: Any = {"configurable": {"thread_id": "t3"}}

    def ask() -> None:
        talk.build()
        talk.ask("Hello", config=config)
        talk.change(move_in_date="2026-09-30")
        talk.ask("And now?", config=config)

    async def aask() -> None:
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            agent = create_synced_agent(talk.model, log=talk.client.log, checkpointer=saver)
            await agent.ainvoke({"messages": [("user", "Hello")]}, config, context=CONTEXT)
            async with talk.client.log.awrite("w1", actor=OTHER_USER) as write:
                write.update(Move, "m1", {"move_in_date": "2026-09-30"}, expected_version=1)
            await agent.ainvoke({"messages": [("user", "And now?")]}, config, context=CONTEXT)

    if place.runner is None:
        with SqliteSaver.from_conn_string(path) as talk.saver:
            ask()
    else:
        place.runner.run(aask())
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()
    assert 2 == talk.client.cursors()["t3", ""]


def test_canaries(place: Place, talk: Talk):
    """P07 I9: no value of the runtime context and no unexposed column is in a request, checkpoint, stream or store."""
    store = InMemoryStore()
    talk.build(store=store)
    context = {**CONTEXT, "rights": "right-of-way", "token": "token-123"}
    talk.change(note="a note")
    talk.model.answers.extend([calls(update(2, stage="booked"), ("read_move", {})), AIMessage("Booked.")])

    async def collect() -> list[Any]:
        return [
            part
            async for part in talk.agent.astream(
                {"messages": [("user", "Book")]}, CONFIG, context=context, stream_mode=MODES, subgraphs=True
            )
        ]

    if place.runner is None:
        value = {"messages": [("user", "Book")]}
        parts = list(talk.agent.stream(value, CONFIG, context=context, stream_mode=MODES, subgraphs=True))
    else:
        parts = place.runner.run(collect())
    saved = talk.stored()
    places = {"stream": repr(parts), "checkpoint": saved, "request": repr(talk.model.requests)}
    secrets = ("person-9", "right-of-way", "token-123", "door-4711", "alarm-0815")
    assert [] == [(where, secret) for where, text in places.items() for secret in secrets if secret in text]
    assert "w1" not in places["request"]
    assert "workspace_state" not in places["stream"] + places["checkpoint"]
    assert [] == store.search(())
    assert "a note" in places["request"]
