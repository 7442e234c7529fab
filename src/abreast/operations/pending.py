"""Pending writes: what the tasks of a checkpoint have written, until the next checkpoint holds it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, bindparam, func, select, update

from abreast.operations.manifests import Serialized, checksum, packed, unpacked
from abreast.sql.dialects import insert_missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from abreast.operations.elements import Address
    from abreast.sql.tables import Tables

MOST_AT_ONCE = 500
"""Most checkpoints of one statement: Oracle takes 1,000 values in a list."""


class PendingWrite(NamedTuple):
    """
    One write of one task.

    Attributes:
        idx: Its place among the task's writes; below 0 for special channels, of which the last one counts.
        total: How many ordinary writes the task has made, as far as it was known when this one was stored.
        writer: Who stored it: the load its state was computed from.
        intact: The checksum is that of the bytes.
    """

    checkpoint_id: str
    task_id: str
    idx: int
    channel: str
    value: Serialized
    task_path: str
    total: int
    writer: int
    intact: bool = True


def put(connection: Connection, tables: Tables, address: Address, writes: Iterable[PendingWrite]) -> None:
    """Store writes: of an ordinary one the first counts, of a special one the last."""
    for write in (write._replace(value=packed(write.value)) for write in writes):
        key = {**address._asdict(), "checkpoint_id": write.checkpoint_id, "task_id": write.task_id, "idx": write.idx}
        values = {
            "channel": write.channel,
            "kind": write.value.kind,
            "bytes": write.value.data,
            "task_path": write.task_path,
            "total": write.total,
            "writer": write.writer,
            "checksum": _checksum(address.checkpoint_ns, write),
        }
        stored = insert_missing(connection, tables.checkpoint_write, {**key, **values})
        if not stored and write.idx < 0:
            row = tables.checkpoint_write
            here = and_(*(row.c[name] == value for name, value in key.items()))
            connection.execute(update(row).where(here).values(**values))


def read(
    connection: Connection, tables: Tables, address: Address, checkpoint_ids: Sequence[str], *channels: str
) -> dict[str, list[PendingWrite]]:
    """
    Give the writes of at most `MOST_AT_ONCE` checkpoints, by checkpoint, in the order in which they apply.

    Args:
        channels: Only these.
    """
    found: dict[str, list[PendingWrite]] = {checkpoint_id: [] for checkpoint_id in checkpoint_ids}
    statement = _select(tables)
    parameters: dict[str, Any] = address._asdict()
    row = tables.checkpoint_write
    if len(checkpoint_ids) == 1:
        statement = statement.where(row.c.checkpoint_id == bindparam("checkpoint_id"))
        parameters["checkpoint_id"] = checkpoint_ids[0]
    else:
        statement = statement.where(row.c.checkpoint_id.in_(checkpoint_ids))
    if channels:
        statement = statement.where(row.c.channel.in_(channels))
    for each in connection.execute(statement, parameters):
        found[each.checkpoint_id].append(_write(address.checkpoint_ns, each))
    for writes in found.values():
        writes.sort(key=lambda write: (write.task_path, write.task_id, write.idx))
    return found


def missing_from(writes: Iterable[PendingWrite]) -> str | None:
    """Name a task that has made more ordinary writes than are there."""
    most: dict[str, int] = {}
    there: dict[str, int] = {}
    for write in writes:
        if write.idx >= 0:
            most[write.task_id] = max(most.get(write.task_id, 0), write.total)
            there[write.task_id] = there.get(write.task_id, 0) + 1
    return next((task_id for task_id, count in most.items() if there[task_id] < count), None)


def count(connection: Connection, tables: Tables, address: Address, checkpoint_id: str) -> int:
    """Count a checkpoint's ordinary writes."""
    parameters = {**address._asdict(), "checkpoint_id": checkpoint_id}
    return int(connection.scalar(_count(tables), parameters) or 0)


def count_of_others(connection: Connection, tables: Tables, address: Address, checkpoint_id: str, writer: int) -> int:
    """Count a checkpoint's ordinary writes that somebody else has stored."""
    row = tables.checkpoint_write
    statement = _count(tables).where(row.c.writer != bindparam("writer"))
    parameters = {**address._asdict(), "checkpoint_id": checkpoint_id, "writer": writer}
    return int(connection.scalar(statement, parameters) or 0)


@cache
def _count(tables: Tables) -> Any:
    row = tables.checkpoint_write
    inside = [row.c[name] == bindparam(name) for name in ("thread_id", "checkpoint_ns", "checkpoint_id")]
    return select(func.count()).select_from(row).where(*inside, row.c.idx >= 0)


def _write(checkpoint_ns: str, row: Any) -> PendingWrite:
    write = PendingWrite(
        row.checkpoint_id,
        row.task_id,
        int(row.idx),
        row.channel,
        Serialized(row.kind, bytes(row.bytes)),
        row.task_path,
        int(row.total),
        int(row.writer),
    )
    intact = _checksum(checkpoint_ns, write) == bytes(row.checksum)
    return write._replace(value=unpacked(write.value)) if intact else write._replace(intact=False)


def _checksum(checkpoint_ns: str, write: PendingWrite) -> bytes:
    key = (checkpoint_ns, write.checkpoint_id, write.task_id, write.idx, write.channel, write.task_path, write.total)
    return checksum(*key, write.value.kind, write.value.data)


@cache
def _select(tables: Tables) -> Any:
    row = tables.checkpoint_write
    names = ("checkpoint_id", "task_id", "idx", "channel", "kind", "bytes", "task_path", "total", "writer", "checksum")
    return (
        select(*(row.c[name] for name in names))
        .where(row.c.thread_id == bindparam("thread_id"), row.c.checkpoint_ns == bindparam("checkpoint_ns"))
        .execution_options(abreast_binary=True)
    )
