"""Stored checkpoints as LangGraph wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from langgraph.checkpoint.base import Checkpoint, CheckpointTuple

from abreast.langgraph.saver.loads import LOADED_KEY, Load, new_number, place_of
from abreast.langgraph.saver.memory import Elements, State
from abreast.operations import pending
from abreast.operations.manifests import Inline, Listed, Serialized, Stored

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langchain_core.runnables import RunnableConfig

    from abreast.langgraph.saver.codec import Codec, Piece
    from abreast.operations.checkpoints import Loaded
    from abreast.operations.elements import Address
    from abreast.operations.manifests import Entry
    from abreast.operations.pending import PendingWrite


def tuple_of(codec: Codec, loaded: Loaded) -> tuple[CheckpointTuple, Load, State]:
    """
    Decode a checkpoint.

    Raises:
        CheckpointCorrupt: Bytes changed or are missing.
    """
    row = loaded.row
    values: dict[str, Any] = {}
    lists: dict[str, Elements] = {}
    for channel, place in row.body.channels.items():
        if isinstance(place.entry, Listed):
            lists[channel] = elements_of(codec, loaded, channel, place.entry)
            values[channel] = [*lists[channel].objects]
        else:
            values[channel] = value_of(codec, loaded, channel, place.entry)
    writes = writes_of(codec, loaded)
    ordinary = sum(write.idx >= 0 for write in loaded.writes)
    newest = (loaded.epoch, loaded.newest)
    load = Load(new_number(), place_of(*loaded.address), *newest, row.checkpoint_id, row.parent_id, ordinary)
    found = CheckpointTuple(
        config=config_of(loaded.address, row.checkpoint_id, load),
        checkpoint=cast("Checkpoint", {**codec.loads(row.body.core), "channel_values": values}),
        metadata=codec.loads(row.body.metadata),
        parent_config=None if row.parent_id is None else config_of(loaded.address, row.parent_id, load),
        pending_writes=writes,
    )
    return found, load, State(row.checkpoint_id, row.body.channels, lists)


def config_of(address: Address, checkpoint_id: str, load: Load | None = None) -> RunnableConfig:
    """Name a checkpoint, and the load that whoever goes on from it has made."""
    token = {} if load is None else {LOADED_KEY: load.token()}
    return {"configurable": {**address._asdict(), "checkpoint_id": checkpoint_id, **token}}


def value_of(codec: Codec, loaded: Loaded, channel: str, entry: Entry) -> Any:
    """Decode the value of a channel."""
    if isinstance(entry, Inline):
        return codec.loads(Serialized(*entry))
    if isinstance(entry, Listed):
        return list(elements_of(codec, loaded, channel, entry).objects)
    return codec.loads(_stored(loaded, channel, entry))


def elements_of(codec: Codec, loaded: Loaded, channel: str, listed: Listed) -> Elements:
    """Decode a channel that is a list."""
    pieces = pieces_of(codec, loaded, channel, listed)
    return Elements(codec.elements(pieces), None, pieces)


def pieces_of(codec: Codec, loaded: Loaded, channel: str, listed: Listed) -> list[Piece]:
    """
    Give the bytes of a list's elements.

    Raises:
        CheckpointCorrupt: A row changed or is missing.
    """
    rows = loaded.rows.get(channel, [])
    found: list[Piece] = []
    for start, end in listed.spans:
        following = start
        for row in rows:
            if row.end <= following or row.first >= end:
                continue
            if not row.intact:
                raise loaded.corrupt(channel, f"the checksum of its elements from {row.first} is wrong")
            if row.first > following:
                break
            last = min(row.end, end)
            found.append(codec.piece(row, following - row.first, last - row.first))
            following = last
        if following < end:
            raise loaded.corrupt(channel, f"its elements from {following} to {end} are missing")
    return found


def writes_of(codec: Codec, loaded: Loaded) -> list[tuple[str, str, Any]]:
    """Decode the pending writes of a checkpoint."""
    check_writes(loaded, loaded.writes)
    return [(write.task_id, write.channel, codec.loads(write.value)) for write in loaded.writes]


def check_writes(loaded: Loaded, writes: Iterable[PendingWrite]) -> None:
    """
    Make sure that pending writes are as they were stored.

    Raises:
        CheckpointCorrupt: One changed, or one of those that its task has made is missing.
    """
    for write in writes:
        if not write.intact:
            raise loaded.corrupt(write.channel, f"the checksum of a pending write of task {write.task_id!r} is wrong")
    task_id = pending.missing_from(writes)
    if task_id is not None:
        raise loaded.corrupt(None, f"a pending write of task {task_id!r} is missing")


def _stored(loaded: Loaded, channel: str, entry: Stored) -> Serialized:
    value = loaded.values.get((channel, entry.seq))
    if value is None:
        raise loaded.corrupt(channel, "its bytes are missing, or their checksum is wrong")
    return value
