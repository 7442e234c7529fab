"""What a case is given: a store, and savers that are opened on it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint

from abreast.testing.saver_contract.replica import Replica, opened
from abreast.testing.saver_contract.results import Left

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from abreast.testing.saver_contract.replica import OpenSaver, Prepare


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a contract was made with."""

    open_saver: OpenSaver
    prepare: Prepare | None = None
    configurable: Mapping[str, Any] = field(default_factory=dict[str, Any])
    rounds: int = 20
    exclusive: bool = False
    fault: Callable[[Any, Callable[[], None]], None] | None = None
    corrupt: Callable[[Any, str, str], bool] | None = None


@dataclass(slots=True)
class Stage:
    """
    A store with everything a case does on it.

    Attributes:
        handle: What the store gave.
    """

    setup: Setup
    handle: Any
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self._stack.close()

    @property
    def rounds(self) -> int:
        """How often a race is run."""
        return self.setup.rounds

    def replica(self) -> Replica:
        """Open the store once more."""
        return self._stack.enter_context(opened(self.setup.open_saver, self.handle, self.setup.prepare))

    def config(self, thread_id: str | None = None, **more: Any) -> Any:
        """Name a thread, a new one by default."""
        return {"configurable": {**self.setup.configurable, "thread_id": thread_id or str(uuid4()), **more}}


def at(thread_id: str, checkpoint_id: str | None = None, **more: Any) -> Any:
    """Name a checkpoint of the graph itself, for calls of a saver."""
    named = {} if checkpoint_id is None else {"checkpoint_id": checkpoint_id}
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", **named, **more}}


def has(replica: Replica, method: str) -> bool:
    """Say whether a saver has a method of its own."""
    name = f"a{method}" if replica.is_async else method
    inherited: Any = BaseCheckpointSaver
    return getattr(replica.saver.__class__, name) is not getattr(inherited, name)


def needs(replica: Replica, method: str) -> None:
    """Leave the case where the saver lacks a method."""
    if not has(replica, method):
        raise Left(f"the saver has no {method}")


def put(replica: Replica, parent: Any, values: Mapping[str, Any], config: Any = None) -> Any:
    """Publish a checkpoint in which some channels are new; gives its configuration."""
    made, versions = checkpoint_after(replica, parent, values)
    metadata: Any = {"source": "loop", "step": 1, "parents": {}}
    return replica.call("put", config or parent.config, made, metadata, versions)


def checkpoint_after(replica: Replica, parent: Any, values: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Make a checkpoint that follows another one, with all its values as LangGraph does, and the new versions."""
    before: Mapping[str, Any] = parent.checkpoint["channel_versions"] if parent else {}
    kept: Mapping[str, Any] = parent.checkpoint["channel_values"] if parent else {}
    versions = {channel: replica.saver.get_next_version(before.get(channel), None) for channel in values}
    made: dict[str, Any] = {**empty_checkpoint(), "channel_values": {**kept, **values}}
    made["channel_versions"] = {**before, **versions}
    return made, versions


def begun(replica: Replica, thread_id: str, values: Mapping[str, Any]) -> Any:
    """Publish the first checkpoint of a thread, and load it."""
    return replica.get(at(thread_id)) if put(replica, None, values, at(thread_id)) else None


def texts(messages: Sequence[Any]) -> list[str]:
    """Give the texts of messages."""
    return [str(message.content) for message in messages]
