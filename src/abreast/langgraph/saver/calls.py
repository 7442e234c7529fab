"""What each call of the saver does, one transaction after the other."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from abreast.errors import CheckpointConflict
from abreast.langgraph.saver import publishing, reading
from abreast.langgraph.saver.acts import Act, read, run, work
from abreast.langgraph.saver.loads import load_of
from abreast.langgraph.saver.memory import Elements, Memory, State
from abreast.langgraph.saver.publishing import Put, address_of
from abreast.operations import checkpoints, heads, pending
from abreast.operations.publishing import publish
from abreast.sql.values import check_id

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import CheckpointTuple
    from sqlalchemy import Connection

    from abreast.database import Database
    from abreast.langgraph.saver.claims import Claims
    from abreast.langgraph.saver.codec import Codec
    from abreast.langgraph.saver.loads import Load
    from abreast.langgraph.saver.publishing import Plan
    from abreast.operations.checkpoints import Loaded
    from abreast.operations.elements import Address
    from abreast.operations.heads import Claim, Head
    from abreast.operations.pending import PendingWrite
    from abreast.runs import Run

_MOST_LOADS: Final = 4_096
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """
    How large a channel may become.

    Attributes:
        warn: Bytes from which on a warning is logged.
        most: Bytes beyond which nothing is stored.
    """

    warn: int | None = None
    most: int | None = None


@dataclass(slots=True)
class Lineage:
    """The checkpoints that each run of this process has published; a stranger's among them means that it is behind."""

    _published: OrderedDict[int, set[str]] = field(default_factory=OrderedDict[int, set[str]])
    _lock: Lock = field(default_factory=Lock)

    def add(self, load: int, checkpoint_id: str) -> None:
        """Note a checkpoint that a run is about to publish."""
        with self._lock:
            self._published.setdefault(load, set()).add(checkpoint_id)
            self._published.move_to_end(load)
            while len(self._published) > _MOST_LOADS:
                self._published.popitem(last=False)

    def has(self, load: int, checkpoint_id: str) -> bool:
        """Say whether a run has published a checkpoint."""
        with self._lock:
            return checkpoint_id in self._published.get(load, ())


@dataclass(frozen=True, slots=True)
class Calls:
    """
    The calls of one saver, each a series of acts.

    Attributes:
        everything: Compare all bytes of lists at each put.
        allow_new_roots: A checkpoint without parent may follow others.
    """

    database: Database
    leases: Database
    claims: Claims
    memory: Memory
    lineage: Lineage
    limits: Limits
    everything: bool
    allow_new_roots: bool
    warned: set[tuple[str, str]]

    def get(self, codec: Codec, config: RunnableConfig) -> Generator[Act, Any, CheckpointTuple | None]:
        """Load a checkpoint: the newest, or the one that is named."""
        address, configurable = address_of(config), config.get("configurable", {})
        yield from self._introduce(address.thread_id, configurable)
        wanted = configurable.get("checkpoint_id")
        checkpoint_id = None if not wanted else check_id("checkpoint_id", str(wanted))
        loaded: Loaded | None = yield read(
            self.database, checkpoints.load, self.database.tables, address, checkpoint_id
        )
        if loaded is None:
            return None
        found, load, state = yield work(reading.tuple_of, codec, loaded, size=loaded.row.body.size)
        self.memory.keep(address, load.number, state)
        return found  # type: ignore[no-any-return]

    def put(self, codec: Codec, put: Put) -> Generator[Act, Any, RunnableConfig]:
        """Publish a checkpoint."""
        address, configurable = put.address, put.configurable
        yield from self._introduce(address.thread_id, configurable)
        claim = self.claims.claim(address.thread_id, configurable, put.load)
        yield from self._look(claim)
        number = put.load.number if put.load else 0
        base = None
        if put.parent_id is not None:
            base = self.memory.get(address, number, put.parent_id) or (yield from self._base(codec, put))
        plan: Plan = yield work(self._plan, codec, put, base, size=_size(base))
        self._weigh(address.thread_id, plan)
        if number:
            self.lineage.add(number, plan.publication.checkpoint_id)
        outcome = yield run(self.database, self._publish, claim, plan, codec)
        if plan.publication.run_state == "idle" and not address.checkpoint_ns:
            self.memory.drop(address, number)
        else:
            self.memory.keep(address, number, publishing.kept_state(plan, outcome.channels))
        return reading.config_of(address, plan.publication.checkpoint_id, put.load)

    def put_writes(
        self, codec: Codec, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> Generator[Act, Any, None]:
        """Store pending writes."""
        address, configurable = address_of(config), config.get("configurable", {})
        yield from self._introduce(address.thread_id, configurable)
        load = load_of(configurable)
        claim = self.claims.claim(address.thread_id, configurable, load)
        yield from self._look(claim)
        checkpoint_id = check_id("checkpoint_id", configurable.get("checkpoint_id", ""))
        writer = load.number if load else 0
        rows = publishing.writes_of(codec, checkpoint_id, writes, task_id, task_path, writer)
        if rows and (yield run(self.database, self._put_writes, claim, address, rows, load)):
            yield run(self.database, self._mark, address, rows)

    def _introduce(self, thread_id: str, configurable: Any) -> Generator[Act, Any, None]:
        """Make the fence of a run known before its first call does anything."""
        unknown: Run | None = self.claims.unknown(thread_id, configurable)
        if unknown is not None:
            self.claims.note(unknown, (yield run(self.database, self.claims.publish, unknown)))

    def _look(self, claim: Claim) -> Generator[Act, Any, None]:
        """Make sure that nobody runs the thread, where the leases are in another database."""
        if self.claims.looks_elsewhere(claim):
            yield read(self.leases, self.claims.check_lease, claim.thread_id)

    def _base(self, codec: Codec, put: Put) -> Generator[Act, Any, State | None]:
        """Read the parent as far as it is needed to find out what is new."""
        loaded: Loaded | None = yield read(self.database, self._read_base, put)
        if loaded is None:
            return None
        channels = loaded.row.body.channels
        lists = publishing.lists_to_compare(put, channels)
        parts = {
            name: Elements((), None, reading.pieces_of(codec, loaded, name, listed)) for name, listed in lists.items()
        }
        return State(loaded.row.checkpoint_id, channels, parts)

    def _read_base(self, connection: Connection, put: Put) -> Loaded | None:
        tables = self.database.tables
        loaded = checkpoints.find(connection, tables, put.address, put.parent_id)
        if loaded is not None:
            checkpoints.fill(connection, tables, [loaded], publishing.lists_to_compare(put, loaded.row.body.channels))
        return loaded

    def _plan(self, codec: Codec, put: Put, base: State | None) -> Plan:
        return publishing.plan_of(codec, put, base, everything=self.everything, anywhere=self.allow_new_roots)

    def _weigh(self, thread_id: str, plan: Plan) -> None:
        publishing.check_sizes(thread_id, plan.sizes, self.limits.most)
        for channel, size in plan.sizes.items():
            if self.limits.warn is None or size < self.limits.warn or (thread_id, channel) in self.warned:
                continue
            if len(self.warned) < _MOST_LOADS:
                self.warned.add((thread_id, channel))
            sizes = ", ".join(
                f"{name} {size:,}" for name, size in sorted(plan.sizes.items(), key=lambda each: -each[1])
            )
            _log.warning("thread %r: channel %r has %s bytes (by channel: %s)", thread_id, channel, f"{size:,}", sizes)

    def _publish(self, connection: Connection, claim: Claim, plan: Plan, codec: Codec) -> Any:
        return publish(connection, self.database.tables, claim, plan.publication, codec.join)

    def _put_writes(
        self, connection: Connection, claim: Claim, address: Address, rows: Sequence[PendingWrite], load: Load | None
    ) -> bool:
        """
        Store writes, and say whether the head row has to be looked at again.

        A question can be stored while the put of its checkpoint waits for the head row, and that put does not see it.
        """
        tables, checkpoint_id = self.database.tables, rows[0].checkpoint_id
        special = [write.idx for write in rows if write.idx < 0]
        pending.put(connection, tables, address, rows)
        # Of two runs without a lease one waits here, and then sees what the other has stored.
        races = claim.fence is None and load is not None
        head = heads.hold(connection, tables, claim, checkpoint_id, alone=races or bool(special))
        marks = bool(special) and not address.checkpoint_ns
        if marks:
            heads.mark(connection, tables, address.thread_id, checkpoint_id, special)
        if claim.fence is None and load is not None:
            self._check_newest(connection, address, checkpoint_id, head, load)
            if len(special) < len(rows):
                self._check_alone(connection, address, checkpoint_id, load)
        return marks and head.head_id != checkpoint_id

    def _check_newest(
        self, connection: Connection, address: Address, checkpoint_id: str, head: Head, load: Load
    ) -> None:
        """Make sure that nobody but this run has moved the thread on since it was loaded."""
        newest = head.head_id
        if address.checkpoint_ns:
            newest = checkpoints.newest_of(connection, self.database.tables, address)
        if newest not in (None, checkpoint_id, load.newest) and not self.lineage.has(load.number, newest):
            raise CheckpointConflict(*address, load.newest, newest)

    def _check_alone(self, connection: Connection, address: Address, checkpoint_id: str, load: Load) -> None:
        """
        Make sure that nobody else has stored results of the checkpoint's tasks since this run has loaded it.

        Whose results come first goes on: if both stored some, neither could publish, and the next run would go on
        with a mixture.
        """
        others = pending.count_of_others(connection, self.database.tables, address, checkpoint_id, load.number)
        if others != load.writes_of(checkpoint_id):
            why = "somebody else has stored results of its tasks"
            raise CheckpointConflict(*address, checkpoint_id, checkpoint_id, why=why)

    def _mark(self, connection: Connection, address: Address, rows: Sequence[PendingWrite]) -> None:
        tables = self.database.tables
        heads.lock(connection, tables, address.thread_id)
        indexes = [write.idx for write in rows]
        heads.mark(connection, tables, address.thread_id, rows[0].checkpoint_id, indexes)


def _size(base: State | None) -> int:
    return 0 if base is None else sum(place.entry.size for place in base.channels.values())
