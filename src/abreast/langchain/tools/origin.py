"""Where a tool's write comes from: its run, its call, and who it acts for."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage

from abreast.errors import InvalidInput
from abreast.langchain.calls import MUTATION, agent_name, run_of
from abreast.langgraph.arguments import check_kind, check_log
from abreast.langgraph.state import value_of
from abreast.model.event import Actor
from abreast.sql.values import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from abreast.runs import Run
    from abreast.workspace_log import WorkspaceLog

UNNAMED_AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Origin:
    """
    One call of a tool.

    Attributes:
        run: The run it is part of.
        context: The application's runtime context.
        actor: The agent, and the person it acts for.
        message_id: The assistant's message that holds the call.
        tool_call_id: The call in it; some providers use the same ids again in other messages.
    """

    run: Run
    context: Any
    actor: Actor
    message_id: str
    tool_call_id: str

    @classmethod
    def of(cls, runtime: ToolRuntime[Any, Any], tool: str, agent: str | None) -> Origin:
        """
        Read where a call comes from, and make sure that its run may go on.

        Raises:
            NotBound: The graph was not made by `bind`.
            LeaseLost: A later run has taken the thread over, or the run has ended.
            RunStopped: A newer message wants the thread.
            InvalidInput: No message of the assistant holds the call.
        """
        configurable: Mapping[str, Any] = runtime.config.get("configurable", {})
        run = run_of(configurable, tool)
        run.check()
        user = value_of(runtime.context, "user_id")
        name = agent or agent_name() or UNNAMED_AGENT
        actor = Actor.agent(name, on_behalf_of=None if user is None else str(user))
        call_id = str(runtime.tool_call_id)
        return cls(run, runtime.context, actor, _message_id(runtime.state, call_id), call_id)

    def mutation_id(self, key: bytes, payload: object) -> str:
        """
        Derive the idempotency key of what the call writes.

        A repetition of the call after a crash, a resume or a replay gives the same; another conversation, message
        or call gives another, and so does a fork that replays this call with other arguments.

        Args:
            key: Secret of the installation: a plain hash of a short value is as good as the value.
            payload: What is written, as JSON.
        """
        parts = [self.run.key.thread_id, self.message_id, self.tool_call_id, payload]
        return hmac.new(key, canonical(parts).encode(), sha256).hexdigest()

    def write_options(self, mutation_id: str) -> dict[str, Any]:
        """Give the arguments of `log.write` besides the workspace."""
        return {
            "actor": self.actor,
            MUTATION: mutation_id,
            "source_thread_id": self.run.key.thread_id,
            "run_id": self.run.key.run_id,
            "lease": self.run.lease,
        }


def _message_id(state: object, tool_call_id: str) -> str:
    messages = cast("Sequence[Any]", value_of(state, "messages") or ())
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(call["id"] == tool_call_id for call in message.tool_calls):
            return str(message.id)
    raise InvalidInput(
        "tool call", "stands in no message of the agent's state", "call the tool from an agent made by create_agent"
    )


def write_options(log: WorkspaceLog, runtime: ToolRuntime[Any, Any], payload: object = None) -> dict[str, Any]:
    """
    Give what `log.write` needs besides the workspace, for the application's own tools.

    The write then takes effect once, however often the call is repeated, only while its run holds the thread, and
    is told as the agent's.

    Args:
        payload: What is written, as JSON; tells two writes of one call apart.

    Raises:
        InvalidInput: The log or the runtime is none, or the payload is no JSON.
        NotBound: The graph was not made by `bind`.
        LeaseLost: A later run has taken the thread over, or the run has ended.
        RunStopped: A newer message wants the thread.
        DatabaseUnavailable: The database is away or stayed busy.
        SyncCallOnAsyncDatabase: The URL names an async driver: use `awrite_options`.

    Example:
        >>> @tool
        ... def book(date: str, runtime: ToolRuntime[Any, Any]) -> str:
        ...     "Book the move."
        ...     with log.write("w1", **write_options(log, runtime, date)) as write:
        ...         write.update("move", "m1", {"move_in_date": date}, expected_version="any")
        ...     return "booked"
    """
    _check(log, runtime, payload)
    steps = log.steps
    if steps.secret is None:
        steps.secret = log.database.run(steps.payload_key)
    return _options(steps.secret, runtime, payload)


async def awrite_options(log: WorkspaceLog, runtime: ToolRuntime[Any, Any], payload: object = None) -> dict[str, Any]:
    """Async twin of `write_options`, for `log.awrite`."""
    _check(log, runtime, payload)
    steps = log.steps
    if steps.secret is None:
        steps.secret = await log.database.arun(steps.payload_key)
    return _options(steps.secret, runtime, payload)


def _check(log: object, runtime: object, payload: object) -> None:
    check_log(log)
    way_out = "declare `runtime: ToolRuntime[Any, Any]` among the tool's arguments, and pass it on"
    check_kind("runtime", runtime, ToolRuntime, "ToolRuntime", way_out)
    try:
        canonical(payload)
        problem = None
    except (TypeError, ValueError, RecursionError):
        problem = type(payload).__name__
    if problem is not None:
        raise InvalidInput(
            "payload", f"is {problem} that does not fit JSON", "pass texts, numbers, lists and dicts of them"
        )


def _options(secret: bytes, runtime: ToolRuntime[Any, Any], payload: object) -> dict[str, Any]:
    origin = Origin.of(runtime, "write_options", None)
    return origin.write_options(origin.mutation_id(secret, payload))
