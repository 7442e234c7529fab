"""A compiled graph whose runs hold their thread's lease and confirm what they nominated."""

from __future__ import annotations

from contextlib import aclosing, closing
from typing import TYPE_CHECKING, Any

from langgraph.graph.state import CompiledStateGraph

from abreast.errors import InvalidInput
from abreast.langgraph.arguments import came, check_choice, check_log
from abreast.langgraph.call import has_spoken, read_call
from abreast.langgraph.ending import Ending
from abreast.langgraph.questions import MESSAGES, ON_INTERRUPTED, closes, saver_to_ask, with_results
from abreast.langgraph.state import value_of
from abreast.runs import Runs
from abreast.runs.runs import BUSY_TIMEOUT, LEASE_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from langchain_core.runnables import RunnableConfig

    from abreast.langgraph.call import Call
    from abreast.langgraph.questions import OnInterrupted
    from abreast.runs import OnBusy, Run
    from abreast.workspace_log import WorkspaceLog


def bind(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    log: WorkspaceLog,
    *,
    on_busy: OnBusy = "reject",
    on_interrupted: OnInterrupted = "reject",
    busy_timeout: float = BUSY_TIMEOUT,
    lease_seconds: float = LEASE_SECONDS,
) -> BoundGraph:
    """
    Let a compiled graph run its threads one at a time, and move their cursors after success.

    Each run takes the thread's lease before its input is stored and gives it back when it ends, however it ends:
    invoke, stream, batch, events, as a node, in a chain, inside another runnable. What the run nominated is
    confirmed once the graph has returned without an error, after its last checkpoint. A graph inside a bound run
    of the same thread shares its lease. The durability is `"sync"` unless the caller chose another.

    A batch runs its inputs side by side: one that names a thread twice finds it busy.

    A thread with an open question takes its answer, `Command(resume=…)`. A message is refused, or with
    `on_interrupted="cancel"` closes the question: calls of tools that wait for a decision get a result, before the
    message, that says that they were never executed. `None`, a `Command` that is no answer and an answer with `goto`
    are refused in any case. An input for a checkpoint named by `checkpoint_id` is a branch, and is not looked at.

    With `on_busy="interrupt"` the running run is asked to stop. It raises `RunStopped` at its next model call,
    tool or streamed part; on an event loop it is cancelled if it reaches none within two seconds; a tool that
    runs in a thread is waited for.

    Args:
        on_busy: What happens to a run of a busy thread: `"reject"` raises `ThreadBusy`, `"queue"` waits in line over
            all processes, `"interrupt"` asks the running one to stop and waits.
        on_interrupted: What happens to a message while a question is open: `"reject"` raises `QuestionOpen`,
            `"cancel"` closes the question.
        busy_timeout: Seconds to wait before `ThreadBusy`.
        lease_seconds: How long the lease of a process that died holds.

    Raises:
        InvalidInput: An argument is out of range, or the graph is bound already or of another kind.

    Example:
        >>> agent = bind(create_agent(model, tools, middleware=[WorkspaceSyncMiddleware(log)]), log)
    """
    if type(graph) is not CompiledStateGraph:
        raise InvalidInput(
            "graph",
            "is bound already" if isinstance(graph, BoundGraph) else f"is {came(graph)}, no compiled graph",
            "pass the graph that compile() or create_agent() gave",
        )
    check_log(log)
    check_choice("on_interrupted", on_interrupted, ON_INTERRUPTED)
    runs = Runs(log, on_busy=on_busy, busy_timeout=busy_timeout, lease_seconds=lease_seconds)
    return _with_rest(BoundGraph(runs=runs, on_interrupted=on_interrupted, **_attributes(graph)), graph)


class BoundGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """
    A compiled graph made by `bind`.

    Every way of calling a graph ends in `stream` or `astream`, so these two are where a run begins and ends.
    """

    def __init__(self, *, runs: Runs, on_interrupted: OnInterrupted = "reject", **attributes: Any) -> None:
        super().__init__(**attributes)
        self.runs = runs
        self.on_interrupted: OnInterrupted = on_interrupted

    def copy(self, update: dict[str, Any] | None = None) -> BoundGraph:
        """Copy the graph; the copy is bound as well."""
        return _with_rest(BoundGraph(**{**_attributes(self), **(update or {})}), self)

    def stream(
        self,
        input: Any,  # noqa: A002 - LangGraph's name
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        durability: Any = None,
        **options: Any,
    ) -> Iterator[Any]:
        """
        Run the graph under its thread's lease; everything else is as in LangGraph.

        Raises:
            ThreadBusy: Somebody else runs the thread.
            ThreadBoundElsewhere: The thread belongs to another workspace.
            LeaseLost: A later run has taken the thread over.
            QuestionOpen: A question is open, and the input is not its answer.
            NothingToAnswer: The input is an answer, and no question is open.
            RunStopped: Somebody asked the run to stop.
            DatabaseUnavailable: The database was away. Where the graph had finished its answer is stored, and the
                next run is given the same changes again.
            InvalidInput: No thread is named, or no workspace for a new one.
        """
        call = read_call(self, config, context, self.runs.place)
        run = call.inside.part() if call.inside else self.runs.enter(*call.thread, outer=call.outer)
        ending = Ending(run)
        try:
            with ending.watched():
                input = self._open(call, run, input)  # noqa: A001 - LangGraph's name
                durability, config = call.durability(durability), call.of_run(run, ending)
                plain: Any = super()
                parts = plain.stream(input, config, context=context, durability=durability, **options)
                with closing(parts):
                    for part in parts:
                        with run.signals.paused():
                            yield part
                        run.check()
        finally:
            with ending.quiet():
                if call.inside is None:
                    self.runs.leave(run, ending.outcome)
                else:
                    call.inside.take(run, ending.outcome)

    async def astream(
        self,
        input: Any,  # noqa: A002 - LangGraph's name
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        durability: Any = None,
        **options: Any,
    ) -> AsyncIterator[Any]:
        """Async twin of `stream`."""
        call = read_call(self, config, context, self.runs.place)
        run = call.inside.part() if call.inside else await self.runs.aenter(*call.thread, outer=call.outer)
        ending = Ending(run)
        try:
            with ending.watched():
                input = await self._aopen(call, run, input)  # noqa: A001 - as above
                durability, config = call.durability(durability), call.of_run(run, ending)
                plain: Any = super()
                parts = plain.astream(input, config, context=context, durability=durability, **options)
                async with aclosing(parts):
                    async for part in parts:
                        with run.signals.paused():
                            yield part
                        run.check()
        finally:
            with ending.quiet():
                if call.inside is None:
                    await self.runs.aleave(run, ending.outcome)
                else:
                    call.inside.take(run, ending.outcome)

    def _open(self, call: Call, run: Run, input: Any) -> Any:  # noqa: A002 - LangGraph's name
        """
        Give the input that the graph is called with; sets a new thread's cursor to HEAD before that is stored.

        A thread that holds messages is not new: abreast came to it later, and its answers may be out of date.
        """
        saver = saver_to_ask(call, run, input)
        if saver is None:
            return input
        found = saver.get_tuple(call.of_thread())
        if run.is_first and found is None and not has_spoken(input):
            self.runs.open(run)
        if not closes(found, run, input, self.on_interrupted):
            return input
        return with_results(found, input, value_of(self.get_state(call.of_thread()).values, MESSAGES))

    async def _aopen(self, call: Call, run: Run, input: Any) -> Any:  # noqa: A002 - as above
        saver = saver_to_ask(call, run, input)
        if saver is None:
            return input
        found = await saver.aget_tuple(call.of_thread())
        if run.is_first and found is None and not has_spoken(input):
            await self.runs.aopen(run)
        if not closes(found, run, input, self.on_interrupted):
            return input
        state = await self.aget_state(call.of_thread())
        return with_results(found, input, value_of(state.values, MESSAGES))


def _attributes(graph: CompiledStateGraph[Any, Any, Any, Any]) -> dict[str, Any]:
    return {name: value for name, value in vars(graph).items() if not name.startswith("_")}


def _with_rest(graph: BoundGraph, original: CompiledStateGraph[Any, Any, Any, Any]) -> BoundGraph:
    """Give a graph what its constructor does not take: `compile` sets it afterwards, LangGraph's own copy loses it."""
    rest = {name: value for name, value in vars(original).items() if name.startswith("_")}
    vars(graph).update(rest)
    return graph
