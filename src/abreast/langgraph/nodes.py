"""Give the model of a graph made by hand the current state, and move the cursor when the graph is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from langchain_core.runnables import RunnableLambda

from abreast.errors import InvalidInput
from abreast.langgraph import wiring
from abreast.langgraph.ambient import ambient
from abreast.langgraph.arguments import (
    came,
    check_choice,
    check_function,
    check_functions,
    check_log,
    check_text,
    check_whole,
)
from abreast.langgraph.node_calls import NodeCall, is_of_this_run, named_thread
from abreast.langgraph.readings import Reading, Readings, awrote, placed, wrote
from abreast.langgraph.state import (
    DELIVERED,
    NOMINATED,
    delivered,
    messages_of,
    nominated,
    noted,
    passed_over,
    turn_of,
    value_of,
)
from abreast.model.batch import LIMIT, Batch
from abreast.model.entity import Entity
from abreast.prompt import PLACEMENTS, Placement
from abreast.prompt import render as write_block
from abreast.runs import retries

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable, RunnableConfig
    from langgraph.types import StateSnapshot

    from abreast.langgraph.state import Graph
    from abreast.model.cursor import Cursor
    from abreast.workspace_log import WorkspaceLog

Render = Callable[[Batch, Sequence[Entity]], str]

_OF_ONE_RUN: Final = ("checkpoint_id", "checkpoint_ns", "checkpoint_map")


@dataclass(frozen=True, slots=True)
class Request:
    """
    What one call of the model is given.

    Attributes:
        messages: The state's messages and the block, for this call only: store the answer, never these.
        batch: The rows and changes the block was written from; keep it out of the graph's state too.
        block: The block as it stands among the messages.
        delivered: The state's update that has to be returned together with the answer.
    """

    messages: list[Any]
    batch: Batch
    block: str
    delivered: dict[str, Any]


class WorkspaceNodes:
    """
    Nodes and functions that keep a graph made by hand abreast of its workspace.

    Each run reads rows, HEAD and changes once, in front of its first model call, and every call of the run is
    given the same block; on resume, and once a tool has written with this thread as `source_thread_id`, it is
    read again. The block is part of the request alone: no checkpoint holds it. The cursor moves when a graph made
    by `bind` has returned, or else when `confirm_finished` finds that the graph has finished, so whatever fails or
    waits before is given the same changes again. Of a bound graph that fails on them three times the next run is
    given half as many, after six times one and counts of the rest.

    The workspace is named in the runtime context or under `configurable` as `workspace_id`, the thread under
    `configurable` as `thread_id`. One object serves any number of threads and runs, sync and async.

    Args:
        scope: Tells several agents of one thread apart, each with a cursor of its own.
        viewer: Gives the viewer, whom the entities' `where` and `visible` see, from the runtime context.
        limit: Most lines of changes in one run.
        placement: Where the block stands; see `abreast.prompt.place`.
        render: Writes the block, for example in another language.
        messages_key: The state's key that holds the messages.

    Raises:
        InvalidInput: An argument is of another type, unknown or out of range.

    Example:
        >>> class State(CursorState):
        ...     messages: Annotated[list[AnyMessage], add_messages]
        >>> nodes = WorkspaceNodes(log)
        >>> builder = StateGraph(State)
        >>> _ = builder.add_node("model", nodes.model(model)).add_edge(START, "model")
        >>> _ = builder.add_node("nominate", nodes.nominate).add_edge("model", "nominate")
        >>> graph = builder.compile(checkpointer=InMemorySaver())
        >>> config = {"configurable": {"thread_id": "t1", "workspace_id": "w1"}}
        >>> result = graph.invoke({"messages": [("user", "When do I move in?")]}, config)
        >>> nodes.confirm_finished(graph, config)
        True
    """

    def __init__(
        self,
        log: WorkspaceLog,
        *,
        scope: str = "",
        viewer: Callable[[Any], object] | None = None,
        limit: int = LIMIT,
        placement: Placement = "before",
        render: Render = write_block,
        messages_key: str = "messages",
    ) -> None:
        check_log(log)
        check_text("scope", scope, empty=True)
        check_functions(viewer=viewer)
        check_whole("limit", limit)
        check_choice("placement", placement, PLACEMENTS)
        check_function("render", render)
        check_text("messages_key", messages_key)
        self._log = log
        self._scope = scope
        self._viewer = viewer
        self._limit = limit
        self._placement: Placement = placement
        self._render = render
        self._messages_key = messages_key
        self._readings = Readings()
        self._nominations = wiring.Nominations()

    def model(self, model: Runnable[Any, Any]) -> RunnableLambda[Any, dict[str, Any]]:
        """
        Make the node that calls a model with the current state and stores its answer.

        Where the model fails nothing is stored, and the next call is given the same changes.

        Args:
            model: A chat model, with its tools bound, or whatever else takes messages and gives one.

        Raises:
            InvalidInput: The model is none; later, the call names no workspace or no thread, or the graph's state is
                no `CursorState`. Further errors as `request` raises.

        Example:
            >>> answering = StateGraph(State).add_node("model", nodes.model(model))
        """
        if not (callable(getattr(model, "invoke", None)) and callable(getattr(model, "ainvoke", None))):
            raise InvalidInput("model", f"is {came(model)}, no model", "pass a chat model, or a RunnableLambda")

        def call(state: Any) -> dict[str, Any]:
            request = self.request(state)
            return self._answered(request, model.invoke(request.messages))

        async def acall(state: Any) -> dict[str, Any]:
            request = await self.arequest(state)
            return self._answered(request, await model.ainvoke(request.messages))

        node = RunnableLambda(call, acall, name="model")
        self._nominations.calls_model(node)
        return node

    def request(self, state: object, *, workspace_id: str | None = None, thread_id: str | None = None) -> Request:
        """
        Put the current state into the messages of one request; for nodes that call their model themselves.

        Neither the state nor its messages are changed. Within a run every call gives the same block.

        Args:
            state: The graph's state, or a list of messages.
            workspace_id: Where neither the runtime context nor the configuration names it.
            thread_id: Where the configuration does not name it.

        Raises:
            InvalidInput: No workspace or thread is named, or by something that is no id; the state holds no messages,
                or the graph's state is no `CursorState`.
            WorkspaceNotFound: The workspace has neither a row nor a log.
            ThreadBoundElsewhere: The thread belongs to another workspace.
            ReplicaBehind: The database has not reached the cursor.
            DatabaseUnavailable: The database is away or stayed busy.
            RunStopped: Somebody asked the run of the bound graph to stop.
            LeaseLost: A later run has taken the thread over.

        Example:
            >>> def call_model(state: State) -> dict:
            ...     request = nodes.request(state)
            ...     return {"messages": [model.invoke(request.messages)], **request.delivered}
        """
        call = self._call(state, workspace_id, thread_id)
        reading = self._readings.get(call.run, call.turn)
        if reading is None or wrote(self._log, reading, call.messages):
            batch = retries.read(self._log, call.thread, self._wanted(call), call.failures)
            reading = self._kept(call, batch, reading)
        return self._request(call, reading)

    async def arequest(
        self, state: object, *, workspace_id: str | None = None, thread_id: str | None = None
    ) -> Request:
        """Async twin of `request`."""
        call = self._call(state, workspace_id, thread_id)
        reading = self._readings.get(call.run, call.turn)
        if reading is None or await awrote(self._log, reading, call.messages):
            batch = await retries.aread(self._log, call.thread, self._wanted(call), call.failures)
            reading = self._kept(call, batch, reading)
        return self._request(call, reading)

    def nominate(self, state: object) -> dict[str, Any]:
        """
        Nominate the cursor for what this run's model was given: the last node of a graph, sync or async.

        A node before it that checks the answer, and raises or leads past it, keeps the cursor where it is.
        What was given in an earlier run is nominated only where this run goes on with it, in any process: the
        graph stopped at an interrupt or an error, and the question is still the same. Once the graph has
        finished, an answer that was not nominated stays refused: a later run, also one without a new message,
        nominates nothing unless it calls the model itself, and makes void what an earlier run has nominated.

        Raises:
            InvalidInput: The graph's state is no `CursorState`, or holds something else under abreast's keys.

        Example:
            >>> ending = StateGraph(State).add_node("nominate", nodes.nominate)
        """
        around = ambient()
        self._nominations.seen = True
        wiring.check_keeps_cursor(around, state)
        given, before = (noted(state, key, self._scope) for key in (DELIVERED, NOMINATED))
        turn = turn_of(messages_of(state, self._messages_key))
        if given is not None and is_of_this_run(given, around, turn):
            if around.bound is not None:
                around.bound.nominated[self._scope] = given.cursor
            return nominated(given, turn)
        return {} if before is None else passed_over(before)

    def confirm_finished(self, graph: Graph, config: RunnableConfig) -> bool:
        """
        Move the cursor to what was nominated, if the graph has finished; call it when `invoke` has returned.

        Nothing moves while a node is left to run, an interrupt waits or an error stands in the checkpoint.
        Safe to repeat, and for a graph that nominated nothing.

        Args:
            graph: The compiled graph, with its checkpointer.
            config: The config of the run.

        Returns:
            Whether the cursor moved.

        Raises:
            InvalidInput: The config names no thread, the graph has no checkpointer or no node that can nominate, or
                its state is no `CursorState` or holds something else under abreast's keys.
            CursorRefused: The log was reset meanwhile. The answer stands; the next run is told what it has to know.
            DatabaseUnavailable: The database is away or stayed busy; the next run is given the same changes.

        Example:
            >>> result = graph.invoke({"messages": [("user", "And now?")]}, config)
            >>> nodes.confirm_finished(graph, config)
            False
        """
        self._check_graph(graph, config)
        cursor = self._finished(graph.get_state(_newest(config)))
        return cursor is not None and self._log.confirm(cursor)

    async def aconfirm_finished(self, graph: Graph, config: RunnableConfig) -> bool:
        """Async twin of `confirm_finished`."""
        self._check_graph(graph, config)
        cursor = self._finished(await graph.aget_state(_newest(config)))
        return cursor is not None and await self._log.aconfirm(cursor)

    def confirm_result(self, result: object) -> bool:
        """
        Move the cursor to what was nominated in a run without checkpointer; raises as `confirm_finished`.

        Args:
            result: What `invoke` returned.

        Returns:
            Whether the cursor moved.

        Example:
            >>> graph = builder.compile()
            >>> result = graph.invoke({"messages": [("user", "When do I move in?")]}, config)
            >>> nodes.confirm_result(result)
            False
        """
        wiring.check_result(result)
        cursor = self._nominated(result)
        return cursor is not None and self._log.confirm(cursor)

    async def aconfirm_result(self, result: object) -> bool:
        """Async twin of `confirm_result`."""
        wiring.check_result(result)
        cursor = self._nominated(result)
        return cursor is not None and await self._log.aconfirm(cursor)

    def _call(self, state: object, workspace_id: str | None, thread_id: str | None) -> NodeCall:
        for name, value in (("workspace_id", workspace_id), ("thread_id", thread_id)):
            if value is not None:
                check_text(name, value)
        around = ambient()
        if around.bound is not None:
            around.bound.check()
        messages = messages_of(state, self._messages_key)
        wiring.check_keeps_cursor(around, state)
        nomination = noted(state, NOMINATED, self._scope)
        given = noted(state, DELIVERED, self._scope)
        thread = named_thread(around, workspace_id, thread_id, nomination or given)
        if nomination is None and given is not None and given.ended:
            self._nominations.tell_missing(thread[1])
        return NodeCall.of(around, thread, state, messages, nomination)

    def _wanted(self, call: NodeCall) -> dict[str, Any]:
        return {
            "scope": self._scope,
            "checkpoint_cursor": call.cursor,
            "has_history": call.has_history,
            "viewer": self._viewer and self._viewer(call.around.context),
            "limit": self._limit,
        }

    def _kept(self, call: NodeCall, batch: Batch, instead_of: Reading | None) -> Reading:
        block = self._render(batch, self._log.entities)
        reading = Reading.of(batch, block, call.messages, call.turn, run=call.around.run)
        kept = self._readings.keep(call.run, reading, instead_of=instead_of)
        if call.around.bound is not None:
            call.around.bound.batches[self._scope] = kept.batch
        return kept

    def _request(self, call: NodeCall, reading: Reading) -> Request:
        messages = placed(call.messages, reading.block, self._placement, reading.known(call.messages))
        note = delivered(reading.batch, call.turn, call.around.run_name)
        return Request(messages, reading.batch, reading.block, note)

    def _answered(self, request: Request, answer: object) -> dict[str, Any]:
        return {self._messages_key: [answer], **request.delivered}

    def _check_graph(self, graph: Graph, config: RunnableConfig) -> None:
        wiring.check_checkpointer(graph, config)
        self._nominations.check_graph(graph)

    def _finished(self, state: StateSnapshot) -> Cursor | None:
        wiring.check_checkpoint(state.values)
        if state.next or state.interrupts or any(task.error for task in state.tasks):
            return None
        return self._nominated(state.values)

    def _nominated(self, state: object) -> Cursor | None:
        nomination = noted(state, NOMINATED, self._scope)
        given = noted(state, DELIVERED, self._scope)
        if value_of(state, "__interrupt__"):
            return None
        if nomination is None:
            if given is not None:
                self._nominations.tell_missing(given.cursor.thread_id)
            return None
        self._readings.drop(nomination.cursor.thread_id)
        # What a failed run had nominated is not for a later one to confirm, which was given something of its own.
        is_last = given is None or given.run == nomination.run
        is_now = nomination.turn == turn_of(messages_of(state, self._messages_key))
        return nomination.cursor if is_last and is_now else None


def _newest(config: RunnableConfig) -> RunnableConfig:
    """Name the thread alone: a config that a fork began with names the checkpoint it began from."""
    configurable = config.get("configurable", {})
    if not configurable.get("thread_id"):
        raise InvalidInput("thread_id", "is missing", 'pass config={"configurable": {"thread_id": …}}')
    of_thread = {key: value for key, value in configurable.items() if key not in _OF_ONE_RUN}
    return cast("RunnableConfig", {"configurable": of_thread})
