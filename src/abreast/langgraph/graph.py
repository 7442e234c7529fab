"""A compiled graph whose runs hold their thread's lease and confirm what they nominated."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from langchain_core.runnables.config import ensure_config, merge_configs
from langgraph.graph.state import CompiledStateGraph

from abreast.errors import AbreastError, InvalidInput
from abreast.runs import RUN_KEY, Runs, current_run

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from abreast.operations.runs import Outcome
    from abreast.runs import OnBusy, Run
    from abreast.workspace_log import WorkspaceLog

_log = logging.getLogger(__name__)
_RUNTIME, _DURABILITY = "__pregel_runtime", "__pregel_durability"


def bind(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    log: WorkspaceLog,
    *,
    on_busy: OnBusy = "reject",
    busy_timeout: float = 60.0,
    lease_seconds: float = 30.0,
) -> BoundGraph:
    """
    Let a compiled graph run its threads one at a time, and move their cursors after success.

    Each run takes the thread's lease before its input is stored and gives it back when it ends, however it ends:
    invoke, stream, batch, events, as a node, in a chain, inside another runnable. What the run nominated is
    confirmed once the graph has returned without an error, after its last checkpoint. A graph inside a bound run
    of the same thread shares its lease. The durability is `"sync"` unless the caller chose another.

    Args:
        on_busy: What happens to a run of a busy thread: `"reject"` raises `ThreadBusy`, `"queue"` waits in line over
            all processes, `"interrupt"` asks the running one to stop and waits.
        busy_timeout: Seconds to wait before `ThreadBusy`.
        lease_seconds: How long the lease of a process that died holds.

    Raises:
        InvalidInput: An argument is out of range, or the graph is bound already.

    Example:
        >>> agent = bind(create_agent(model, tools, middleware=[WorkspaceSyncMiddleware(log)]), log)
    """
    if isinstance(graph, BoundGraph):
        raise InvalidInput("graph", "is bound already", "pass the graph that compile() or create_agent() gave")
    runs = Runs(log, on_busy=on_busy, busy_timeout=busy_timeout, lease_seconds=lease_seconds)
    attributes = {name: value for name, value in vars(graph).items() if name != "__orig_class__"}
    return BoundGraph(**attributes, runs=runs)


@dataclass(frozen=True)
class _Call:
    """One call of a bound graph."""

    config: RunnableConfig
    thread_id: str
    workspace_id: str | None
    inside: Run | None

    def with_run(self, run: Run) -> RunnableConfig:
        """Give the configuration that tells every hook and saver call which run it belongs to."""
        return merge_configs(self.config, {"configurable": {RUN_KEY: run.key.run_id}})


class BoundGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """
    A compiled graph made by `bind`.

    Every way of calling a graph ends in `stream` or `astream`, so these two are where a run begins and ends.
    """

    def __init__(self, *, runs: Runs, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.runs = runs

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
            InvalidInput: No thread is named, or no workspace for a new one.
        """
        call = self._call(config, context)
        if call.inside is not None:
            yield from super().stream(input, config, context=context, durability=durability, **options)
            return
        run = self.runs.enter(call.thread_id, call.workspace_id)
        outcome: Outcome = "failed"
        try:
            chosen = self._durability(call, durability)
            yield from super().stream(input, call.with_run(run), context=context, durability=chosen, **options)
            outcome = "succeeded"
        except GeneratorExit:
            outcome = "stopped"
            raise
        finally:
            with _quiet_after(outcome):
                self.runs.leave(run, outcome)

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
        call = self._call(config, context)
        if call.inside is not None:
            inner = super().astream(input, config, context=context, durability=durability, **options)
            async with aclosing(cast("AsyncGenerator[Any, None]", inner)) as parts:
                async for part in parts:
                    yield part
            return
        run = await self.runs.aenter(call.thread_id, call.workspace_id)
        outcome: Outcome = "failed"
        try:
            chosen = self._durability(call, durability)
            inner = super().astream(input, call.with_run(run), context=context, durability=chosen, **options)
            async with aclosing(cast("AsyncGenerator[Any, None]", inner)) as parts:
                async for part in parts:
                    yield part
            outcome = "succeeded"
        except (GeneratorExit, asyncio.CancelledError):
            outcome = "stopped"
            raise
        finally:
            with _quiet_after(outcome):
                await asyncio.shield(self.runs.aleave(run, outcome))

    def _call(self, config: RunnableConfig | None, context: Any) -> _Call:
        """Read who is called; the surrounding run's configuration counts where the caller names nothing."""
        configurable = self._configurable(config)
        thread_id = configurable.get("thread_id")
        if thread_id is None:
            raise InvalidInput(
                "thread_id", "is missing", 'pass config={"configurable": {"thread_id": "…"}}: a run belongs to a thread'
            )
        inside = current_run(str(configurable.get(RUN_KEY, "")))
        if inside is not None and (inside.ended or inside.key.thread_id != str(thread_id)):
            inside = None
        return _Call(config or {}, str(thread_id), _workspace(context, configurable), inside)

    def _configurable(self, config: RunnableConfig | None) -> Mapping[str, Any]:
        return merge_configs(ensure_config(), self.config, config).get("configurable", {})

    def _durability(self, call: _Call, chosen: Any) -> Any:
        """
        Choose `"sync"` where the caller did not choose.

        With LangGraph's default a conflict surfaces after the next tool has run.
        """
        given = self._configurable(call.config).get(_DURABILITY)
        saves = bool(self.checkpointer)
        return "sync" if saves and chosen is None and given is None else chosen


def _workspace(context: Any, configurable: Mapping[str, Any]) -> str | None:
    surrounding = getattr(configurable.get(_RUNTIME), "context", None)
    for place in (context, surrounding, configurable):
        found = place.get("workspace_id") if isinstance(place, Mapping) else getattr(place, "workspace_id", None)
        if found is not None:
            return str(found)
    return None


@contextmanager
def _quiet_after(outcome: Outcome) -> Iterator[None]:
    """Let no failure of leaving take the place of the run's own error; the lease runs out by itself."""
    try:
        yield
    except AbreastError as error:
        if outcome == "succeeded":
            raise
        _log.warning("a run that had ended could not be closed: %s", error)
