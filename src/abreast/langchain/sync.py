"""Give an agent's model the current state and what changed, and nominate the cursor when the agent is done."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast
from weakref import WeakKeyDictionary

from langchain.agents.middleware import AgentMiddleware, ExtendedModelResponse, ModelResponse
from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime  # noqa: TC002 - LangGraph reads the annotation
from langgraph.types import Command

from abreast.errors import InvalidInput
from abreast.langchain.blocks import READ_ERRORS, check_options, render_options, told, unavailable
from abreast.langchain.calls import GROUNDING, Call, call_of, is_answer, scope_of
from abreast.langchain.requests import with_block, with_metadata
from abreast.langchain.state import SyncState
from abreast.langgraph.ambient import ambient
from abreast.langgraph.arguments import check_choice, check_functions, check_log, check_text, check_whole
from abreast.langgraph.readings import Reading, Readings, RunKey, awrote, wrote
from abreast.langgraph.state import DELIVERED, Note, delivered, nominated, noted, turn_of, withdrawn
from abreast.model.batch import LIMIT, Batch
from abreast.prompt import render, render_unavailable
from abreast.runs import RUN_KEY, Run, current_run, retries

if TYPE_CHECKING:
    from langchain.agents.middleware import ModelRequest

    from abreast.langchain.blocks import BlockOptions, OnReadError
    from abreast.model.batch import Extras
    from abreast.model.cursor import Cursor
    from abreast.prompt import Placement
    from abreast.workspace_log import WorkspaceLog

Accept = Callable[[Any, Any], "bool | Awaitable[bool | None] | None"]
Handler = Callable[["ModelRequest[Any]"], Any]
"""Calls the model, or gives what awaits its answer."""
Nominee = tuple["Cursor", str, "Run | None"]
Refresh = Literal["run", "call"]


class WorkspaceSyncMiddleware(AgentMiddleware[SyncState, Any, Any]):
    """
    Keep an agent abreast of its workspace: current rows, unseen changes, and a cursor that moves after success.

    Each run reads rows, HEAD and changes once, as of one moment, in front of its first model call, and every call
    of the run is given the same block; on resume, and once a tool has written in this thread, it is read again as
    a whole. The block is part of the request alone: no checkpoint, stream or store holds it, and the application's
    system message stays as it is. Each answer carries the revision it is based on, under `"abreast"` in its
    `response_metadata`, and in the metadata of each streamed chunk.

    When the agent is done, the cursor is nominated; the outermost graph made by `bind` confirms it after its last
    checkpoint. Whatever fails, is refused or closed before is given the same changes again; after three failures
    half as many, after six one and counts of the rest.

    Put it last in the list, so that no other middleware trims or rewrites the block, and call the graph that
    `bind(agent, log)` gives. A nested agent has a cursor of its own.

    Args:
        scope: Tells several agents of one thread apart, each with a cursor of its own. A nested agent is told
            apart by where it is nested and by its name.
        placement: Where the block stands; see `abreast.prompt.place`. None chooses by the model: `"merge"` for
            those that refuse two user messages in a row, else `"before"`.
        refresh: `"run"` gives every call of a run the same block, `"call"` reads before each call.
        extras: `(connection, workspace_id, viewer)` to more values by name, such as pointers to documents or
            sums, read in the snapshot of the rows.
        on_read_error: `"raise"` ends the run before the model is called; `"say_so"` goes on with a block that
            says that the current state could not be read. Such an answer has no grounding, and nominates nothing.
        accept: `(state, runtime)` checks the finished answer before the cursor is nominated, sync or async.
            Where it gives False or raises, nothing is nominated, and the next run is given the same changes.
        viewer: Gives the viewer, whom the entities' `where` and `visible` see, from the runtime context.
        limit: Most lines of changes in one run.
        options: How the block is written: `language`, `names`, `now`, `time_zone`, `max_bytes`, `value_limit`.

    Raises:
        InvalidInput: An argument is of another type, unknown or out of range.

    Example:
        >>> middleware = [WorkspaceSyncMiddleware(log)]
        >>> agent = bind(create_agent(model, middleware=middleware, checkpointer=InMemorySaver()), log)
        >>> result = agent.invoke({"messages": [("user", "When do I move in?")]}, config, context=context)
        >>> result["messages"][-1].response_metadata["abreast"]["revision"]
        1
    """

    state_schema = SyncState

    def __init__(  # noqa: PLR0913 - what a run is given depends on as many things
        self,
        log: WorkspaceLog,
        *,
        scope: str = "",
        placement: Placement | None = None,
        refresh: Refresh = "run",
        extras: Extras | None = None,
        on_read_error: OnReadError = "raise",
        accept: Accept | None = None,
        viewer: Callable[[Any], object] | None = None,
        limit: int = LIMIT,
        **options: Unpack[BlockOptions],
    ) -> None:
        super().__init__()
        check_log(log)
        check_text("scope", scope, empty=True)
        check_choice("refresh", refresh, ("run", "call"))
        check_functions(accept=accept, extras=extras, viewer=viewer)
        check_whole("limit", limit)
        check_options(placement, on_read_error, options)
        self.tools = []
        self._log = log
        self._scope = scope
        self._placement: Placement | None = placement
        self._refresh = refresh
        self._extras = extras
        self._says_so = on_read_error == "say_so"
        self._accept = accept
        self._viewer = viewer
        self._limit = limit
        self._options = options
        self._kept: WeakKeyDictionary[Run, Readings] = WeakKeyDictionary()

    def wrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> ExtendedModelResponse[Any]:
        """
        Call the model with the current state.

        Raises:
            NotBound: The graph was not made by `bind`.
            StateUnavailable: The current state could not be read.
            LeaseLost: A later run has taken the thread over.
            RunStopped: A newer message wants the thread.
        """
        call = self._call(request)
        reading: Reading | None = None
        try:
            reading = self._reading(call, request)
        except READ_ERRORS as error:
            if not self._says_so:
                raise unavailable(call.run.workspace_id, error) from told(error)
        return self._answered(call, reading, handler(self._request(request, reading)))

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> ExtendedModelResponse[Any]:
        """Async twin of `wrap_model_call`."""
        call = self._call(request)
        reading: Reading | None = None
        try:
            reading = await self._areading(call, request)
        except READ_ERRORS as error:
            if not self._says_so:
                raise unavailable(call.run.workspace_id, error) from told(error)
        return self._answered(call, reading, await handler(self._request(request, reading)))

    def after_agent(self, state: SyncState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """
        Check the answer, and nominate the cursor of what the model was given.

        Nothing is nominated where no model was called in this turn, or where the last answer is not the model's:
        another middleware ended the run early, or wrote in its place that it failed.

        Raises:
            InvalidInput: `accept` is async, and the agent was called sync; or it gave something else than yes or no.
        """
        nominee = self._nominee(state)
        if nominee is None:
            return None
        verdict = True if self._accept is None else self._accept(state, runtime)
        if inspect.isawaitable(verdict):
            if inspect.iscoroutine(verdict):
                verdict.close()
            raise InvalidInput("accept", "is async, and the agent was called sync", "call ainvoke() or astream()")
        return self._nominated(nominee, verdict)

    async def aafter_agent(self, state: SyncState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Async twin of `after_agent`."""
        nominee = self._nominee(state)
        if nominee is None:
            return None
        verdict = True if self._accept is None else self._accept(state, runtime)
        return self._nominated(nominee, await verdict if inspect.isawaitable(verdict) else verdict)

    def _call(self, request: ModelRequest[Any]) -> Call:
        call = call_of(cast("dict[str, Any]", request.state), self._scope, request.messages)
        call.run.check()
        return call

    def _reading(self, call: Call, request: ModelRequest[Any]) -> Reading:
        kept = self._readings(call).get(_key(call), call.turn)
        if kept is not None and self._refresh == "run" and not wrote(self._log, kept, call.messages):
            return kept
        batch = retries.read(self._log, _where(call), self._wanted(call), call.run.failures)
        return self._keep(call, request, batch, kept)

    async def _areading(self, call: Call, request: ModelRequest[Any]) -> Reading:
        kept = self._readings(call).get(_key(call), call.turn)
        if kept is not None and self._refresh == "run" and not await awrote(self._log, kept, call.messages):
            return kept
        batch = await retries.aread(self._log, _where(call), self._wanted(call), call.run.failures)
        return self._keep(call, request, batch, kept)

    def _wanted(self, call: Call) -> dict[str, Any]:
        return {
            "scope": call.scope,
            "checkpoint_cursor": call.cursor,
            "has_history": call.has_history,
            "viewer": self._viewer and self._viewer(call.context),
            "limit": self._limit,
            "extras": self._extras,
        }

    def _readings(self, call: Call) -> Readings:
        return self._kept.setdefault(call.run, Readings())

    def _keep(self, call: Call, request: ModelRequest[Any], batch: Batch, instead_of: Reading | None) -> Reading:
        told = batch
        if call.own:
            told = replace(batch, lines=tuple(line for line in batch.lines if not call.own.issuperset(line.mutations)))
        block = render(told, self._log.entities, **render_options(self._options))
        reading = Reading.of(told, block, request.messages, call.turn)
        return self._readings(call).keep(_key(call), reading, instead_of=instead_of)

    def _request(self, request: ModelRequest[Any], reading: Reading | None) -> ModelRequest[Any]:
        if reading is None:
            block = render_unavailable(language=self._options.get("language", "en"))
            return with_block(request, block, self._placement, None)
        placed = with_block(request, reading.block, self._placement, reading.known(request.messages))
        return with_metadata(placed, _grounding(reading.batch))

    def _answered(
        self, call: Call, reading: Reading | None, response: ModelResponse[Any]
    ) -> ExtendedModelResponse[Any]:
        if reading is None:
            call.run.batches.pop(call.scope, None)
            return ExtendedModelResponse(response, Command(update=withdrawn(call.scope)))
        call.run.batches[call.scope] = reading.batch
        based_on = {GROUNDING: _grounding(reading.batch)}
        for message in response.result:
            if isinstance(message, AIMessage):
                message.response_metadata = {**message.response_metadata, **based_on}
                call.run.answers.add(str(message.id))
        return ExtendedModelResponse(response, Command(update=delivered(reading.batch, call.turn, None)))

    def _nominee(self, state: SyncState) -> Nominee | None:
        """Give the cursor of what this turn's model was given last, with the turn and the run."""
        around = ambient()
        given = noted(state, DELIVERED, scope_of(self._scope, around.graph))
        if given is None:
            return None
        cursor, turn = given.cursor, given.turn
        run = current_run(str(around.configurable.get(RUN_KEY, "")))
        messages = cast("list[Any]", state["messages"])
        if not is_answer(messages, frozenset() if run is None else run.answers):
            return None
        now = turn_of(messages)
        # A nested agent can be called several times in one run: only its turn tells the calls apart.
        asked = run is not None and not around.graph and cursor.scope in run.batches
        return (cursor, now, run) if asked or turn == now else None

    def _nominated(self, nominee: Nominee, verdict: object) -> dict[str, Any] | None:
        cursor, turn, run = nominee
        if verdict is not None and not isinstance(verdict, bool):
            raise InvalidInput("accept", f"gave {type(verdict).__name__}", "return True or False")
        if verdict is False:
            if run is not None and not ambient().graph:
                run.refuse()
            return None
        if run is not None:
            run.nominated[cursor.scope] = cursor
        return nominated(Note(cursor, turn, None), turn)


def _where(call: Call) -> tuple[str, str]:
    return call.run.workspace_id, call.run.key.thread_id


def _key(call: Call) -> RunKey:
    return (id(call.run), f"{call.place} {call.scope}", call.run.workspace_id, call.run.key.thread_id)


def _grounding(batch: Batch) -> dict[str, Any]:
    return {"revision": batch.head, "epoch": batch.snapshot.epoch}
