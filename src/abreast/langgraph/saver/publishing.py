"""What a put stores: the channels that are new, and where the others are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from langgraph.checkpoint.base import WRITES_IDX_MAP, get_checkpoint_metadata

from abreast.errors import InvalidInput, StateTooLarge
from abreast.langgraph.arguments import check_mapping
from abreast.langgraph.saver.lists import KnownList, draft_of
from abreast.langgraph.saver.memory import Elements, State
from abreast.operations.elements import Address
from abreast.operations.manifests import INLINE_BYTES, Listed
from abreast.operations.pending import PendingWrite
from abreast.operations.publishing import NewValue, Publication
from abreast.sql.tables import NAMESPACE_BYTES
from abreast.sql.values import check_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata

    from abreast.langgraph.saver.codec import Codec, Part
    from abreast.langgraph.saver.loads import Load
    from abreast.operations.elements import Draft
    from abreast.operations.manifests import Place

_BRANCH, _JOIN, _START, _TASKS = "branch:to:", "join:", "__start__", "__pregel_tasks"
_MOST_NODES: Final = 50
COUNTERS: Final = "counters_since_delta_snapshot"
"""Key of a checkpoint's metadata under which LangGraph names the channels that are stored as changes."""


@dataclass(frozen=True, slots=True)
class Put:
    """The arguments of one put."""

    config: RunnableConfig
    checkpoint: Checkpoint
    metadata: CheckpointMetadata
    new_versions: ChannelVersions
    load: Load | None

    @property
    def address(self) -> Address:
        """Thread and namespace."""
        return address_of(self.config)

    @property
    def configurable(self) -> Mapping[str, Any]:
        """What the configuration says."""
        return self.config.get("configurable", {})

    @property
    def parent_id(self) -> str | None:
        """The checkpoint that this one was computed from."""
        found = self.configurable.get("checkpoint_id")
        return None if found is None else str(found)

    @property
    def copies(self) -> bool:
        """Whether it is a copy beside the loaded checkpoint, as `update_state(…, as_node="__copy__")` makes."""
        load = self.load
        beside = load is not None and self.parent_id == load.parent_id and self.parent_id != load.checkpoint_id
        return beside and self.metadata.get("source") == "fork"

    @property
    def forks(self) -> bool:
        """Whether it begins a branch that the caller asked for: at a checkpoint named by id that was not the newest."""
        load = self.load
        if load is None:
            return False
        named = self.parent_id == load.checkpoint_id and load.newest != load.checkpoint_id
        return named or self.copies

    @property
    def expected(self) -> str | None:
        """The checkpoint that has to be the newest until then."""
        return self.load.newest if self.forks and self.load else self.parent_id

    @property
    def loaded_writes(self) -> int | None:
        """Ordinary writes of others that the parent may have."""
        if self.load is None or self.copies:
            return None
        return self.load.writes_of(self.parent_id)


@dataclass(frozen=True, slots=True)
class Plan:
    """
    A put, serialized.

    Attributes:
        sizes: Bytes of the channels that are new.
        lists: Elements of the channels that are lists.
    """

    publication: Publication
    sizes: Mapping[str, int]
    lists: Mapping[str, Elements]


def plan_of(codec: Codec, put: Put, base: State | None, *, everything: bool, anywhere: bool) -> Plan:
    """
    Find out what a put has to store.

    Args:
        base: The parent as it is stored.
        everything: Compare all bytes of lists with what is stored.
        anywhere: A checkpoint without parent may follow any.
    """
    nodes = sorted(set(next_nodes(put.checkpoint["channel_values"])))
    ends = not put.address.checkpoint_ns and not nodes
    channels = _Channels(codec, put, base, everything=everything or ends)
    channels.sort()
    metadata = get_checkpoint_metadata(put.config, put.metadata)
    core = codec.dumps({name: value for name, value in put.checkpoint.items() if name != "channel_values"})
    stored_metadata = codec.dumps(metadata)
    sizes = channels.sizes
    kept = sum(place.entry.size for place in channels.kept.values())
    run_id = metadata.get("run_id")
    publication = Publication(
        address=put.address,
        checkpoint_id=check_id("checkpoint id", put.checkpoint["id"]),
        parent_id=put.parent_id,
        expected=put.expected,
        core=core,
        metadata=stored_metadata,
        kept=channels.kept,
        changed=channels.changed,
        run_id=None if run_id is None else check_id("run_id", str(run_id)),
        run_state="working" if nodes else "idle",
        step=nodes[:_MOST_NODES],
        size=kept + sum(sizes.values()) + len(core.data) + len(stored_metadata.data),
        anywhere=anywhere and put.parent_id is None,
        forks=put.forks,
        loaded_writes=put.loaded_writes,
        writer=put.load.number if put.load else 0,
        counts_writes=COUNTERS in put.metadata and not put.copies,
    )
    return Plan(publication, sizes, channels.lists)


def lists_to_compare(put: Put, channels: Mapping[str, Place]) -> dict[str, Listed]:
    """Give the lists of a stored parent whose bytes are needed to find out what is new."""
    values = put.checkpoint["channel_values"]
    return {
        channel: place.entry
        for channel, place in channels.items()
        if isinstance(place.entry, Listed) and type(values.get(channel)) is list and channel in put.new_versions
    }


def next_nodes(values: Mapping[str, Any]) -> Iterator[str]:
    """Give the nodes that run next, as far as the channels tell."""
    for channel, value in values.items():
        if channel.startswith(_BRANCH):
            yield channel.removeprefix(_BRANCH)
        elif channel == _START:
            yield _START
        elif channel == _TASKS:
            yield from (str(getattr(task, "node", task)) for task in cast("Sequence[Any]", value))
        elif channel.startswith(_JOIN) and isinstance(value, (set, list, tuple)):
            waited_for, _, node = channel.removeprefix(_JOIN).rpartition(":")
            if len(cast("Sequence[Any]", value)) == len(waited_for.split("+")):
                yield node


def check_sizes(thread_id: str, sizes: Mapping[str, int], most: int | None) -> None:
    """
    Make sure that no channel is too large.

    Raises:
        StateTooLarge: One is.
    """
    if most is not None and sizes and max(sizes.values()) > most:
        channel = max(sizes, key=lambda name: sizes[name])
        raise StateTooLarge(thread_id, channel, sizes[channel], most, dict(sizes))


def writes_of(
    codec: Codec, checkpoint_id: str, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str, writer: int
) -> list[PendingWrite]:
    """Serialize the pending writes of a task."""
    places = [WRITES_IDX_MAP.get(channel, place) for place, (channel, _) in enumerate(writes)]
    total = sum(place >= 0 for place in places)
    task_id = check_id("task_id", task_id)
    return [
        PendingWrite(
            checkpoint_id, task_id, place, check_id("channel", channel), codec.dumps(value), task_path, total, writer
        )
        for place, (channel, value) in zip(places, writes, strict=True)
    ]


def address_of(config: RunnableConfig) -> Address:
    """
    Give the thread and namespace that a configuration names.

    Raises:
        InvalidInput: There is no thread, or one of the two is no id.
    """
    check_mapping("config", config, "LangGraph's", 'pass {"configurable": {"thread_id": …}}')
    configurable = config.get("configurable", {})
    namespace = configurable.get("checkpoint_ns") or ""
    for part in namespace.split("|"):
        check_id("checkpoint_ns", part, empty=True)
    if len(namespace.encode()) > NAMESPACE_BYTES:
        way_out = f"use at most {NAMESPACE_BYTES} bytes: shorter names of nodes, or fewer graphs within graphs"
        raise InvalidInput("checkpoint_ns", "is too long", way_out)
    return Address(check_id("thread_id", str(configurable.get("thread_id", ""))), namespace)


class _Channels:
    """The channels of one put, told apart."""

    def __init__(self, codec: Codec, put: Put, base: State | None, *, everything: bool) -> None:
        self._codec = codec
        self._put = put
        self._base = base
        self._everything = everything
        self.kept: dict[str, Place] = {}
        self.changed: dict[str, NewValue] = {}
        self.lists: dict[str, Elements] = {}
        self.sizes: dict[str, int] = {}

    def sort(self) -> None:
        """
        Tell apart what is new, what the parent has, and what has no value.

        A channel that is stored as changes has its value in the parent's lineage. Any other one without a value was
        removed from the graph, or emptied: it does not come back.
        """
        values = self._put.checkpoint["channel_values"]
        as_changes = self._put.metadata.get(COUNTERS) or {}
        for channel, version in self._put.checkpoint["channel_versions"].items():
            stored = self._stored(channel, version)
            if channel not in values:
                if stored is not None and channel in as_changes and channel not in self._put.new_versions:
                    self._keep(channel, stored)
            elif stored is not None and channel not in self._put.new_versions and not self._changed(channel):
                self._keep(channel, stored)
            else:
                self._change(channel, version, values[channel])

    def _stored(self, channel: str, version: Any) -> Place | None:
        place = self._base.channels.get(channel) if self._base else None
        return place if place is not None and place.version == version else None

    def _changed(self, channel: str) -> bool:
        """Say whether elements of a list that no node has returned were changed in place."""
        known = self._base.lists.get(channel) if self._base else None
        elements = _list_in(self._put.checkpoint["channel_values"][channel])
        if known is None or not self._everything or elements is None:
            return False
        return len(elements) != len(known.parts) or not self._codec.are(elements, known.parts)

    def _keep(self, channel: str, place: Place) -> None:
        self.kept[channel] = place
        if self._base is not None and channel in self._base.lists:
            self.lists[channel] = self._base.lists[channel]

    def _change(self, channel: str, version: Any, value: Any) -> None:
        check_id("channel", channel)
        elements = _list_in(value)
        if elements is not None and self._is_long(channel, elements):
            draft, parts = draft_of(self._codec, elements, self._known(channel), everything=self._everything)
            self._list(channel, version, elements, draft, parts)
            return
        data = self._codec.dumps(value)
        self.changed[channel] = NewValue(version, data)
        self.sizes[channel] = len(data.data)

    def _is_long(self, channel: str, value: list[Any]) -> bool:
        """Say whether a list is kept by element: one that fits into the manifest is not."""
        if self._base is not None and channel in self._base.lists:
            return bool(value)
        return len(value) > INLINE_BYTES or (bool(value) and len(self._codec.dumps(value).data) > INLINE_BYTES)

    def _list(self, channel: str, version: Any, elements: list[Any], draft: Draft, parts: list[Part]) -> None:
        self.changed[channel] = NewValue(version, draft)
        self.lists[channel] = Elements(list(elements), parts)
        self.sizes[channel] = draft.size

    def _known(self, channel: str) -> KnownList | None:
        if self._base is None or channel not in self._base.lists:
            return None
        place, found = self._base.channels[channel], self._base.lists[channel]
        if not isinstance(place.entry, Listed):
            return None
        return KnownList(place.entry, found.objects or None, found.parts, current=not self._put.forks)


def kept_state(plan: Plan, channels: Mapping[str, Place]) -> State:
    """Give what is to be remembered of a put that has taken effect."""
    return State(plan.publication.checkpoint_id, channels, plan.lists)


def _list_in(value: Any) -> list[Any] | None:
    """Give a list, and nothing that is only like one: a serializer may treat it otherwise."""
    return value if type(value) is list else None  # pyright: ignore[reportUnknownVariableType]
