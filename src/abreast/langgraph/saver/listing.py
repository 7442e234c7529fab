"""Checkpoints one after the other: a thread's, all threads', and the ancestors of one."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from abreast.errors import InvalidInput
from abreast.langgraph.arguments import came, check_mapping
from abreast.langgraph.saver import reading
from abreast.langgraph.saver.acts import read, work
from abreast.langgraph.saver.publishing import address_of
from abreast.operations import ancestry, checkpoints, heads, pending
from abreast.operations.checkpoints import Loaded
from abreast.operations.elements import Address
from abreast.sql.values import check_id

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import CheckpointTuple, DeltaChannelHistory
    from sqlalchemy import Connection, Row

    from abreast.database import Database
    from abreast.langgraph.saver.acts import Act
    from abreast.langgraph.saver.codec import Codec

_PAGE: Final = 20


class Listing:
    """
    One listing, page by page, each of one snapshot.

    Attributes:
        goes_on: There may be another page.
    """

    def __init__(
        self,
        database: Database,
        codec: Codec,
        config: RunnableConfig | None,
        wanted: Mapping[str, Any],
        before: RunnableConfig | None,
        limit: int | None,
    ) -> None:
        for name, given in (("config", config), ("before", before), ("filter", wanted)):
            if given is not None:
                check_mapping(name, given, "LangGraph's", "pass a dict, or leave it out")
        if not (limit is None or (type(limit) is int and limit >= 0)):
            raise InvalidInput(
                "limit", f"is {came(limit)}, no number of checkpoints", "pass 1 or more, or None for all"
            )
        self._database = database
        self._codec = codec
        self._wanted = wanted
        self._left = limit
        configurable = (config or {}).get("configurable", {})
        self._address = None if config is None else address_of(config)
        self._namespace = configurable.get("checkpoint_ns")
        self._checkpoint_id = _id_in(config)
        self._before = _id_in(before)
        self._last: Sequence[Any] | None = None
        self._limit: checkpoints.Numbered | None = None
        self.goes_on = limit is None or limit > 0

    def page(self) -> Generator[Act, Any, list[CheckpointTuple]]:
        """Read the next page."""
        loaded, last = yield read(self._database, self._read)
        self._last = last if last is not None else self._last
        self._left = None if self._left is None else self._left - len(loaded)
        self.goes_on = last is not None and self._left != 0
        size = sum(each.row.body.size for each in loaded)
        found: list[CheckpointTuple] = yield work(self._decoded, loaded, size=size)
        return found

    def _decoded(self, loaded: Sequence[Loaded]) -> list[CheckpointTuple]:
        return [reading.tuple_of(self._codec, each)[0] for each in loaded]

    def _read(self, connection: Connection) -> tuple[list[Loaded], Sequence[Any] | None]:
        """Read what follows the last page, which may be done twice; gives its last row too if more may follow."""
        tables = self._database.tables
        rows = checkpoints.page(
            connection,
            tables,
            thread_id=self._address.thread_id if self._address else None,
            checkpoint_ns=self._namespace,
            checkpoint_id=self._checkpoint_id,
            before=self._last if self._last is not None else self._first(connection),
            limit=_PAGE,
        )
        matching = [each for row in rows if (each := self._matching(connection, row)) is not None][: self._left]
        last = self._place(rows[-1]) if len(rows) == _PAGE else None
        return self._filled(connection, matching), last

    def _first(self, connection: Connection) -> Sequence[Any] | None:
        """Give where the listing begins: a named checkpoint's number, or its id if it is not there any more."""
        if self._before is None:
            return None
        if self._address is None:
            return self._before, "", ""
        tables, thread_id = self._database.tables, self._address.thread_id
        self._limit = checkpoints.number_of(connection, tables, thread_id, self._before)
        if self._limit is None:
            return (checkpoints.number_after(connection, tables, thread_id, self._before),)
        return (self._limit.seq,)

    def _place(self, row: Row[Any]) -> Sequence[Any]:
        return (row.checkpoint_id, row.thread_id, row.checkpoint_ns) if self._address is None else (row.seq,)

    def _matching(self, connection: Connection, row: Any) -> Loaded | None:
        """Read a row if its metadata is what is asked for."""
        address = Address(row.thread_id, row.checkpoint_ns)
        stored = checkpoints.verified(address, row)
        elsewhere = self._limit is not None and row.checkpoint_ns != self._limit.checkpoint_ns
        metadata: Mapping[str, Any] = self._codec.loads(stored.body.metadata) if self._wanted or elsewhere else {}
        if any(metadata.get(key) != value for key, value in self._wanted.items()):
            return None
        if elsewhere and not self._is_before(connection, address, metadata):
            return None
        return Loaded(address, stored, None, 0)

    def _is_before(self, connection: Connection, address: Address, metadata: Mapping[str, Any]) -> bool:
        """
        Say whether a checkpoint of a nested graph belongs to an older one of the graph around it than the limit.

        Its own number does not tell: it may be published while the one that it belongs to still waits for its turn.
        """
        limit = self._limit
        around = metadata.get("parents", {}).get(limit.checkpoint_ns) if limit else None
        if limit is None or around is None:
            return True
        number = checkpoints.number_of(connection, self._database.tables, address.thread_id, around)
        return number is None or number.seq < limit.seq

    def _filled(self, connection: Connection, loaded: Sequence[Loaded]) -> list[Loaded]:
        """Read what checkpoints need, for all of a namespace at once."""
        tables = self._database.tables
        for address, group in groupby(sorted(loaded, key=lambda each: each.address), key=lambda each: each.address):
            together = list(group)
            head = heads.read(connection, tables, address.thread_id)
            newest = head.head_id if head else None
            if address.checkpoint_ns:
                newest = checkpoints.newest_of(connection, tables, address)
            checkpoints.fill(
                connection, tables, together, {name for each in together for name in each.row.body.channels}
            )
            writes = pending.read(connection, tables, address, [each.row.checkpoint_id for each in together])
            for each in together:
                each.newest, each.epoch = newest, head.epoch if head else 0
                each.writes = writes[each.row.checkpoint_id]
        return list(loaded)


def history(
    database: Database, codec: Codec, config: RunnableConfig, channels: Sequence[str]
) -> Generator[Act, Any, Mapping[str, DeltaChannelHistory]]:
    """Walk the ancestors of a checkpoint until each channel has a value, in one snapshot."""
    if not channels:
        return {}
    found: list[Loaded] = yield read(
        database, ancestry.walk, database.tables, address_of(config), _id_in(config), list(channels)
    )
    return (  # type: ignore[no-any-return]
        yield work(
            _history_of, codec, found, channels, size=sum(len(w.value.data) for each in found for w in each.writes)
        )
    )


def _history_of(codec: Codec, ancestors: Sequence[Loaded], channels: Sequence[str]) -> dict[str, DeltaChannelHistory]:
    found: dict[str, DeltaChannelHistory] = {channel: {"writes": []} for channel in channels}
    remaining = set(channels)
    for loaded in ancestors:
        reading.check_writes(loaded, loaded.writes)
        for write in reversed(loaded.writes):
            if write.channel in remaining:
                found[write.channel]["writes"].append((write.task_id, write.channel, codec.loads(write.value)))
        for channel in remaining & loaded.row.body.channels.keys():
            entry = loaded.row.body.channels[channel].entry
            found[channel]["seed"] = reading.value_of(codec, loaded, channel, entry)
        remaining -= loaded.row.body.channels.keys()
    for each in found.values():
        each["writes"].reverse()
    return found


def _id_in(config: RunnableConfig | None) -> str | None:
    found = (config or {}).get("configurable", {}).get("checkpoint_id")
    return check_id("checkpoint_id", str(found)) if found else None
