"""Removal of stored checkpoints: a whole thread, what is too old, what runs have stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, and_, case, delete, literal, or_, select

from abreast.errors import CheckpointsNeeded
from abreast.operations import ancestry, checkpoints, elements, heads
from abreast.operations.elements import Address, inside
from abreast.operations.manifests import Listed, Span, Stored
from abreast.sql.dialects import dialect_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection

    from abreast.operations.checkpoints import StoredCheckpoint
    from abreast.operations.manifests import Body
    from abreast.sql.tables import Tables

    Changes = Callable[[Body], Collection[str]]

_AT_ONCE: Final = 400


@dataclass(frozen=True, slots=True)
class Brief:
    """
    A checkpoint without its body.

    Attributes:
        is_old: It is older than what is to be kept for its age.
    """

    checkpoint_id: str
    seq: int
    parent_id: str | None
    run_id: str | None
    is_old: bool


def delete_thread(connection: Connection, tables: Tables, thread_id: str) -> None:
    """Remove everything of a thread but its tombstone; what is not there is no error."""
    if not heads.bury(connection, tables, thread_id):
        return
    for table in tables.of_checkpoints:
        connection.execute(delete(table).where(table.c.thread_id == thread_id))


def prune(
    connection: Connection,
    tables: Tables,
    thread_id: str,
    *,
    keep_last: int,
    micros: int | None,
    changes: Changes,
) -> int:
    """
    Remove old checkpoints of a thread with their pending writes, and the bytes that only they had.

    The newest of each namespace stays, with its pending writes: an open question can still be answered. So do the
    ancestors that hold changes of a channel which a kept checkpoint has no value of.

    Args:
        keep_last: How many of each namespace stay.
        micros: Younger ones stay as well.
        changes: Gives the channels of a checkpoint that are stored as changes.

    Returns:
        How many checkpoints were removed.
    """
    head = heads.lock(connection, tables, thread_id)
    if head is None:
        return 0
    removed = 0
    for address, rows in _by_namespace(connection, tables, thread_id, micros).items():
        kept = {row.checkpoint_id for row in rows[:keep_last]} | {row.checkpoint_id for row in rows if not row.is_old}
        if not address.checkpoint_ns and head.head_id is not None:
            kept.add(head.head_id)
        bodies = _bodies(connection, tables, address, kept)
        kept |= _needed(connection, tables, address, bodies.values(), changes).keys()
        gone = [row.checkpoint_id for row in rows if row.checkpoint_id not in kept]
        if gone:
            _remove(connection, tables, address, gone, dict.fromkeys(gone))
        removed += len(gone)
    return removed


def threads_of_runs(connection: Connection, tables: Tables, run_ids: Sequence[str]) -> list[str]:
    """List the threads in which runs have stored checkpoints."""
    row = tables.checkpoint
    found: set[str] = set()
    for page in _pages(run_ids):
        found |= set(connection.scalars(select(row.c.thread_id).where(row.c.run_id.in_(page)).distinct()))
    return sorted(found)


def delete_for_runs(
    connection: Connection, tables: Tables, thread_id: str, run_ids: Collection[str], changes: Changes
) -> None:
    """
    Remove what runs have stored in a thread; what came after it stays, and follows what came before it.

    Raises:
        CheckpointsNeeded: A checkpoint that stays is made of writes that would be removed.
    """
    head = heads.lock(connection, tables, thread_id)
    for address, rows in _by_namespace(connection, tables, thread_id, None).items():
        gone = {row.checkpoint_id: row.parent_id for row in rows if row.run_id in run_ids}
        kept = [row.checkpoint_id for row in rows if row.checkpoint_id not in gone]
        bodies = _bodies(connection, tables, address, kept)
        needed = _needed(connection, tables, address, bodies.values(), changes)
        channels = frozenset[str]().union(*(found for name, found in needed.items() if name in gone))
        if channels:
            raise CheckpointsNeeded(thread_id, channels)
        _remove(connection, tables, address, list(gone), gone)
        if head is not None and not address.checkpoint_ns and head.head_id in gone:
            following = _before(head.head_id, gone) or next(iter(kept), None)
            size = bodies[following].body.size if following in bodies else 0
            heads.point(connection, tables, thread_id, following, size)


def _by_namespace(
    connection: Connection, tables: Tables, thread_id: str, micros: int | None
) -> dict[Address, list[Brief]]:
    """List a thread's checkpoints by namespace, newest first."""
    row = tables.checkpoint
    is_old: ColumnElement[int] = literal(1)
    if micros is not None:
        since = dialect_of(connection).clock() - literal(micros, BigInteger)
        is_old = case((row.c.created_at < since, literal(1)), else_=literal(0))
    columns = (row.c.checkpoint_ns, row.c.checkpoint_id, row.c.seq, row.c.parent_id, row.c.run_id)
    statement = select(*columns, is_old.label("is_old")).where(row.c.thread_id == thread_id)
    found: dict[Address, list[Brief]] = {}
    for each in connection.execute(statement.order_by(row.c.seq.desc())):
        listed = Brief(each.checkpoint_id, int(each.seq), each.parent_id, each.run_id, bool(each.is_old))
        found.setdefault(Address(thread_id, each.checkpoint_ns), []).append(listed)
    return found


def _bodies(
    connection: Connection, tables: Tables, address: Address, checkpoint_ids: Iterable[str]
) -> dict[str, StoredCheckpoint]:
    """Read checkpoints, oldest first."""
    found: list[StoredCheckpoint] = []
    for page in _pages(sorted(checkpoint_ids)):
        named = tables.checkpoint.c.checkpoint_id.in_(page)
        rows = connection.execute(checkpoints.select_stored(tables, address).where(named))
        found += [checkpoints.verified(address, each) for each in rows]
    return {each.checkpoint_id: each for each in sorted(found, key=lambda each: each.seq)}


def _needed(
    connection: Connection, tables: Tables, address: Address, kept: Iterable[StoredCheckpoint], changes: Changes
) -> dict[str, set[str]]:
    """Give the ancestors that checkpoints are made of, with the channels that they hold changes of."""
    found: dict[str, set[str]] = {}
    for row in kept:
        missing = set(changes(row.body)) - row.body.channels.keys()
        for ancestor in ancestry.ancestors(connection, tables, address, row) if missing else ():
            if missing <= found.get(ancestor.checkpoint_id, set()):
                break
            found.setdefault(ancestor.checkpoint_id, set()).update(missing)
            missing -= ancestor.body.channels.keys()
            if not missing:
                break
    return found


def _remove(
    connection: Connection,
    tables: Tables,
    address: Address,
    gone: Sequence[str],
    parents: Mapping[str, str | None],
) -> None:
    """
    Remove checkpoints and what only they need.

    Args:
        parents: Of each, what those that follow it are to follow then.
    """
    if not gone:
        return
    _follow(connection, tables, address, parents)
    for table in (tables.checkpoint_write, tables.checkpoint):
        for page in _pages(gone):
            connection.execute(delete(table).where(*inside(table, address), table.c.checkpoint_id.in_(page)))
    _sweep(connection, tables, address)


def _follow(connection: Connection, tables: Tables, address: Address, parents: Mapping[str, str | None]) -> None:
    """Let the children of what is removed follow its parents."""
    row = tables.checkpoint
    listed = select(row.c.checkpoint_id).where(*inside(row, address))
    children: set[str] = set()
    for page in _pages(list(parents)):
        children |= set(connection.scalars(listed.where(row.c.parent_id.in_(page))))
    for child in _bodies(connection, tables, address, children - parents.keys()).values():
        if child.parent_id is not None:
            checkpoints.set_parent(connection, tables, address, child, _before(child.parent_id, parents))


def _before(checkpoint_id: str, parents: Mapping[str, str | None]) -> str | None:
    """Give the nearest ancestor that is not removed."""
    found: str | None = checkpoint_id
    while found is not None and found in parents:
        found = parents[found]
    return found


def _sweep(connection: Connection, tables: Tables, address: Address) -> None:
    """Remove the values and elements that no checkpoint of a namespace has."""
    spans: dict[str, set[Span]] = {}
    values: set[tuple[str, int]] = set()
    for body in _all_bodies(connection, tables, address):
        for channel, (_, entry) in body.channels.items():
            if isinstance(entry, Listed):
                spans.setdefault(channel, set()).update(entry.spans)
            elif isinstance(entry, Stored):
                values.add((channel, entry.seq))
    for channel in elements.channels_of(connection, tables, address):
        elements.keep_only(connection, tables, address, channel, spans.get(channel, ()))
    value = tables.checkpoint_value
    here = inside(value, address)
    stored = {
        (row.channel, int(row.seq)) for row in connection.execute(select(value.c.channel, value.c.seq).where(*here))
    }
    for page in _pages(sorted(stored - values)):
        each = or_(*(and_(value.c.channel == channel, value.c.seq == seq) for channel, seq in page))
        connection.execute(delete(value).where(*here, each))


def _all_bodies(connection: Connection, tables: Tables, address: Address) -> Iterator[Body]:
    """Give the bodies of a namespace, a page at a time."""
    row = tables.checkpoint
    after = -1
    while True:
        later = checkpoints.select_stored(tables, address).where(row.c.seq > after).order_by(row.c.seq)
        page = connection.execute(later.limit(_AT_ONCE)).all()
        yield from (checkpoints.verified(address, each).body for each in page)
        if len(page) < _AT_ONCE:
            return
        after = int(page[-1].seq)


def _pages(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Give the items in portions: Oracle takes 1,000 values in a list."""
    yield from (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))
