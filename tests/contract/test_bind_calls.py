"""Every way of calling a bound graph takes the lease once, confirms once, and gives it back once."""

import asyncio
import gc
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import aclosing, closing
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.config import get_config
from langgraph.graph import START, StateGraph

from abreast.errors import InvalidInput, ThreadBoundElsewhere, ThreadBusy
from abreast.langgraph import BoundGraph, WorkspaceNodes, bind
from abreast.runs import RUN_KEY, current_run
from tests.contract.bound import CONTEXT, QUESTION, Standing, State, World, config
from tests.contract.client import Client, Place
from tests.contract.forms import ASYNC, IN_CONFIG, SYNC, parent_of
from tests.contract.product import Move

# Newest and oldest event streams warn that they may change, or will go.
pytestmark = [pytest.mark.filterwarnings("ignore:The v3"), pytest.mark.filterwarnings("ignore:astream_events")]


@pytest.fixture
def world(place: Place, client: Client) -> World:
    """Give a workspace with a change that its conversation has not been told."""
    return World(place, client)


@pytest.fixture
def confirmed(world: World, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the revisions that are confirmed."""
    found: list[int] = []
    real = type(world.log.steps).confirm

    def confirm(steps: Any, connection: Any, cursor: Any) -> bool:
        found.append(cursor.revision)
        return real(steps, connection, cursor)

    monkeypatch.setattr(type(world.log.steps), "confirm", confirm)
    return found


@pytest.mark.parametrize("mode", ["sync"], indirect=True)
@pytest.mark.parametrize("form", SYNC)
def test_sync_forms(world: World, confirmed: list[int], form: str):
    """S10: acquired once, confirmed once, released once."""
    SYNC[form](world.bound(), world)
    assert Standing(1, "", ["succeeded"], 2) == world.standing()
    assert [2] == confirmed
    assert "from 2026-09-28 to 2026-09-30" in world.model.block()


@pytest.mark.parametrize("mode", ["async"], indirect=True)
@pytest.mark.parametrize("form", ASYNC)
def test_async_forms(place: Place, world: World, confirmed: list[int], form: str):
    """S10: acquired once, confirmed once, released once, on an event loop."""

    async def call() -> None:
        await ASYNC[form](world.bound(), world)

    place.runner.run(call())
    assert Standing(1, "", ["succeeded"], 2) == world.standing()
    assert [2] == confirmed


def test_run_key_reaches_hooks(world: World):
    """Every hook finds the run, its lease and its workspace; none finds it afterwards."""
    seen: list[Any] = []

    def look(_state: State) -> dict[str, Any]:
        token = get_config()["configurable"][RUN_KEY]
        run = current_run(token)
        seen.extend([token, run.lease, run.workspace_id, run.key.run_id == token])
        return {}

    graph = world.bound(("look", look))
    world.run(graph)
    gc.collect()
    assert [("t1", 1), "w1", False] == seen[1:]
    assert current_run(seen[0]) is None
    assert RUN_KEY not in repr([found.metadata for found in world.saver.list(config())])


@pytest.mark.parametrize("mode", ["sync"], indirect=True)
def test_closed_and_abandoned_generators(world: World, confirmed: list[int]):
    """S11: a consumer that stops early confirms nothing and leaves no lease."""
    graph = world.bound()
    never_begun = graph.stream(QUESTION, config(), context=CONTEXT)
    del never_begun
    assert 0 == world.standing().fence
    with closing(graph.stream(QUESTION, config(), context=CONTEXT, stream_mode="updates")) as parts:
        next(parts)
    assert Standing(1, "", ["stopped"], 1) == world.standing()
    abandoned = graph.stream(QUESTION, config(), context=CONTEXT, stream_mode="updates")
    assert "model" in next(abandoned)
    assert "nominate" in next(abandoned)
    del abandoned
    gc.collect()
    assert Standing(2, "", ["stopped"] * 2, 1) == world.standing()
    assert [] == confirmed


@pytest.mark.parametrize("mode", ["async"], indirect=True)
def test_closed_and_abandoned_async_generators(place: Place, world: World, confirmed: list[int]):
    """S11: the same on an event loop, where a collected generator is closed by the loop."""
    graph = world.bound()

    async def close() -> None:
        async with aclosing(graph.astream(QUESTION, config(), context=CONTEXT, stream_mode="updates")) as parts:
            await anext(parts)

    async def abandon() -> None:
        parts = graph.astream(QUESTION, config(), context=CONTEXT, stream_mode="updates")
        await anext(parts)
        del parts
        gc.collect()
        for _ in range(100):
            await asyncio.sleep(0.01)
            if not world.standing().holder:
                break

    place.runner.run(close())
    assert Standing(1, "", ["stopped"], 1) == world.standing()
    place.runner.run(abandon())
    assert Standing(2, "", ["stopped"] * 2, 1) == world.standing()
    assert [] == confirmed


@pytest.mark.parametrize("mode", ["async"], indirect=True)
@pytest.mark.timeout(300)
def test_cancelled_at_every_tick(place: Place, world: World):
    """I3: a run that is cancelled after any number of turns of the event loop holds no lease afterwards."""
    graph = world.bound()

    async def cancelled_after(ticks: int) -> bool:
        task = asyncio.ensure_future(graph.ainvoke(QUESTION, config(), context=CONTEXT))
        for _ in range(ticks):
            await asyncio.sleep(0)
        ended = task.done()
        task.cancel()
        await asyncio.wait([task])
        return ended

    ticks, fences = 0, set()
    while not place.runner.run(cancelled_after(ticks)):
        standing = world.standing()
        fences.add(standing.fence)
        assert "" == standing.holder
        assert {"stopped", "succeeded"} >= set(standing.outcomes), ticks
        ticks += 1 if ticks < 40 else 1 + ticks // 8
    assert len(fences) > 3
    assert "succeeded" == world.standing().outcomes[-1]


@pytest.mark.parametrize("mode", ["sync"], indirect=True)
def test_two_event_loops(world: World, confirmed: list[int]):
    """One bound graph serves any number of event loops, one after the other and side by side."""
    graph = world.bound()

    async def call(thread_id: str) -> None:
        await graph.ainvoke(QUESTION, config(thread_id), context=CONTEXT)
        await world.log.database._engines.aclose()

    loops = [threading.Thread(target=lambda name=name: asyncio.run(call(name))) for name in ("t1", "t2", "t3")]
    for loop in loops:
        loop.start()
    for loop in loops:
        loop.join()
    asyncio.run(call("t1"))
    graph.invoke(QUESTION, config("t1"), context=CONTEXT)
    assert Standing(3, "", ["succeeded"] * 3, 2) == world.standing("t1")
    assert [Standing(1, "", ["succeeded"], 2)] * 2 == [world.standing("t2"), world.standing("t3")]
    assert [2] * 5 == confirmed


@pytest.mark.parametrize("mode", ["sync"], indirect=True)
def test_same_thread_twice_in_a_batch(world: World):
    """I8: inputs of a batch run side by side, so the second for a thread finds it busy."""
    graph = world.bound()
    world.model.before = lambda: threading.Event().wait(0.5)
    found = graph.batch([QUESTION, QUESTION], IN_CONFIG, return_exceptions=True)
    assert ["ThreadBusy", "dict"] == sorted(type(one).__name__ for one in found)
    assert Standing(1, "", ["succeeded"], 2) == world.standing()


@pytest.mark.parametrize("mode", ["sync"], indirect=True)
def test_parallel_sub_agents_share_the_lease(world: World, confirmed: list[int]):
    """Sub-agents of one step run side by side under the outer run's lease; the outer one confirms once."""
    world.client.open_thread("w1", "t1", scope="left")
    right = world.bound(saver=None)
    world.nodes = WorkspaceNodes(world.log, scope="left")
    left = world.bound(saver=None)
    builder = StateGraph(State)
    for name, agent in (("left", left), ("right", right)):
        builder.add_node(name, agent).add_edge(START, name)
    outer = bind(builder.compile(checkpointer=world.saver), world.log)
    outer.invoke(QUESTION, config(), context=CONTEXT)
    assert Standing(1, "", ["succeeded"], 2) == world.standing()
    assert [2, 2] == confirmed


@pytest.mark.parametrize("mode", ["sync"], indirect=True)
def test_failed_sub_agent_nominates_nothing(world: World, confirmed: list[int]):
    """I3: what an agent nominated whose run then failed does not count, though its caller goes on."""

    def fail(_state: State) -> None:
        raise ConnectionError("after the nomination")

    agent = world.bound(last=fail, saver=None)

    def tries(state: State) -> dict[str, Any]:
        with pytest.raises(ConnectionError):
            agent.invoke(state)
        return {}

    bind(parent_of(tries, world), world.log).invoke(QUESTION, config(), context=CONTEXT)
    assert Standing(1, "", ["succeeded"], 1) == world.standing()
    assert [] == confirmed


@pytest.mark.parametrize("mode", ["sync"], indirect=True)
def test_other_thread_within_a_run(world: World):
    """A run of another thread has a lease of its own, and the first thread's one is found again inside of it."""
    innermost = world.bound()

    def back(_state: State) -> dict[str, Any]:
        innermost.invoke(QUESTION, config("t1"), context=CONTEXT)
        return {}

    def away(_state: State) -> dict[str, Any]:
        bind(parent_of(back, world), world.log).invoke(QUESTION, config("t2"), context=CONTEXT)
        return {}

    bind(parent_of(away, world), world.log).invoke(QUESTION, config("t1"), context=CONTEXT)
    assert Standing(1, "", ["succeeded"], 2) == world.standing("t1")
    assert (1, "", ["succeeded"]) == world.standing("t2")[:3]


def test_thread_is_bound_to_its_workspace(world: World):
    """The binding is the authority: context may be missing on resume, another workspace is refused."""
    graph = world.bound()
    world.run(graph)
    world.run(graph, context=None)
    assert ["succeeded"] * 2 == world.standing().outcomes
    with world.client.write("w2") as write:
        write.insert(Move, {"id": "m2"})
    with pytest.raises(ThreadBoundElsewhere):
        world.run(graph, context={"workspace_id": "w2"})
    with pytest.raises(InvalidInput, match="workspace_id"):
        world.run(graph, thread_id="new", context=None)
    with pytest.raises(InvalidInput, match="thread_id"):
        world.run(graph, config={"configurable": {"other": 1}})
    assert (2, "") == world.standing()[:2]


def test_new_thread_begins_at_head(world: World):
    """What happened before a thread's first message is no news to it, what happens once it was sent is."""
    graph = world.bound()
    world.model.before = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        world.run(graph, thread_id="new")
    assert Standing(1, "", ["failed"], 2) == world.standing("new")
    world.model.before = lambda: None
    world.change(stage="booked")
    world.run(graph, thread_id="new")
    assert "booked" in world.model.block()
    assert 3 == world.standing("new").cursor


def test_thread_with_messages_is_not_new(world: World):
    """A thread that was run without abreast is told that its answers may be out of date."""
    world.saver = type(world.saver)()
    plain = StateGraph(State).add_node("model", lambda _state: {"messages": [("assistant", "On the 28th.")]})
    old = plain.add_edge(START, "model").compile(checkpointer=world.saver)
    world.run(old, thread_id="old", context=None)
    world.run(world.bound(), thread_id="old")
    assert "It is not known which changes this conversation has seen" in world.model.block()
    assert 2 == world.standing("old").cursor


def test_answers_in_the_first_input_are_not_new(world: World):
    """A conversation that is brought along whole has a past, whatever keeps it."""
    value = {"messages": [("user", "When?"), ("assistant", "On the 28th."), ("user", "And now?")]}
    world.run(world.bound(), value, thread_id="brought")
    assert "It is not known which changes this conversation has seen" in world.model.block()


@pytest.fixture
def statements(world: World) -> Iterator[Callable[[], list[str]]]:
    """Give a function that lists the statements sent since."""
    world.run(world.bound())
    world.change(stage="booked")
    with world.client.statements() as sent:
        yield lambda: list(sent)


def test_statement_budget(world: World, statements: Callable[[], list[str]]):
    """A run costs one transaction to begin and one to end: five statements, and two beside the confirmation."""
    world.run(world.bound())
    about = [one for one in statements() if "thread_lease" in one or "abreast_run" in one]
    kinds = [one.split(maxsplit=1)[0] + (" lease" if "thread_lease" in one else " run") for one in about]
    assert ["UPDATE lease", "SELECT lease", "SELECT lease", "INSERT run", "UPDATE run", "UPDATE lease"] == kinds
    assert "thread_lease" in statements()[-1]


def test_run_row(world: World):
    """The row of a run says what it was given, what it nominated, and how it ended."""
    world.run(world.bound())
    ((since, given, nominated, fence, workspace_id),) = world.client.rows(
        "SELECT since, given, nominated, fence, workspace_id FROM abreast_run"
    )
    revisions = [json.loads(one)[""]["revision"] for one in (since, given, nominated)]
    assert ([1, 2, 2], 1, "w1") == (revisions, fence, workspace_id)


def test_only_compiled_graphs_are_bound(world: World):
    """Binding twice, or something else, is refused and says what to pass."""
    with pytest.raises(InvalidInput, match="is bound already"):
        bind(world.bound(), world.log)
    with pytest.raises(InvalidInput, match="RunnableLambda"):
        bind(RunnableLambda(lambda value: value), world.log)  # type: ignore[arg-type]
    for options in ({"lease_seconds": 0.5}, {"on_busy": "wait"}, {"busy_timeout": -1}):
        with pytest.raises(InvalidInput, match=next(iter(options))):
            world.bound(**options)


def test_copies_stay_bound(world: World):
    """What a graph is configured to be is bound as well, and keeps what the compiler gave it."""
    graph = world.bound().with_config(tags=["a"])
    assert isinstance(graph, BoundGraph)
    plain = world.plain()
    for name in ("_serde_allowlist", "_output_mapper", "_state_mapper"):
        assert type(getattr(plain, name)) is type(getattr(graph, name))
    world.run(graph)
    assert ["succeeded"] == world.standing().outcomes


def test_busy_thread_is_refused(world: World):
    """C02: while a run goes on another one of the thread is refused, before its input is stored."""
    graph, refused = world.bound(), []

    def meanwhile() -> None:
        with pytest.raises(ThreadBusy) as error:
            graph.invoke(QUESTION, config(), context=CONTEXT)
        refused.append(error.value.run_id)

    def from_outside() -> None:
        thread = threading.Thread(target=meanwhile)
        thread.start()
        thread.join()

    world.model.before = from_outside
    world.run(graph)
    assert 1 == len(refused)
    assert Standing(1, "", ["succeeded"], 2) == world.standing()
    kinds = [message.type for message in graph.get_state(config()).values["messages"]]
    assert ["human", "ai"] == kinds
