"""Checkpoints: published in one transaction with the head, read with everything they need in one snapshot."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import and_, bindparam, func, or_, select, true, update

from abreast.errors import CheckpointCorrupt
from abreast.operations import elements, heads, pending
from abreast.operations.manifests import (
    Body,
    Listed,
    Serialized,
    Stored,
    checksum,
    decode,
    encode,
    unpacked,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection

    from abreast.operations.elements import Address, ElementRow
    from abreast.operations.pending import PendingWrite
    from abreast.sql.tables import Tables

MOST_VALUES: Final = 200
"""Most values of one statement."""


class StoredCheckpoint(NamedTuple):
    """A checkpoint's own row, read and verified."""

    checkpoint_id: str
    seq: int
    parent_id: str | None
    body: Body


@dataclass(slots=True)
class Loaded:
    """
    A checkpoint with everything it needs.

    Attributes:
        newest: The newest checkpoint of the namespace.
        epoch: The thread's.
    """

    address: Address
    row: StoredCheckpoint
    newest: str | None
    epoch: int
    values: dict[tuple[str, int], Serialized] = field(default_factory=dict[tuple[str, int], Serialized])
    rows: dict[str, list[ElementRow]] = field(default_factory=dict[str, "list[ElementRow]"])
    writes: list[PendingWrite] = field(default_factory=list["PendingWrite"])

    def corrupt(self, channel: str | None, problem: str) -> CheckpointCorrupt:
        """Name what is wrong."""
        return CheckpointCorrupt(*self.address, self.row.checkpoint_id, channel, problem)


def load(connection: Connection, tables: Tables, address: Address, checkpoint_id: str | None) -> Loaded | None:
    """
    Read a checkpoint, the newest or a named one, with its values and pending writes.

    Raises:
        CheckpointCorrupt: Its row changed, or the newest is missing.
    """
    found = find(connection, tables, address, checkpoint_id)
    if found is not None:
        fill(connection, tables, [found], found.row.body.channels)
        found.writes = pending.read(connection, tables, address, [found.row.checkpoint_id])[found.row.checkpoint_id]
    return found


def find(connection: Connection, tables: Tables, address: Address, checkpoint_id: str | None) -> Loaded | None:
    """Read a checkpoint's own row, the newest or a named one."""
    parameters = {"thread": address.thread_id, "namespace": address.checkpoint_ns, "wanted": checkpoint_id}
    statement = _find(tables, root=not address.checkpoint_ns, named=checkpoint_id is not None)
    row = connection.execute(statement, parameters).first()
    if row is None or row.deleted:
        return None
    newest = row.head_id if not address.checkpoint_ns else row.newest
    if row.body is None:
        if not address.checkpoint_ns and checkpoint_id is None and newest is not None:
            raise CheckpointCorrupt(*address, newest, None, "its row is missing")
        return None
    return Loaded(address, verified(address, row), newest, int(row.epoch))


def fill(connection: Connection, tables: Tables, loaded: Sequence[Loaded], channels: Iterable[str]) -> None:
    """Read the values and elements of channels of checkpoints of one namespace."""
    wanted = set(channels)
    places = [
        (channel, place.entry)
        for each in loaded
        for channel, place in each.row.body.channels.items()
        if channel in wanted
    ]
    address = loaded[0].address
    spans: dict[str, set[Any]] = {}
    for channel, entry in places:
        if isinstance(entry, Listed):
            spans.setdefault(channel, set()).update(entry.spans)
    rows = elements.read(connection, tables, address, {name: sorted(found) for name, found in spans.items()})
    keys = sorted({(channel, entry.seq) for channel, entry in places if isinstance(entry, Stored)})
    values = _values(connection, tables, loaded[0], keys)
    for each in loaded:
        each.rows, each.values = rows, values


def page(
    connection: Connection,
    tables: Tables,
    *,
    thread_id: str | None,
    checkpoint_ns: str | None,
    checkpoint_id: str | None,
    before: Sequence[Any] | None,
    limit: int,
) -> list[Any]:
    """
    Give rows of checkpoints, newest first: of a thread by number, of all threads by id.

    Args:
        before: The last row of the page before: its number, or its id, thread and namespace.
    """
    row = tables.checkpoint
    conditions: list[ColumnElement[bool]] = []
    if thread_id is not None:
        conditions.append(row.c.thread_id == thread_id)
    if checkpoint_ns is not None:
        conditions.append(row.c.checkpoint_ns == checkpoint_ns)
    if checkpoint_id is not None:
        conditions.append(row.c.checkpoint_id == checkpoint_id)
    order = [row.c.seq] if thread_id is not None else [row.c.checkpoint_id, row.c.thread_id, row.c.checkpoint_ns]
    if before is not None:
        conditions.append(_after(order, before))
    statement = select(*_columns(tables)).where(*conditions).order_by(*(column.desc() for column in order))
    return list(connection.execute(statement.limit(limit)))


class Numbered(NamedTuple):
    """The number of a checkpoint, and its namespace."""

    seq: int
    checkpoint_ns: str


def number_of(connection: Connection, tables: Tables, thread_id: str, checkpoint_id: str) -> Numbered | None:
    """Give the number of a checkpoint of any namespace of a thread."""
    row = tables.checkpoint
    named = (row.c.thread_id == thread_id, row.c.checkpoint_id == checkpoint_id)
    statement = select(row.c.seq, row.c.checkpoint_ns).where(*named).order_by(row.c.seq.desc()).limit(1)
    found = connection.execute(statement).first()
    return None if found is None else Numbered(int(found.seq), found.checkpoint_ns)


def number_after(connection: Connection, tables: Tables, thread_id: str, checkpoint_id: str) -> int:
    """Give the number after that of a thread's last checkpoint with a lower id; for an id that is not there."""
    row = tables.checkpoint
    lower = select(func.max(row.c.seq)).where(row.c.thread_id == thread_id, row.c.checkpoint_id < checkpoint_id)
    return int(connection.scalar(lower) or 0) + 1


def newest_of(connection: Connection, tables: Tables, address: Address) -> str | None:
    """Give the newest checkpoint of a namespace other than the graph's own."""
    row = tables.checkpoint
    listed = select(row.c.checkpoint_id).where(*elements.inside(row, address))
    return connection.scalar(listed.order_by(row.c.seq.desc()).limit(1))


def select_stored(tables: Tables, address: Address) -> Any:
    """Build the SELECT of a namespace's rows as `verified` reads them."""
    row = tables.checkpoint
    columns = (row.c.checkpoint_id, row.c.seq, row.c.parent_id, row.c.body, row.c.checksum)
    return select(*columns).where(*elements.inside(row, address))


def verified(address: Address, row: Any) -> StoredCheckpoint:
    """
    Read a row.

    Raises:
        CheckpointCorrupt: Its checksum is wrong.
    """
    body = bytes(row.body)
    if checksum_of(address, row.checkpoint_id, row.parent_id, body) != bytes(row.checksum):
        raise CheckpointCorrupt(*address, row.checkpoint_id, None, "its checksum is not that of its bytes")
    return StoredCheckpoint(row.checkpoint_id, int(row.seq), row.parent_id, decode(body))


def set_parent(
    connection: Connection, tables: Tables, address: Address, row: StoredCheckpoint, parent_id: str | None
) -> None:
    """Give a stored checkpoint another parent, or none."""
    table = tables.checkpoint
    body = encode(replace(row.body, parent_writes=None))
    values = {"parent_id": parent_id, "body": body}
    values["checksum"] = checksum_of(address, row.checkpoint_id, parent_id, body)
    connection.execute(update(table).where(is_checkpoint(tables, address, row.checkpoint_id)).values(**values))


def _values(
    connection: Connection, tables: Tables, of: Loaded, keys: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], Serialized]:
    value = tables.checkpoint_value
    found: dict[tuple[str, int], Serialized] = {}
    for start in range(0, len(keys), MOST_VALUES):
        each = [and_(value.c.channel == name, value.c.seq == seq) for name, seq in keys[start : start + MOST_VALUES]]
        for row in connection.execute(_select_values(tables).where(or_(*each)), of.address._asdict()):
            data = Serialized(row.kind, bytes(row.bytes))
            if checksum(of.address.checkpoint_ns, row.channel, int(row.seq), *data) == bytes(row.checksum):
                found[row.channel, int(row.seq)] = unpacked(data)
    return found


def _after(order: Sequence[ColumnElement[Any]], before: Sequence[Any]) -> ColumnElement[bool]:
    """Build the condition for rows that come after a row in descending order."""
    found: list[ColumnElement[bool]] = []
    for place, (column, value) in enumerate(zip(order, before, strict=True)):
        same = [other == given for other, given in zip(order[:place], before[:place], strict=True)]
        found.append(and_(true(), *same, column < value))
    return or_(*found)


def checksum_of(address: Address, checkpoint_id: str, parent_id: str | None, body: bytes) -> bytes:
    """Give the checksum of a row."""
    return checksum(address.checkpoint_ns, checkpoint_id, parent_id, body)


def is_checkpoint(tables: Tables, address: Address, checkpoint_id: str) -> ColumnElement[bool]:
    """Build the condition for one row."""
    row = tables.checkpoint
    return and_(*elements.inside(row, address), row.c.checkpoint_id == checkpoint_id)


def _columns(tables: Tables) -> list[Any]:
    row = tables.checkpoint
    names = ("thread_id", "checkpoint_ns", "checkpoint_id", "seq", "parent_id", "run_id", "body", "checksum")
    return [row.c[name] for name in names]


@cache
def _find(tables: Tables, *, root: bool, named: bool) -> Any:
    head, row = tables.checkpoint_head, tables.checkpoint
    namespace = bindparam("namespace", type_=row.c.checkpoint_ns.type)
    newest = heads.newest_in(tables, namespace)
    if named:
        wanted = row.c.checkpoint_id == bindparam("wanted")
    else:
        wanted = row.c.checkpoint_id == head.c.head_id if root else row.c.seq == newest
    here = and_(row.c.thread_id == head.c.thread_id, row.c.checkpoint_ns == namespace, wanted)
    columns = (row.c.checkpoint_id, row.c.seq, row.c.parent_id, row.c.body, row.c.checksum)
    found = select(head.c.head_id, head.c.epoch, head.c.deleted, *columns)
    if not root:
        last = row.alias()
        at_last = (last.c.thread_id == bindparam("thread"), last.c.checkpoint_ns == namespace, last.c.seq == newest)
        found = found.add_columns(select(last.c.checkpoint_id).where(*at_last).scalar_subquery().label("newest"))
    found = found.select_from(head.outerjoin(row, here)).where(head.c.thread_id == bindparam("thread"))
    return found.execution_options(abreast_binary=True)


@cache
def _select_values(tables: Tables) -> Any:
    value = tables.checkpoint_value
    columns = (value.c.channel, value.c.seq, value.c.kind, value.c.bytes, value.c.checksum)
    return (
        select(*columns)
        .where(value.c.thread_id == bindparam("thread_id"), value.c.checkpoint_ns == bindparam("checkpoint_ns"))
        .execution_options(abreast_binary=True)
    )
