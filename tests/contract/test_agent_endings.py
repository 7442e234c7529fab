"""However a run of an agent ends or begins: cursor, lease and redelivery, in every durability and without a saver."""

import asyncio
import gc
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, ModelCallLimitMiddleware, hook_config
from langchain.agents.structured_output import ToolStrategy
from langchain.tools import tool
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import EmptyInputError, GraphDrained, GraphRecursionError
from langgraph.graph import START, StateGraph
from langgraph.graph.message import MessagesState
from langgraph.runtime import RunControl
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from abreast.errors import DatabaseUnavailable, StateUnavailable
from abreast.langchain import WorkspaceSyncMiddleware, bind
from tests.concurrency.watching import until
from tests.contract.agents import CONFIG, CONTEXT, Talk, begin, calls, update
from tests.contract.bound import Away
from tests.contract.client import Client, Place

TOLD = "from 2026-09-28 to 2026-09-30"
QUESTION: Any = {"messages": [("user", "When?")]}
WAIT = calls(("wait", {}))
CLOSING = "WorkspaceSyncMiddleware.after_agent"
STORED = ["sync", "async", "exit"]


class Standing(NamedTuple):
    """Where the thread stands in the database: who holds it, how its runs ended, what it has processed."""

    holder: str
    outcomes: list[str]
    cursor: int


class Turn:
    """
    One turn of a conversation that has not been told of a change yet.

    Attributes:
        options: How the graph is called.
        stored: Something keeps checkpoints.
    """

    def __init__(self, talk: Talk, stored: str) -> None:
        self.talk = talk
        self.stored = stored != "nowhere"
        self.options: dict[str, Any] = {"durability": stored} if self.stored else {}
        if not self.stored:
            talk.saver = None
        talk.build()
        talk.change(move_in_date="2026-09-30")

    def ask(self, *answers: Any, **options: Any) -> None:
        """Ask, with what the model says."""
        self.talk.model.answers[:] = answers
        self.talk.run(QUESTION, **{**self.options, **options})

    def fails(self, error: type[BaseException], *answers: Any, **options: Any) -> None:
        """Ask, and have an error."""
        with pytest.raises(error):
            self.ask(*answers, **options)

    def standing(self) -> Standing:
        """Read where the thread stands, past the library."""
        rows = self.talk.client.rows
        ((holder,),) = rows("SELECT run_id FROM abreast_thread_lease WHERE thread_id = 't1'")
        outcomes = rows("SELECT outcome FROM abreast_run WHERE thread_id = 't1' ORDER BY fence")
        return Standing(holder, [outcome for (outcome,) in outcomes][1:], self.talk.cursor())

    def goes_on(self, outcomes: list[str], *, told: bool = True) -> None:
        """Make sure that the thread is free, and that the next turn is given the change again, or not."""
        assert Standing("", outcomes, 1 if told else 2) == self.standing()
        self.talk.build(on_interrupted="cancel")
        self.talk.model.answers.clear()
        self.talk.run({"messages": [("user", "And now?")]}, **self.options)
        assert told is (TOLD in self.talk.model.block())
        assert Standing("", [*outcomes, "succeeded"], 2) == self.standing()


@pytest.fixture(params=[*STORED, "nowhere"])
def turn(place: Place, client: Client, request: pytest.FixtureRequest) -> Turn:
    """Give a turn, with checkpoints in each durability, and without any."""
    return Turn(begin(place, client), request.param)


@pytest.fixture(params=STORED)
def stored(place: Place, client: Client, request: pytest.FixtureRequest) -> Turn:
    """Give a turn whose checkpoints are kept."""
    return Turn(begin(place, client), request.param)


class Answer(BaseModel):
    """A structured answer."""

    date: str


class Hook(AgentMiddleware):
    """Does something after the agent, or around each of its steps."""

    def __init__(self, where: str, deed: Callable[[], Any]) -> None:
        super().__init__()
        self.where = where
        self.deed = deed

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002 - LangChain's signature
        """Do it first."""
        return self.deed() if self.where == "before_agent" else None

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002 - LangChain's signature
        """Do it before each model call."""
        return self.deed() if self.where == "before_model" else None

    @hook_config(can_jump_to=["end"])
    def after_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002 - LangChain's signature
        """Do it after each model call."""
        return self.deed() if self.where == "after_model" else None

    def after_agent(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002 - LangChain's signature
        """Do it last."""
        return self.deed() if self.where == "after_agent" else None


def to_the_end() -> dict[str, Any]:
    """Jump."""
    return {"jump_to": "end"}


def away(*_: Any, **__: Any) -> Any:
    """Fail as a service does."""
    raise ConnectionError("away")


def refuses() -> None:
    """Fail as a check does."""
    raise ValueError("no")


def tool_that(deed: Callable[[], Any], **options: Any) -> Any:
    """Give the tool `wait`, which does something."""

    @tool(**options)
    def wait() -> Any:
        """Wait."""
        return deed()

    return wait


# --- endings that count --------------------------------------------------------------------------------------------


def structured(turn: Turn, *dates: Any) -> None:
    """Answer with structured output."""
    turn.talk.build(response_format=ToolStrategy(Answer))
    turn.ask(*[calls(("Answer", {"date": date} if date else {"when": 1})) for date in dates])


def limited(turn: Turn) -> None:
    """Run into a limit that ends the agent with words that are not the model's."""
    limit = ModelCallLimitMiddleware(run_limit=1, exit_behavior="end")
    turn.talk.build([tool_that(lambda: "x")], middleware=[limit])
    turn.ask(WAIT)


def goes_to_the_end(turn: Turn) -> None:
    """Let a tool lead to the end."""
    turn.talk.build([tool_that(lambda: Command(goto="__end__"))])
    turn.ask(WAIT)


def returns_directly(turn: Turn) -> None:
    """Let a tool's answer be the agent's."""
    turn.talk.build([tool_that(lambda: "x", return_direct=True)])
    turn.ask(WAIT)


def jumps_after_the_model(turn: Turn) -> None:
    """Jump to the end once the model has answered."""
    turn.talk.build(middleware=[Hook("after_model", to_the_end)])
    turn.ask()


def accepted(turn: Turn) -> None:
    """Let the application check the answer."""
    turn.talk.build(accept=lambda _state, _runtime: True)
    turn.ask()


GOOD: dict[str, Callable[[Turn], None]] = {
    "normal": lambda turn: turn.ask(),
    "accepted": accepted,
    "direct": returns_directly,
    "structured": lambda turn: structured(turn, "2026-09-30"),
    "structured, retried": lambda turn: structured(turn, None, "2026-09-30"),
    "goto end": goes_to_the_end,
    "jump after the model": jumps_after_the_model,
}


@pytest.mark.parametrize("ending", GOOD)
def test_good_endings(turn: Turn, ending: str):
    """I3: a run that ends well moves the cursor to what its model was given."""
    GOOD[ending](turn)
    assert TOLD in turn.talk.model.block()
    turn.goes_on(["succeeded"], told=False)


# --- endings that do not count -------------------------------------------------------------------------------------


def tool_fails(turn: Turn) -> None:
    """Let a tool raise."""
    turn.talk.build([tool_that(away)])
    turn.fails(ConnectionError, WAIT)


def too_many_steps(turn: Turn) -> None:
    """Run into the recursion limit."""
    turn.talk.build([tool_that(lambda: "x")])
    turn.fails(GraphRecursionError, WAIT, WAIT, WAIT, config={**CONFIG, "recursion_limit": 3})


def jumps(turn: Turn, where: str) -> None:
    """Jump to the end before any model is called."""
    turn.talk.build(middleware=[Hook(where, to_the_end)])
    before = len(turn.talk.model.requests)
    turn.ask()
    assert before == len(turn.talk.model.requests)


def asks_a_person(turn: Turn) -> None:
    """Ask in a tool."""
    turn.talk.build([tool_that(lambda: interrupt("?"))])
    turn.ask(WAIT)


def waits_for_approval(turn: Turn) -> None:
    """Ask before a tool."""
    turn.talk.build([tool_that(lambda: "x")], middleware=[HumanInTheLoopMiddleware({"wait": True})])
    turn.ask(WAIT)


def structure_fails(turn: Turn) -> None:
    """Answer with a structure that is none, where errors are not mended."""
    turn.talk.build(response_format=ToolStrategy(Answer, handle_errors=False))
    turn.fails(Exception, calls(("Answer", {"when": 1})))


def limit_fails(turn: Turn) -> None:
    """Run into a limit that fails the run."""
    limit = ModelCallLimitMiddleware(run_limit=1, exit_behavior="error")
    turn.talk.build([tool_that(lambda: "x")], middleware=[limit])
    turn.fails(Exception, WAIT)


def fails_behind(turn: Turn) -> None:
    """Fail in another middleware's `after_agent`, which comes after abreast's."""
    turn.talk.build(middleware=[Hook("after_agent", away)])
    turn.fails(ConnectionError)


def fails_ahead(turn: Turn) -> None:
    """Fail in another middleware's `after_agent`, which comes before abreast's."""
    hooks = [WorkspaceSyncMiddleware(turn.talk.client.log), Hook("after_agent", away)]
    agent = create_agent(turn.talk.model, middleware=hooks, checkpointer=turn.talk.saver)
    turn.talk.agent = bind(agent, turn.talk.client.log)
    turn.fails(ConnectionError)


def drained(turn: Turn) -> None:
    """Go away between two steps, as at a deploy."""
    control = RunControl()
    turn.talk.build([tool_that(lambda: control.request_drain("deploy"))])
    turn.fails(GraphDrained, WAIT, control=control)


def refused(turn: Turn) -> None:
    """Let the application not accept the answer."""
    turn.talk.build(accept=lambda _state, _runtime: False)
    turn.ask()


def check_fails(turn: Turn) -> None:
    """Let the application's check raise."""
    turn.talk.build(accept=lambda _state, _runtime: refuses())
    turn.fails(ValueError)


def unread(turn: Turn, **options: Any) -> None:
    """Take the database away from the reader."""
    log = turn.talk.client.log
    with pytest.MonkeyPatch.context() as patched:
        for name in ("read_batch", "aread_batch"):
            patched.setattr(log, name, unavailable)
        turn.talk.build(**options)
        if options:
            turn.ask()
            assert "could not be read" in turn.talk.model.block()
            return
        before = len(turn.talk.model.requests)
        turn.fails(StateUnavailable)
        assert before == len(turn.talk.model.requests)


def unavailable(*_: Any, **__: Any) -> Any:
    """Fail as a database does that is away."""
    raise DatabaseUnavailable("here", "closed")


BAD: dict[str, tuple[str, Callable[[Turn], None]]] = {
    "model fails": ("failed", lambda turn: turn.fails(ValueError, ValueError("no JSON"))),
    "model is away": ("unavailable", lambda turn: turn.fails(ConnectionError, ConnectionError("away"))),
    "tool fails": ("unavailable", tool_fails),
    "recursion limit": ("failed", too_many_steps),
    "jump before the agent": ("succeeded", lambda turn: jumps(turn, "before_agent")),
    "jump before the model": ("succeeded", lambda turn: jumps(turn, "before_model")),
    "interrupt in a tool": ("interrupted", asks_a_person),
    "approval": ("interrupted", waits_for_approval),
    "breakpoint before": ("interrupted", lambda turn: turn.ask(interrupt_before=[CLOSING])),
    "breakpoint after": ("interrupted", lambda turn: turn.ask(interrupt_after=["model"])),
    "structured output fails": ("failed", structure_fails),
    "limit": ("succeeded", limited),
    "limit fails": ("failed", limit_fails),
    "later hook fails": ("unavailable", fails_behind),
    "earlier hook fails": ("unavailable", fails_ahead),
    "drained": ("stopped", drained),
    "refused": ("refused", refused),
    "check fails": ("failed", check_fails),
    "read fails": ("unavailable", unread),
    "read fails and is told": ("succeeded", lambda turn: unread(turn, on_read_error="say_so")),
}


@pytest.mark.parametrize("ending", BAD)
def test_bad_endings(turn: Turn, ending: str):
    """I3 I4: whatever ends the run before its success, the cursor stays, the lease is free, the changes come again."""
    outcome, end = BAD[ending]
    end(turn)
    turn.goes_on([outcome])


def parent_of(turn: Turn, *tools: Any, later: Callable[[], Any] = dict, bound: bool) -> Any:
    """Give a graph that calls the agent in one node, and does something in the next."""
    turn.talk.build(tools, checkpointer=None)
    builder = StateGraph(MessagesState).add_node("agent", turn.talk.agent).add_edge(START, "agent")
    builder.add_node("later", lambda _state: later()).add_edge("agent", "later")
    graph = builder.compile(checkpointer=turn.talk.saver)
    return bind(graph, turn.talk.client.log) if bound else graph


def nested_cursor(turn: Turn) -> int:
    """Say where the agent in the parent's node stands."""
    (found,) = [revision for (_, scope), revision in turn.talk.client.cursors().items() if scope]
    return found


@pytest.mark.parametrize("bound", [True, False], ids=["bound", "unbound"])
def test_later_node_of_the_parent_fails(turn: Turn, bound: bool):
    """I3 I4: a bound parent's failure is the agent's; under another one the agent's own success counts."""
    broken: list[bool] = []
    turn.talk.agent = parent_of(turn, later=lambda: away() if broken else {}, bound=bound)
    turn.ask()
    assert 2 == nested_cursor(turn)
    turn.talk.change(stage="booked")
    broken.append(True)
    turn.fails(ConnectionError)
    ended = ["succeeded", "unavailable" if bound else "succeeded"]
    assert (2 if bound else 3, Standing("", ended, 1)) == (nested_cursor(turn), turn.standing())
    broken.clear()
    turn.ask()
    assert bound is ("booked" in turn.talk.model.block().partition("CHANGES")[2])
    assert 3 == nested_cursor(turn)


@pytest.mark.parametrize("bound", [True, False], ids=["bound", "unbound"])
def test_handoff(turn: Turn, bound: bool):
    """I3 I4: an agent that hands over in the middle of its turn nominates nothing; its parent's run is a success."""
    over = tool_that(lambda: Command(goto="later", graph=Command.PARENT))
    turn.talk.agent = parent_of(turn, over, bound=bound)
    turn.ask()
    turn.talk.change(stage="booked")
    turn.ask(WAIT)
    assert Standing("", ["succeeded", "succeeded" if bound else "stopped"], 1) == turn.standing()
    assert 2 == nested_cursor(turn)
    turn.ask()
    assert "booked" in turn.talk.model.block().partition("CHANGES")[2]
    assert 3 == nested_cursor(turn)


@pytest.mark.parametrize("failing_from", [1, 2, 3])
def test_checkpoint_fails(stored: Turn, failing_from: int):
    """I3 I4: whichever checkpoint cannot be stored, also the last one, nothing is confirmed."""
    stored.talk.saver = Away(1 if stored.options["durability"] == "exit" else failing_from)
    stored.talk.build()
    stored.fails(ConnectionError)
    stored.talk.saver = InMemorySaver()
    stored.goes_on(["unavailable"])


# --- a client that goes away ---------------------------------------------------------------------------------------

SEEN = {"last token": ("messages", 1), "model": ("updates", 1), "after_agent": ("updates", 2)}


@pytest.mark.parametrize("how", ["closed", "collected"])
@pytest.mark.parametrize("seen", SEEN)
def test_s11_client_goes_away(place: Place, turn: Turn, seen: str, how: str):
    """S11 I4: a stream that is left after the last token, the answer, or the nomination confirms nothing."""
    mode, count = SEEN[seen]
    options: dict[str, Any] = {"context": CONTEXT, "stream_mode": [mode], **turn.options}

    async def aleave() -> None:
        parts = turn.talk.agent.astream(QUESTION, CONFIG, **options)
        for _ in range(count):
            await anext(parts)
        if how == "closed":
            await parts.aclose()
            return
        del parts
        gc.collect()
        await asyncio.to_thread(until, lambda: not turn.standing().holder)

    if place.runner is not None:
        place.runner.run(aleave())
    else:
        parts = turn.talk.agent.stream(QUESTION, CONFIG, **options)
        for _ in range(count):
            next(parts)
        if how == "closed":
            parts.close()
        del parts
        gc.collect()
    turn.goes_on(["stopped"])


@pytest.mark.parametrize("mode", ["async"], indirect=True)
@pytest.mark.parametrize("how", ["cancel", "timeout"])
@pytest.mark.parametrize("where", ["model", "tool"])
def test_cancelled(place: Place, turn: Turn, where: str, how: str):
    """I4: a task that is cancelled, or runs out of time, in its model or in its tool."""
    reached = asyncio.Event()

    async def forever() -> None:
        reached.set()
        await asyncio.Event().wait()

    class Slow(AgentMiddleware):
        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            if where == "model":
                await forever()
            return await handler(request)

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            await forever()
            return await handler(request)

    async def call() -> None:
        turn.talk.model.answers[:] = [WAIT]
        task = asyncio.ensure_future(turn.talk.agent.ainvoke(QUESTION, CONFIG, context=CONTEXT, **turn.options))
        await reached.wait()
        if how == "timeout":
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await task
            return
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    turn.talk.build([tool_that(lambda: "x")], middleware=[Slow()])
    place.runner.run(call())
    turn.goes_on(["stopped"])


# --- entries -------------------------------------------------------------------------------------------------------


def test_new_input_while_a_question_is_open(stored: Turn):
    """I4: a new message in the place of an answer is given the same changes, and those since."""
    asks_a_person(stored)
    stored.talk.change(stage="booked")
    stored.talk.build(on_interrupted="cancel")
    stored.ask()
    assert TOLD in stored.talk.model.block()
    assert "booked" in stored.talk.model.block().partition("CHANGES")[2]
    assert Standing("", ["interrupted", "succeeded"], 3) == stored.standing()


def test_new_input_after_a_crash(stored: Turn):
    """I4: so is one after a crash."""
    tool_fails(stored)
    stored.talk.change(stage="booked")
    stored.talk.build()
    stored.ask()
    assert "booked" in stored.talk.model.block().partition("CHANGES")[2]
    assert TOLD in stored.talk.model.block()
    assert Standing("", ["unavailable", "succeeded"], 3) == stored.standing()


@pytest.mark.parametrize("context", [CONTEXT, None])
def test_resume(stored: Turn, context: Any):
    """I3: a resumed run reads anew, also without a context, and counts what its own model was given."""
    asks_a_person(stored)
    stored.talk.change(stage="booked")
    stored.talk.run(Command(resume="yes"), context=context, **stored.options)
    assert 'stage: "booked"' in stored.talk.model.block()
    assert TOLD in stored.talk.model.block()
    assert Standing("", ["interrupted", "succeeded"], 3) == stored.standing()


def test_resume_at_the_end(stored: Turn):
    """I3: a run that goes on behind its answer counts what the model was given, and not what came since."""
    stored.ask(interrupt_after=["model"])
    asked = len(stored.talk.model.requests)
    stored.talk.change(stage="booked")
    stored.talk.run(None, **stored.options)
    assert asked == len(stored.talk.model.requests)
    assert Standing("", ["interrupted", "succeeded"], 2) == stored.standing()
    stored.talk.run({"messages": [("user", "And now?")]}, **stored.options)
    assert TOLD not in stored.talk.model.block()
    assert "booked" in stored.talk.model.block().partition("CHANGES")[2]


@pytest.mark.parametrize("where", ["model", "tool"])
def test_going_on_after_a_crash(stored: Turn, where: str):
    """I4: a run that goes on with None reads anew."""
    broken = [True]
    stored.talk.build([tool_that(lambda: away() if broken else "x")])
    stored.fails(ConnectionError, WAIT if where == "tool" else ConnectionError("away"))
    broken.clear()
    stored.talk.change(stage="booked")
    stored.talk.run(None, **stored.options)
    assert TOLD in stored.talk.model.block()
    assert Standing("", ["unavailable", "succeeded"], 3) == stored.standing()


def test_going_on_without_anything(turn: Turn):
    """I3: going on where nothing is stored fails, and leaves the thread free."""
    if turn.stored:
        turn.talk.saver = InMemorySaver()
        turn.talk.build()
    with pytest.raises(EmptyInputError):
        turn.talk.run(None, **turn.options)
    turn.goes_on(["failed"])


def test_replay(stored: Turn):
    """S12 I3 I4: a replay of a turn is given its changes again; the database's cursor is not lowered."""
    begun = stored.talk.state().config
    stored.ask()
    stored.talk.change(stage="booked")
    stored.ask()
    assert 3 == stored.standing().cursor
    config = begun
    if stored.options["durability"] != "exit":
        config = next(state.config for state in stored.talk.history() if state.next == ("model",))
        stored.talk.run(None, config=config, **stored.options)
    else:
        stored.talk.run(QUESTION, config=config, **stored.options)
    assert "booked" in stored.talk.model.block().partition("CHANGES")[2]
    assert Standing("", ["succeeded"] * 3, 3) == stored.standing()


def test_updated_as_the_user(stored: Turn):
    """I3 I4: a state that was set by hand and run from its beginning is a turn like any other."""
    said = {"messages": [("user", "And now?")]}
    stored.talk.wait(stored.talk.agent.update_state, stored.talk.agent.aupdate_state, CONFIG, said, as_node="__start__")
    stored.talk.run(None, **stored.options)
    assert TOLD in stored.talk.model.block()
    assert Standing("", ["succeeded"], 2) == stored.standing()


def test_updated_as_the_model(stored: Turn):
    """I3: an answer that was written by hand, and which no model gave, counts for nothing."""
    said = {"messages": [("user", "And now?"), AIMessage("On the 28th.")]}
    stored.talk.wait(stored.talk.agent.update_state, stored.talk.agent.aupdate_state, CONFIG, said, as_node="model")
    asked = len(stored.talk.model.requests)
    stored.talk.run(None, **stored.options)
    assert asked == len(stored.talk.model.requests)
    stored.goes_on(["succeeded"])


def test_run_id_that_is_used_again(stored: Turn):
    """I3 I4: LangGraph takes new input under the last run's id for a resume; no model is called, nothing counts."""
    config = {**CONFIG, "metadata": {"run_id": "x"}}
    stored.ask(config=config)
    stored.talk.change(stage="booked")
    asked = len(stored.talk.model.requests)
    stored.ask(config=config)
    assert asked == len(stored.talk.model.requests)
    assert Standing("", ["succeeded"] * 2, 2) == stored.standing()
    stored.ask()
    assert "booked" in stored.talk.model.block().partition("CHANGES")[2]


def test_own_write_before_the_end(stored: Turn):
    """I3 I4: what a run wrote before it failed is told to the next one, with what it was not told itself."""
    stored.fails(ConnectionError, calls(update(2, stage="booked")), ConnectionError("away"))
    stored.talk.build()
    stored.ask()
    assert TOLD in stored.talk.model.block()
    assert Standing("", ["unavailable", "succeeded"], 3) == stored.standing()
