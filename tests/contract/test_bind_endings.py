"""However a run of a bound graph ends or begins: lease free, cursor only after success, the rest given again."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import aclosing, closing
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.errors import GraphDrained, GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import RunControl
from langgraph.types import Command, interrupt

from abreast.errors import LeaseLost, RunStopped
from abreast.langgraph import bind
from abreast.runs import RUN_KEY, current_run, signals
from abreast.runs.heartbeat import heartbeat_of
from tests.contract.bound import CONTEXT, QUESTION, Away, Standing, State, World, config
from tests.contract.client import Client, Place

TOLD = "from 2026-09-28 to 2026-09-30"


@pytest.fixture
def world(place: Place, client: Client) -> World:
    """Give a workspace with a change that its conversation has not been told."""
    return World(place, client)


@pytest.fixture(params=["sync", "async", "exit"])
def durability(request: pytest.FixtureRequest) -> str:
    """Store checkpoints in every way that LangGraph knows."""
    return request.param


def fail(_state: State) -> None:
    """Fail as a tool does."""
    raise ConnectionError("a tool")


def drain(control: RunControl) -> Callable[[State], None]:
    """Give a node that asks the run to end after it."""

    def node(_state: State) -> None:
        control.request_drain("deploy")

    return node


def ends(world: World, graph: Any, error: type[BaseException] | None, **options: Any) -> None:
    """Run a graph once, which ends with an error, or without."""
    if error is None:
        world.run(graph, **options)
        return
    with pytest.raises(error):
        world.run(graph, **options)


def redelivered(world: World, durability: str, outcomes: list[str], *, saver: Any = "own") -> None:
    """Make sure that the run left no trace but its row, and that the next one is given the same and counts."""
    assert Standing(len(outcomes), "", outcomes, 1) == world.standing()
    world.model.before = lambda: None
    options = {} if saver is None else {"durability": durability}
    world.run(world.bound(saver=saver), {"messages": [("user", "And now?")]}, **options)
    assert TOLD in world.model.block()
    assert Standing(len(outcomes) + 1, "", [*outcomes, "succeeded"], 2) == world.standing()


@pytest.mark.parametrize("saver", ["own", None])
def test_model_fails(world: World, durability: str, saver: Any):
    """I4: an exception in the model."""
    world.model.before = lambda: 1 / 0
    options = {} if saver is None else {"durability": durability}
    ends(world, world.bound(saver=saver), ZeroDivisionError, **options)
    redelivered(world, durability, ["failed"], saver=saver)


@pytest.mark.parametrize("saver", ["own", None])
@pytest.mark.parametrize("place_of_error", ["tool", "last"])
def test_node_fails(world: World, durability: str, saver: Any, place_of_error: str):
    """I3 I4: an exception in a tool, and one after the nomination."""
    options = {} if saver is None else {"durability": durability}
    if place_of_error == "tool":
        graph = world.bound(("tool", fail), saver=saver)
    else:
        graph = world.bound(last=fail, saver=saver)
    ends(world, graph, ConnectionError, **options)
    redelivered(world, durability, ["unavailable"], saver=saver)


def test_recursion_limit(world: World, durability: str):
    """I4: the recursion limit."""
    options = {"durability": durability, "config": {**config(), "recursion_limit": 1}}
    ends(world, world.bound(), GraphRecursionError, **options)
    redelivered(world, durability, ["failed"])


def test_interrupt_and_resume(world: World, durability: str):
    """I3: a question to a person ends the run; the resumed one, without context, counts what its model is given."""

    def approve(_state: State) -> dict[str, Any]:
        return {"messages": [("user", interrupt("may I?"))]}

    graph = world.bound(("approve", approve), ("second", world.nodes.model(world.model.runnable)))
    found = world.run(graph, durability=durability)
    assert "__interrupt__" in found
    assert Standing(1, "", ["interrupted"], 1) == world.standing()
    world.change(stage="booked")
    world.run(graph, Command(resume="yes"), context=None, durability=durability)
    assert "booked" in world.model.block()
    assert Standing(2, "", ["interrupted", "succeeded"], 3) == world.standing()


def test_interrupt_beside_the_nomination(world: World, durability: str):
    """I3: what one branch nominates while another one waits for a person does not count."""
    builder = StateGraph(State)
    builder.add_node("model", world.nodes.model(world.model.runnable)).add_edge(START, "model")
    builder.add_node("nominate", world.nodes.nominate).add_edge("model", "nominate")
    builder.add_node("approve", lambda _state: interrupt("?") and {}).add_edge("model", "approve")
    graph = bind(builder.compile(checkpointer=world.saver), world.log)
    world.run(graph, durability=durability, stream_mode="messages")
    redelivered(world, durability, ["interrupted"])


@pytest.mark.parametrize("where", [{"interrupt_after": ["model"]}, {"interrupt_before": ["nominate"]}])
def test_static_interrupt(world: World, durability: str, where: dict[str, Any]):
    """I4: a breakpoint after a complete answer."""
    ends(world, world.bound(), None, durability=durability, **where)
    redelivered(world, durability, ["interrupted"])


def test_abandoned_interrupt(world: World, durability: str):
    """S19: a new question in the place of the answer is given the same changes again."""

    def wait(state: State) -> dict[str, Any]:
        return interrupt("?") if state["messages"][-2].content == "When do I move in?" else {}

    world.run(world.bound(("wait", wait)), durability=durability)
    redelivered(world, durability, ["interrupted"])


def test_refused_without_an_error(world: World, durability: str):
    """I3: a node that leads past the nomination keeps the cursor, though the run ends well."""
    builder = StateGraph(State)
    builder.add_node("model", world.nodes.model(world.model.runnable)).add_edge(START, "model")
    builder.add_node("nominate", world.nodes.nominate)
    builder.add_conditional_edges("model", lambda _state: END, ["nominate", END])
    world.run(bind(builder.compile(checkpointer=world.saver), world.log), durability=durability)
    redelivered(world, durability, ["succeeded"])


def test_refused_by_the_check(world: World, durability: str):
    """I3: a run whose application does not accept the answer says so, and confirms nothing."""
    world.run(world.bound(last=refusing()), durability=durability)
    redelivered(world, durability, ["refused"])


def refusing() -> Callable[[State], None]:
    """Give a node that refuses the answer of its run."""

    def refuse(_state: State) -> None:
        current_run(get_config()["configurable"][RUN_KEY]).refuse()

    return refuse


def test_no_model_call(world: World, durability: str):
    """S10: a turn that asks no model nominates nothing."""
    builder = StateGraph(State).add_node("nominate", world.nodes.nominate).add_edge(START, "nominate")
    world.run(bind(builder.compile(checkpointer=world.saver), world.log), durability=durability)
    redelivered(world, durability, ["succeeded"])


def test_drained(world: World, durability: str):
    """I4: a process that goes away ends its runs between two nodes."""
    control = RunControl()
    graph = world.bound(("drain", drain(control)))
    ends(world, graph, GraphDrained, durability=durability, control=control)
    redelivered(world, durability, ["stopped"])


def test_handoff_to_the_parent(world: World, durability: str):
    """I3: an agent that hands over to another one in the middle of its turn confirms nothing."""
    agent = world.bound(("over", lambda _state: Command(goto="other", graph=Command.PARENT)), saver=None)
    builder = StateGraph(State).add_node("agent", agent).add_edge(START, "agent")
    builder.add_node("other", lambda _state: {})
    world.run(builder.compile(checkpointer=world.saver), durability=durability)
    redelivered(world, durability, ["stopped"])


def test_parent_fails(world: World, durability: str):
    """I3: under a bound parent nothing counts before the parent has finished, under another one it does."""
    agent = world.bound(saver=None)
    builder = StateGraph(State).add_node("agent", agent).add_edge(START, "agent")
    builder.add_node("later", fail).add_edge("agent", "later")
    ends(world, bind(builder.compile(checkpointer=world.saver), world.log), ConnectionError, durability=durability)
    redelivered(world, durability, ["unavailable"])
    world.change(stage="booked")
    ends(world, builder.compile(checkpointer=world.saver), ConnectionError, durability=durability)
    assert Standing(3, "", ["unavailable", "succeeded", "succeeded"], 3) == world.standing()


@pytest.mark.parametrize("failing_from", [1, 2, 3, 4])
def test_checkpoint_fails(world: World, durability: str, failing_from: int):
    """I3: whichever checkpoint cannot be stored, also the last one, the cursor stays and the run fails."""
    world.saver = Away(1 if durability == "exit" else failing_from)
    ends(world, world.bound(), ConnectionError, durability=durability)
    assert Standing(1, "", ["unavailable"], 1) == world.standing()
    world.saver = InMemorySaver()
    redelivered(world, durability, ["unavailable"])


@pytest.mark.parametrize("seen", [1, 2])
@pytest.mark.parametrize("stream_mode", ["updates", "messages", "values"])
def test_consumer_leaves(place: Place, world: World, durability: str, stream_mode: Any, seen: int):
    """S11: a stream that is closed after the answer, or after the nomination, confirms nothing."""
    graph = world.bound()
    options: Any = {"context": CONTEXT, "durability": durability, "stream_mode": [stream_mode, "updates"]}

    async def aleave() -> None:
        async with aclosing(graph.astream(QUESTION, config(), **options)) as parts:
            for _ in range(seen):
                await anext(parts)

    if place.runner is not None:
        place.runner.run(aleave())
    else:
        with closing(graph.stream(QUESTION, config(), **options)) as parts:
            for _ in range(seen):
                next(parts)
    redelivered(world, durability, ["stopped"])


@pytest.mark.parametrize("mode", ["async"], indirect=True)
@pytest.mark.parametrize("how", ["cancel", "timeout"])
def test_cancelled(place: Place, world: World, durability: str, how: str):
    """I4: a task that is cancelled, or runs out of time, in the middle of the model."""
    graph, called = world.bound(), asyncio.Event()

    async def forever() -> None:
        called.set()
        await asyncio.sleep(60)

    async def call() -> None:
        world.model.abefore = forever
        task = asyncio.ensure_future(graph.ainvoke(QUESTION, config(), context=CONTEXT, durability=durability))
        if how == "timeout":
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await task
            return
        await called.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    place.runner.run(call())
    world.model.abefore = lambda: asyncio.sleep(0)
    redelivered(world, durability, ["stopped"])


def test_new_input_after_a_failure(world: World, durability: str):
    """I4: the next message after a failure is given the same changes, and those since."""
    world.model.before = lambda: 1 / 0
    graph = world.bound()
    ends(world, graph, ZeroDivisionError, durability=durability)
    world.change(move_in_date="2026-10-01")
    world.model.before = lambda: None
    world.run(graph, durability=durability)
    assert "from 2026-09-28 to 2026-10-01 in 2 steps" in world.model.block()
    assert Standing(2, "", ["failed", "succeeded"], 3) == world.standing()


@pytest.mark.parametrize("durability", ["sync", "async"], indirect=True)
def test_going_on_after_a_failure(world: World, durability: str):
    """I4: a run that goes on with None reads again."""
    world.model.before = lambda: 1 / 0
    graph = world.bound()
    ends(world, graph, ZeroDivisionError, durability=durability)
    world.model.before = lambda: None
    world.run(graph, None, context=None, durability=durability)
    assert Standing(2, "", ["failed", "succeeded"], 2) == world.standing()


def test_replay_and_fork(world: World):
    """S12: a branch from before is given its changes again, and the cursor in the database is not lowered."""
    graph = world.bound()
    world.run(graph)
    world.change(stage="booked")
    world.run(graph)
    assert 3 == world.standing().cursor
    before = next(found.config for found in graph.get_state_history(config()) if found.next == ("model",))
    for expected in (3, 4):
        world.run(graph, None, config=before)
        assert "booked" in world.model.block().partition("CHANGES")[2]
        assert Standing(expected, "", ["succeeded"] * expected, 3) == world.standing()


def test_updated_by_hand(world: World):
    """A state that was set by hand and run from there takes the lease as any other run."""
    graph = world.bound()
    world.run(graph)
    graph.update_state(config(), {"messages": [("user", "And now?")]}, as_node="__start__")
    world.change(stage="booked")
    world.run(graph, None)
    assert "booked" in world.model.block()
    assert Standing(2, "", ["succeeded"] * 2, 3) == world.standing()


def test_log_is_reset_meanwhile(world: World):
    """W29: a log whose epoch is renewed in the middle of a run keeps the cursor; the run itself stands."""
    world.model.before = lambda: world.log.renew_epoch("w1")
    if world.place.runner is not None:
        world.model.before = lambda: None
        real = world.model._aanswer

        async def answer(messages: list[Any]) -> Any:
            await world.log.arenew_epoch("w1")
            return await real(messages)

        world.model._aanswer = answer  # type: ignore[method-assign]
    world.run(world.bound())
    assert ("", ["succeeded"], 1) == world.standing()[1:]


def test_stopped_by_hand(world: World):
    """C32: a run that somebody stops ends at its next step, and says who asked."""
    graph = world.bound(("next", world.nodes.model(world.model.runnable)))
    told = threading.Event()

    def stop() -> None:
        assert graph.runs.stop("t1", "an operator") is True
        for _ in range(500):
            if len(world.model.requests) > 1 or told.wait(0.01):
                break
            if any(run.signals._stopped_by for run in runs_of(world)):
                told.set()

    world.model.before = stop
    with pytest.raises(RunStopped, match="an operator"):
        world.run(graph)
    assert 1 == len(world.model.requests)
    redelivered(world, "sync", ["stopped"])
    assert graph.runs.stop("t1", "an operator") is False


@pytest.mark.parametrize("mode", ["async"], indirect=True)
def test_interrupted_by_a_newer_message(place: Place, world: World, monkeypatch: pytest.MonkeyPatch):
    """C08: a run on an event loop that is in the middle of its model is cancelled, and the newer one answers."""
    monkeypatch.setattr(signals, "GRACE_SECONDS", 0.2)
    graph, called = world.bound(on_busy="interrupt", lease_seconds=1), asyncio.Event()

    async def forever() -> None:
        called.set()
        await asyncio.sleep(60)

    async def both() -> BaseException:
        world.model.abefore = forever
        first = asyncio.ensure_future(graph.ainvoke(QUESTION, config(), context=CONTEXT))
        await called.wait()
        world.model.abefore = lambda: asyncio.sleep(0)
        await graph.ainvoke({"messages": [("user", "And now?")]}, config(), context=CONTEXT)
        (ended,) = await asyncio.gather(first, return_exceptions=True)
        return ended

    assert isinstance(place.runner.run(both()), RunStopped)
    assert Standing(2, "", ["stopped", "succeeded"], 2) == world.standing()
    assert TOLD in world.model.block()
    said = [message.content for message in graph.get_state(config()).values["messages"]]
    assert ["When do I move in?", "And now?", "fine"] == said


def runs_of(world: World) -> list[Any]:
    """List the runs that are renewed."""
    return list(heartbeat_of(world.log.database)._runs.values())


def test_taken_over(world: World):
    """I8: a run whose thread was taken over meanwhile fails, confirms nothing, and is written down as lost."""

    def take_over() -> None:
        world.client.rows("UPDATE abreast_thread_lease SET fence = fence + 1, run_id = 'later'")

    world.model.before = take_over
    with pytest.raises(LeaseLost):
        world.run(world.bound())
    assert Standing(2, "later", ["lost"], 1) == world.standing()
