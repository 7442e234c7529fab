"""Agents in every form of call, beside each other and within each other: one lease, one confirmation, own runs."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.tools import ToolRuntime, tool
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import MessagesState

from abreast import Entity, WorkspaceLog
from abreast.errors import LeaseLost
from abreast.langchain import WorkspaceSyncMiddleware, bind, create_synced_agent, write_options
from abreast.runs import RUN_KEY, Run, current_run
from tests.contract.agents import CONFIG, Script, Talk, begin, calls, update
from tests.contract.client import Client, Place
from tests.contract.forms import ASYNC, SYNC
from tests.contract.product import MOVE, Move
from tests.contract.test_agent_endings import Hook, to_the_end

pytestmark = [pytest.mark.filterwarnings("ignore:The v3"), pytest.mark.filterwarnings("ignore:astream_events")]

ON_A_LOOP = pytest.mark.parametrize("mode", ["async"], indirect=True)
IN_THREADS = pytest.mark.parametrize("mode", ["sync"], indirect=True)
TOLD = "from 2026-09-28 to 2026-09-30"
MEETING_SECONDS = 60
NESTED = ("node of an unbound parent", "node of a bound parent", "three deep")


class Around:
    """What the parents of an agent are made with."""

    def __init__(self, talk: Talk) -> None:
        self.log: WorkspaceLog = talk.client.log
        self.saver: Any = talk.saver


def call(place: Place, talk: Talk, form: str) -> None:
    """Call the agent in a form."""

    async def acall() -> None:
        await ASYNC[form](talk.agent, Around(talk))

    if place.runner is None:
        SYNC[form](talk.agent, Around(talk))
    else:
        place.runner.run(acall())


def runs_of(talk: Talk, thread_id: str = "t1") -> list[Any]:
    """List fence and end of a thread's runs."""
    rows = talk.client.rows("SELECT fence, outcome FROM abreast_run WHERE thread_id = :t ORDER BY fence", t=thread_id)
    ((holder,),) = talk.client.rows("SELECT run_id FROM abreast_thread_lease WHERE thread_id = :t", t=thread_id)
    assert "" == holder
    return rows


@pytest.fixture
def talk(place: Place, client: Client) -> Talk:
    """Give a workspace with a move, and a conversation that has not been told of its change."""
    talk = begin(place, client)
    talk.change(move_in_date="2026-09-30")
    return talk


# --- S10, and its opposite -----------------------------------------------------------------------------------------


def ends_early(place: Place, talk: Talk, form: str, where: str) -> None:
    """Let another middleware end the agent before its model is called, and then ask again without it."""
    talk.build(middleware=[Hook(where, to_the_end)])
    asked = len(talk.model.requests)
    call(place, talk, form)
    assert asked == len(talk.model.requests)
    assert {("t1", ""): 1} == talk.client.cursors()
    assert [(1, "succeeded"), (2, "succeeded")] == runs_of(talk)
    talk.build()
    talk.ask("And now?")
    assert TOLD in talk.model.block()
    assert 2 == talk.cursor()


@IN_THREADS
@pytest.mark.parametrize("where", ["before_agent", "before_model"])
@pytest.mark.parametrize("form", SYNC)
def test_s10_early_end(place: Place, talk: Talk, form: str, where: str):
    """S10 I3 I4: a run that called no model nominates nothing, in whatever form it is called."""
    ends_early(place, talk, form, where)


@ON_A_LOOP
@pytest.mark.parametrize("where", ["before_agent", "before_model"])
@pytest.mark.parametrize("form", ASYNC)
def test_s10_early_end_on_a_loop(place: Place, talk: Talk, form: str, where: str):
    """S10 I3 I4: the same on an event loop."""
    ends_early(place, talk, form, where)


def counts_once(place: Place, talk: Talk, form: str) -> None:
    """Call the agent, and make sure that this was one run, which moved one cursor to what was delivered."""
    call(place, talk, form)
    assert [(1, "succeeded"), (2, "succeeded")] == runs_of(talk)
    moved = {scope: revision for (_, scope), revision in talk.client.cursors().items() if revision == 2}
    assert 1 == len(moved)
    assert ("" in moved) is (form not in NESTED)


@IN_THREADS
@pytest.mark.parametrize("form", SYNC)
def test_every_form(place: Place, talk: Talk, form: str):
    """I3 I8: an agent is run once and confirmed once, in whatever form it is called."""
    counts_once(place, talk, form)


@ON_A_LOOP
@pytest.mark.parametrize("form", ASYNC)
def test_every_form_on_a_loop(place: Place, talk: Talk, form: str):
    """I3 I8: the same on an event loop."""
    counts_once(place, talk, form)


# --- the run's key reaches every call of the saver ------------------------------------------------------------------


class Seeing(InMemorySaver):
    """A saver that looks which run its calls belong to."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, Run | None]] = []

    def look(self, what: str, config: RunnableConfig) -> None:
        """Note a call."""
        self.seen.append((what, current_run(config.get("configurable", {}).get(RUN_KEY))))

    def get_tuple(self, config: RunnableConfig) -> Any:
        """Load."""
        self.look("get_tuple", config)
        return super().get_tuple(config)

    async def aget_tuple(self, config: RunnableConfig) -> Any:
        """Load."""
        return self.get_tuple(config)

    def put(self, config: RunnableConfig, *rest: Any) -> Any:
        """Store a checkpoint."""
        self.look("put", config)
        return super().put(config, *rest)

    async def aput(self, config: RunnableConfig, *rest: Any) -> Any:
        """Store a checkpoint."""
        return self.put(config, *rest)

    def put_writes(self, config: RunnableConfig, *rest: Any) -> None:
        """Store pending writes."""
        self.look("put_writes", config)
        super().put_writes(config, *rest)

    async def aput_writes(self, config: RunnableConfig, *rest: Any) -> None:
        """Store pending writes."""
        self.put_writes(config, *rest)


def is_seen(place: Place, talk: Talk, form: str) -> None:
    """Call the agent with a tool, and look at the calls of its saver."""
    talk.saver = saver = Seeing()
    talk.build()
    talk.model.answers[:] = [calls(update(2, stage="booked"))]
    call(place, talk, form)
    fences = {(what, None if run is None else run.lease.fence) for what, run in saver.seen}
    assert {(what, 2) for what in ("get_tuple", "put", "put_writes")} >= fences
    assert {"get_tuple", "put"} <= {what for what, _ in saver.seen}
    assert RUN_KEY not in repr([found.metadata for found in saver.list(CONFIG)])
    assert RUN_KEY not in repr(saver.blobs)
    assert not any(run is not None and not run.ended for _, run in saver.seen)


WITH_ONE_LEASE = [form for form in SYNC if form != "node of an unbound parent"]
WITH_ONE_LEASE_ON_A_LOOP = [form for form in ASYNC if form != "node of an unbound parent"]


@IN_THREADS
@pytest.mark.parametrize("form", WITH_ONE_LEASE)
def test_key_in_the_saver(place: Place, talk: Talk, form: str):
    """I8: loading, checkpoints and pending writes find the run and its fence; none of them stores its key."""
    is_seen(place, talk, form)


@ON_A_LOOP
@pytest.mark.parametrize("form", WITH_ONE_LEASE_ON_A_LOOP)
def test_key_in_the_saver_on_a_loop(place: Place, talk: Talk, form: str):
    """I8: the same on an event loop."""
    is_seen(place, talk, form)


# --- agents within an agent ----------------------------------------------------------------------------------------


def writer(talk: Talk, model: Script, name: str, *, bound: bool) -> Any:
    """Make a sub-agent that knows the workspace."""
    if bound:
        return create_synced_agent(model, log=talk.client.log, name=name)
    return create_agent(model, middleware=[WorkspaceSyncMiddleware(talk.client.log)], name=name)


def delegating(name: str, child: Any) -> Any:
    """Make the tool that calls a sub-agent."""

    def delegate(text: str) -> str:
        """Ask a sub-agent."""
        return child.invoke({"messages": [("user", text)]})["messages"][-1].content

    async def adelegate(text: str) -> str:
        """Ask a sub-agent."""
        return (await child.ainvoke({"messages": [("user", text)]}))["messages"][-1].content

    return StructuredTool.from_function(delegate, adelegate, name=name)


@pytest.mark.parametrize("bound", [True, False], ids=["bound", "unbound"])
def test_sub_agents_side_by_side(talk: Talk, bound: bool):
    """I3: sub-agents of one step wait for one another and not for ever; each has its cursor, the parent its own."""
    meeting = threading.Barrier(3, timeout=MEETING_SECONDS)

    def answer(_messages: Any) -> AIMessage:
        meeting.wait()
        return AIMessage("written")

    def edited(_messages: Any) -> AIMessage:
        if talk.row()[0] == "new":
            talk.change(stage="booked")
        return calls(*wanted)

    models = {name: Script() for name in ("left", "right")}
    talk.build([delegating(name, writer(talk, model, name, bound=bound)) for name, model in models.items()])
    wanted = [("left", {"text": "a"}), ("left", {"text": "b"}), ("right", {"text": "c"})]
    for _ in range(2):
        models["left"].answers[:] = [answer] * 2
        models["right"].answers[:] = [answer]
        talk.ask("Delegate", edited, AIMessage("done"))
    assert {("t1", ""): 3, ("t1", "tools/left"): 3, ("t1", "tools/right"): 3} == talk.client.cursors()
    assert [(1, "succeeded"), (2, "succeeded"), (3, "succeeded")] == runs_of(talk)
    assert ["written"] * 6 == [message.content for message in talk.results()]


def test_parent_stays_behind_its_sub_agents(talk: Talk):
    """I3: what sub-agents were given meanwhile is not what their parent's model was given, nor the other way round."""
    model = Script()
    talk.build([delegating("writer", writer(talk, model, "writer", bound=True))])
    talk.ask("Delegate", calls(("writer", {"text": "a"})), AIMessage("done"))
    assert {("t1", ""): 2, ("t1", "tools/writer"): 2} == talk.client.cursors()

    def edited(_messages: Any) -> AIMessage:
        talk.change(stage="booked")
        return calls(("writer", {"text": "b"}))

    talk.ask("Delegate", edited, AIMessage("done"))
    assert "booked" in model.block().partition("CHANGES")[2]
    assert "booked" not in talk.model.block().partition("CHANGES")[2]
    assert {("t1", ""): 2, ("t1", "tools/writer"): 3} == talk.client.cursors()
    talk.ask("And now?")
    assert "booked" in talk.model.block().partition("CHANGES")[2]
    assert 3 == talk.cursor()


def test_failing_parent_of_sub_agents(talk: Talk):
    """I3 I4: where the parent fails its sub-agents' successes do not count either."""
    model = Script()
    talk.build([delegating("writer", writer(talk, model, "writer", bound=True))])
    talk.ask("Delegate", calls(("writer", {"text": "a"})), AIMessage("done"))
    talk.change(stage="booked")
    with pytest.raises(ConnectionError):
        talk.ask("Delegate", calls(("writer", {"text": "b"})), ConnectionError("away"))
    assert {("t1", ""): 2, ("t1", "tools/writer"): 2} == talk.client.cursors()
    assert [(1, "succeeded"), (2, "succeeded"), (3, "unavailable")] == runs_of(talk)


@pytest.mark.parametrize("bound", [True, False], ids=["bound", "unbound"])
def test_agents_as_nodes_side_by_side(talk: Talk, bound: bool):
    """I3: two agents that are nodes of one step give no conflicting updates, and have a cursor each."""
    models = {name: Script() for name in ("left", "right")}
    builder = StateGraph(MessagesState)
    for name, model in models.items():
        builder.add_node(name, writer(talk, model, name, bound=bound)).add_edge(START, name)
    talk.agent = bind(builder.compile(checkpointer=talk.saver), talk.client.log)
    talk.ask("Hello")
    talk.change(stage="booked")
    talk.ask("And now?")
    assert all("booked" in model.block().partition("CHANGES")[2] for model in models.values())
    assert {("t1", ""): 1, ("t1", "left/left"): 3, ("t1", "right/right"): 3} == talk.client.cursors()


def test_sub_agents_write_side_by_side(talk: Talk):
    """I3 I6: sub-agents write under the one lease; of two writes on one version the second is refused."""
    models = {name: Script() for name in ("left", "right")}
    talk.build([delegating(name, writer(talk, model, name, bound=True)) for name, model in models.items()])
    for name, model in models.items():
        model.answers[:] = [calls(update(2, note=f"by {name}")), AIMessage("done")]
    talk.ask("Delegate", calls(("left", {"text": "a"}), ("right", {"text": "b"})), AIMessage("done"))
    stage, note, version = talk.row()
    assert ("new", 3) == (stage, version)
    assert note in ("by left", "by right")
    said = [str(message.content) for model in models.values() for message in model.requests[-1]]
    assert 1 == sum(text.startswith("Nothing was written") for text in said)
    assert 1 == sum(text.startswith("Done: ") for text in said)
    by = [(event.actor.id, event.source_thread_id) for event in talk.client.recorded()[2:]]
    assert [(note.removeprefix("by "), "t1")] == by


# --- a tool that outlives its run -----------------------------------------------------------------------------------


@ON_A_LOOP
def test_tool_outlives_its_cancelled_run(place: Place, talk: Talk):
    """I8 I4: what a sync tool, which cannot be cancelled, writes after its run has ended is refused."""
    entered, cancelled, ended = threading.Event(), threading.Event(), threading.Event()

    @tool
    def slow(runtime: ToolRuntime[Any, Any]) -> str:
        """Write late."""
        options = write_options(talk.client.log, runtime, "late")
        entered.set()
        cancelled.wait(MEETING_SECONDS)
        with pytest.raises(LeaseLost), talk.client.log.write("w1", **options) as write:
            write.update("move", "m1", {"note": "late"}, expected_version="any")
        ended.set()
        return "done"

    async def cancel() -> None:
        talk.model.answers[:] = [calls(("slow", {}))]
        value: Any = {"messages": [("user", "Write")]}
        task = asyncio.ensure_future(talk.agent.ainvoke(value, CONFIG, context={"workspace_id": "w1"}))
        await asyncio.to_thread(entered.wait, MEETING_SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        cancelled.set()
        assert await asyncio.to_thread(ended.wait, MEETING_SECONDS)

    talk.build([slow])
    place.runner.run(cancel())
    assert ("new", None, 2) == talk.row()
    assert [(1, "succeeded"), (2, "stopped")] == runs_of(talk)
    talk.ask("And now?")
    assert TOLD in talk.model.block()


# --- W18 -----------------------------------------------------------------------------------------------------------


def test_w18_runs_side_by_side(place: Place, client: Client):
    """W18: of runs of two threads and users that are interleaved at each step every event has its own run."""
    entity = Entity(Move, expose=MOVE.expose, name="move")
    talk = begin(place, client, entity)
    talk.client.insert(Move, {"id": "m2", "stage": "new"})
    meeting = threading.Barrier(2, timeout=MEETING_SECONDS)

    def answer(messages: Any) -> AIMessage:
        meeting.wait()
        key = str(next(message.content for message in messages if message.content in ("m1", "m2")))
        return AIMessage("done") if messages[-1].type == "tool" else calls(update(1, key, stage=f"of {key}"))

    class Meeting(AgentMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            meeting.wait()
            return handler(request)

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            await asyncio.to_thread(meeting.wait)
            return await handler(request)

    talk.build(middleware=[Meeting()])
    talk.model.answers[:] = [answer] * 4
    side_by_side(place, talk, {"t1": "m1", "t2": "m2"})
    events = {event.entity_id: event for event in talk.client.recorded()[2:]}
    for thread_id, key in {"t1": "m1", "t2": "m2"}.items():
        event, actor = events[key], events[key].actor
        assert (thread_id, "agent", f"person of {key}") == (event.source_thread_id, actor.type, actor.on_behalf_of)
        assert (f"of {key}", None, 2) == talk.row(key)
        run_ids = talk.client.rows("SELECT run_id FROM abreast_run WHERE thread_id = :t ORDER BY fence", t=thread_id)
        assert (event.run_id,) == run_ids[-1]


def side_by_side(place: Place, talk: Talk, keys: dict[str, str]) -> None:
    """Ask about a row in each thread, all at once."""
    asked = [
        (
            {"messages": [("user", key)]},
            {"configurable": {"thread_id": thread_id}},
            {"workspace_id": "w1", "user_id": f"person of {key}"},
        )
        for thread_id, key in keys.items()
    ]

    async def aask() -> None:
        await asyncio.gather(*[talk.agent.ainvoke(value, config, context=context) for value, config, context in asked])

    if place.runner is not None:
        place.runner.run(aask())
        return
    with ThreadPoolExecutor(len(asked)) as pool:
        waiting = [pool.submit(talk.agent.invoke, value, config, context=context) for value, config, context in asked]
        for one in waiting:
            one.result()
