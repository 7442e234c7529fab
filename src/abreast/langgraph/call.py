"""Who is called, read from a graph's configuration as LangGraph reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from langchain_core.messages import convert_to_messages
from langchain_core.runnables.config import ensure_config, merge_configs
from langgraph.checkpoint.base import BaseCheckpointSaver

from abreast.errors import InvalidInput
from abreast.langgraph.state import value_of
from abreast.prompt.messages import role_of
from abreast.runs import RUN_KEY, current_run

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from abreast.langgraph.ending import Ending
    from abreast.runs import Run

_RUNTIME, _CHECKPOINTER, _DURABILITY = "__pregel_runtime", "__pregel_checkpointer", "__pregel_durability"
_COORDINATES: Final = ("thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map")
_OF_CHECKPOINT: Final = ("checkpoint_id", "checkpoint_map")


@dataclass(frozen=True)
class Call:
    """
    One call of a bound graph.

    Attributes:
        configurable: What the graph will be given: its own, the caller's, and the surrounding run's.
        thread: Its id, and its workspace's where context or configuration names it.
        saver: What keeps the graph's checkpoints, if anything does.
        inside: The run of the same thread that it is part of.
        outer: The run of another thread that it is called from.
    """

    config: RunnableConfig
    configurable: Mapping[str, Any]
    thread: tuple[str, str | None]
    saver: BaseCheckpointSaver[Any] | None
    inside: Run | None
    outer: Run | None

    def of_run(self, run: Run, ending: Ending) -> RunnableConfig:
        """Give the configuration that tells every hook and saver call which run it belongs to."""
        own: RunnableConfig = {"configurable": {RUN_KEY: run.token}, "callbacks": [ending.questions]}
        return merge_configs(self.config, own)

    def of_thread(self) -> RunnableConfig:
        """Give the configuration that finds the thread's newest checkpoint."""
        kept = {name: value for name, value in self.configurable.items() if name not in _OF_CHECKPOINT}
        return {"configurable": {**kept, "checkpoint_ns": ""}}

    def durability(self, chosen: Any) -> Any:
        """
        Choose `"sync"` where the caller did not choose.

        With LangGraph's default a conflict surfaces after the next tool has run.
        """
        unchosen = chosen is None and self.configurable.get(_DURABILITY) is None
        return "sync" if unchosen and self.saver is not None else chosen


def read_call(graph: Any, config: RunnableConfig | None, context: Any, place: tuple[str, str]) -> Call:
    """
    Read who is called; the surrounding run counts where the caller names nothing.

    Args:
        place: Where the graph's leases are.

    Raises:
        InvalidInput: No thread is named.
    """
    configurable = _configurable(graph.config, config)
    thread_id = configurable.get("thread_id")
    if thread_id is None:
        raise InvalidInput(
            "thread_id", "is missing", 'pass config={"configurable": {"thread_id": "…"}}: a run belongs to a thread'
        )
    outer = current_run(configurable.get(RUN_KEY))
    return Call(
        config=config or {},
        configurable=configurable,
        thread=(str(thread_id), _workspace(context, configurable)),
        saver=_saver(graph.checkpointer, configurable),
        inside=outer and outer.of_thread(str(thread_id), place),
        outer=outer,
    )


def has_spoken(input: object) -> bool:  # noqa: A002 - LangGraph's name
    """Say whether an input brings answers of a model along: then the conversation is not new."""
    found = cast("Mapping[str, Any]", input) if isinstance(input, Mapping) else getattr(input, "__dict__", {})
    return any(_holds_answers(value) for value in found.values() if isinstance(value, (list, tuple)))


def _holds_answers(value: Any) -> bool:
    try:
        messages = convert_to_messages(value)
    except (ValueError, TypeError, NotImplementedError):
        return False
    return any(role_of(message) in ("assistant", "tool") for message in messages)


def _configurable(own: RunnableConfig | None, config: RunnableConfig | None) -> Mapping[str, Any]:
    """Merge as LangGraph does: who names a thread or checkpoint leaves the surrounding one's behind."""
    surrounding = ensure_config().get("configurable", {})
    named = merge_configs(own, config).get("configurable", {})
    if any(named.get(name) for name in _COORDINATES):
        surrounding = {name: surrounding[name] for name in (RUN_KEY, _RUNTIME) if name in surrounding}
    return {**surrounding, **named}


def _saver(own: Any, configurable: Mapping[str, Any]) -> BaseCheckpointSaver[Any] | None:
    found = None if own is False else configurable.get(_CHECKPOINTER, own)
    return found if isinstance(found, BaseCheckpointSaver) else None  # pyright: ignore[reportUnknownVariableType]


def _workspace(context: Any, configurable: Mapping[str, Any]) -> str | None:
    surrounding = getattr(configurable.get(_RUNTIME), "context", None)
    named = (value_of(place, "workspace_id") for place in (context, surrounding, configurable))
    return next((str(found) for found in named if found is not None), None)
