"""Which run, agent and turn a hook or tool belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from langgraph.config import get_config

from abreast.errors import LeaseLost, NotBound
from abreast.langgraph.ambient import ambient
from abreast.langgraph.state import NOMINATED, has_history, noted, turn_of
from abreast.runs import RUN_KEY, current_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abreast.model.cursor import Cursor
    from abreast.runs import Run


@dataclass(frozen=True, slots=True)
class Call:
    """
    One call of one agent's model.

    Attributes:
        run: The run it is part of, of the outermost bound graph.
        scope: Tells the agent from others of the thread.
        place: Names the agent's graph within the run; another one at each invocation of a nested agent.
        context: The application's runtime context.
        turn: Names the user message that is answered.
        cursor: What the checkpoint holds as nominated.
        has_history: The agent has spoken in this conversation before this turn.
        own: Mutations whose success the messages of the request tell.
        messages: All messages of the conversation.
    """

    run: Run
    scope: str
    place: str
    context: Any
    turn: str
    cursor: Cursor | None
    has_history: bool
    own: frozenset[str]
    messages: Sequence[Any]


def call_of(state: Mapping[str, Any], scope: str, shown: Sequence[Any]) -> Call:
    """
    Look around in a model call.

    Args:
        shown: The messages of the request, of which a middleware may have left some out.

    Raises:
        NotBound: Its graph holds no lease.
    """
    around = ambient()
    run = run_of(around.configurable, "WorkspaceSyncMiddleware")
    messages: list[Any] = list(state["messages"])
    own_scope = scope_of(scope, around.graph)
    nomination = noted(state, NOMINATED, own_scope)
    return Call(
        run=run,
        scope=own_scope,
        place=around.graph,
        context=around.context,
        turn=turn_of(messages),
        cursor=None if nomination is None else nomination.cursor,
        has_history=has_history(state, messages),
        own=own_mutations(shown),
        messages=messages,
    )


def run_of(configurable: Mapping[str, Any], what: str) -> Run:
    """
    Find the run that a configuration belongs to.

    Raises:
        NotBound: There is none, or it holds another thread.
        LeaseLost: It has ended, and this is left of it.
    """
    run = current_run(str(configurable.get(RUN_KEY, "")))
    if run is None or run.key.thread_id != str(configurable.get("thread_id")):
        raise NotBound(what)
    if run.ended:
        raise LeaseLost(run.key.thread_id, run.lease.fence)
    return run


def scope_of(given: str, graph: str) -> str:
    """
    Name an agent within its thread: as it was told, and behind the graphs and tools it is nested in.

    The same at each run: ids of tasks and numbers of calls are left out.
    """
    path = [part.partition(":")[0] for part in graph.split("|") if part and not part.isdigit()]
    own = given or (agent_name() if path else "")
    return "/".join(part for part in (*path, own) if part)


def agent_name() -> str:
    """Give the name that the running agent was made with, or nothing."""
    metadata: Mapping[str, Any] = get_config().get("metadata") or {}
    return str(metadata.get("lc_agent_name") or "")


def in_context(context: object, name: str) -> Any:
    """Give a value of the runtime context, which is a mapping or an object; None where it has none."""
    if isinstance(context, Mapping):
        return cast("Mapping[str, Any]", context).get(name)
    return getattr(context, name, None)


MUTATION = "mutation_id"
GROUNDING = "abreast"
"""Where an answer says in its metadata what it is based on."""


def is_answer(messages: Sequence[Any], answers: frozenset[str] | set[str]) -> bool:
    """
    Say whether the last words of the assistant are an answer that a model gave to the block.

    Args:
        answers: Ids of what models answered in this run: a guard may have written another text under the same id.
    """
    last = next((message for message in reversed(messages) if getattr(message, "type", None) == "ai"), None)
    return last is not None and (GROUNDING in last.response_metadata or last.id in answers)


def own_mutations(messages: Sequence[Any]) -> frozenset[str]:
    """Give the mutations whose success is told by a tool's message in this branch."""
    told = (message for message in messages if getattr(message, "type", None) == "tool" and message.status != "error")
    found = (in_context(message.artifact, MUTATION) for message in told)
    return frozenset(mutation for mutation in found if isinstance(mutation, str))
