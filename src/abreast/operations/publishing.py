"""Publishing: a checkpoint becomes the newest of its namespace together with its bytes, or nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.exc import DBAPIError

from abreast.errors import CheckpointConflict
from abreast.operations import elements, heads, pending
from abreast.operations.checkpoints import checksum_of, is_checkpoint, newest_of
from abreast.operations.manifests import (
    INLINE_BYTES,
    Body,
    Inline,
    Listed,
    Place,
    Serialized,
    Stored,
    checksum,
    encode,
    packed,
)
from abreast.sql.dialects import dialect_of, insert_missing

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from sqlalchemy import CTE, ColumnElement, Connection

    from abreast.operations.elements import Address, Draft, Join
    from abreast.operations.heads import Advance, Claim
    from abreast.operations.manifests import Version
    from abreast.sql.dialects import Dialect
    from abreast.sql.tables import Tables


_TAIL: Final = "tail_"


class NewValue(NamedTuple):
    """A channel's new value and version."""

    version: Version
    value: Serialized | Draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """
    A checkpoint that is to become the newest.

    Attributes:
        expected: What must be the newest of its namespace until then; None: nothing is there yet.
        kept: Channels whose bytes the parent has.
        changed: Channels whose bytes are new.
        loaded_writes: Ordinary writes of the parent that were there when it was loaded; None if that is not known.
        writer: The load that the checkpoint was computed from.
        counts_writes: Channels are stored as changes, so that the parent's writes are state.
    """

    address: Address
    checkpoint_id: str
    parent_id: str | None
    expected: str | None
    core: Serialized
    metadata: Serialized
    kept: Mapping[str, Place]
    changed: Mapping[str, NewValue]
    run_id: str | None = None
    run_state: str = "idle"
    step: Sequence[str] = ()
    size: int = 0
    anywhere: bool = False
    forks: bool = False
    loaded_writes: int | None = None
    writer: int = 0
    counts_writes: bool = False


class Outcome(NamedTuple):
    """What a publish stored: its number, the thread's epoch, and where each channel is."""

    seq: int
    epoch: int
    channels: Mapping[str, Place]


def publish(connection: Connection, tables: Tables, claim: Claim, new: Publication, join: Join) -> Outcome:
    """
    Store a checkpoint as the newest of its namespace, or nothing.

    Safe to repeat: the same checkpoint again takes the place of its row.

    Args:
        join: Makes one value of the values of small element rows.

    Raises:
        CheckpointConflict: Another checkpoint is the newest, or somebody else has written to the parent.
        LeaseLost: A later run has the thread.
        ThreadBusy: Somebody runs the thread, and this is no run of it.
        ThreadDeleted: The thread was deleted meanwhile.
    """
    (seq, epoch), again = _advance(connection, tables, claim, new)
    channels = _unnumbered(new.kept) if again or new.forks else dict(new.kept)
    tail: dict[str, Any] | None = None
    for channel, (version, value) in new.changed.items():
        if isinstance(value, Serialized):
            channels[channel] = Place(version, _keep(connection, tables, new.address, channel, seq, value))
            continue
        draft = value._replace(known=None) if again else value
        listed, rows = elements.append(connection, tables, new.address, channel, draft)
        merges = listed.loose >= elements.LOOSE_ROWS
        if tail is None and len(rows) == 1 and not (merges or again or new.anywhere):
            tail = elements.values_of(new.address, channel, rows[0])
        else:
            elements.write(connection, tables, new.address, channel, rows)
        if merges:
            listed = elements.merge(connection, tables, new.address, channel, listed, join)
        channels[channel] = Place(version, listed)
    body = Body(new.core, new.metadata, channels, _parent_writes(connection, tables, new))
    _insert(connection, tables, new, heads.Published(seq, epoch), body, tail, again=again)
    return Outcome(seq, epoch, channels)


def _advance(connection: Connection, tables: Tables, claim: Claim, new: Publication) -> tuple[heads.Published, bool]:
    """Move the head, and say whether the checkpoint was stored before."""
    try:
        return heads.advance(connection, tables, claim, _move(new)), _check_place(connection, tables, new)
    except CheckpointConflict as error:
        if error.actual != new.checkpoint_id or not _is_there(
            connection, tables, new, new.checkpoint_id, new.parent_id
        ):
            raise
    again = replace(new, expected=new.checkpoint_id)
    return heads.advance(connection, tables, claim, _move(again)), True


def _move(new: Publication) -> Advance:
    """
    Say how the head moves.

    A checkpoint without parent begins a deleted thread anew, but not in a nested namespace: nobody could tell it from
    one of a run that goes on in a deleted thread.
    """
    return heads.Advance(
        namespace=new.address.checkpoint_ns,
        head_id=new.checkpoint_id,
        expected=new.expected,
        anywhere=new.anywhere,
        revives=new.parent_id is None and not new.address.checkpoint_ns,
        run_state=new.run_state,
        step=new.step,
        size=new.size,
    )


def _check_place(connection: Connection, tables: Tables, new: Publication) -> bool:
    """Make sure that the parent is what was expected; says whether the checkpoint was stored before."""
    if new.forks and new.parent_id is not None and not _is_there(connection, tables, new, new.parent_id):
        raise CheckpointConflict(*new.address, new.parent_id, None, why="the named checkpoint was removed")
    if not new.address.checkpoint_ns:
        return False
    newest = newest_of(connection, tables, new.address)
    if newest == new.checkpoint_id:
        return True
    if newest != new.expected and not new.anywhere:
        raise CheckpointConflict(*new.address, new.expected, newest)
    return False


def _is_there(
    connection: Connection, tables: Tables, new: Publication, checkpoint_id: str, *parent: str | None
) -> bool:
    statement = select(tables.checkpoint.c.parent_id).where(is_checkpoint(tables, new.address, checkpoint_id))
    found = connection.execute(statement).first()
    return found is not None and (not parent or found.parent_id == parent[0])


def _parent_writes(connection: Connection, tables: Tables, new: Publication) -> int | None:
    if not new.counts_writes or new.parent_id is None:
        return None
    return pending.count(connection, tables, new.address, new.parent_id)


def _unnumbered(kept: Mapping[str, Place]) -> dict[str, Place]:
    return {
        channel: Place(version, elements.unnumbered(entry) if isinstance(entry, Listed) else entry)
        for channel, (version, entry) in kept.items()
    }


def _keep(
    connection: Connection, tables: Tables, address: Address, channel: str, seq: int, value: Serialized
) -> Inline | Stored:
    if len(value.data) <= INLINE_BYTES:
        return Inline(*value)
    stored = packed(value)
    connection.execute(
        _insert_value(tables),
        {
            **address._asdict(),
            "channel": channel,
            "seq": seq,
            "kind": stored.kind,
            "bytes": stored.data,
            "checksum": checksum(address.checkpoint_ns, channel, seq, *stored),
        },
    )
    return Stored(seq, len(value.data))


def _insert(
    connection: Connection,
    tables: Tables,
    new: Publication,
    at: heads.Published,
    body: Body,
    tail: Mapping[str, Any] | None,
    *,
    again: bool,
) -> None:
    data = encode(body)
    values = {
        **new.address._asdict(),
        "checkpoint_id": new.checkpoint_id,
        "seq": at.version_id,
        "parent_id": new.parent_id,
        "epoch": at.epoch,
        "run_id": new.run_id,
        "body": data,
        "checksum": checksum_of(new.address, new.checkpoint_id, new.parent_id, data),
    }
    if again or new.anywhere:
        _replace(connection, tables, new, values)
    else:
        _insert_new(connection, tables, new, values, tail)


def _insert_new(
    connection: Connection,
    tables: Tables,
    new: Publication,
    values: Mapping[str, Any],
    tail: Mapping[str, Any] | None,
) -> None:
    """
    Insert a row if nobody else has written to the parent since it was loaded: those writes are state too.

    That is looked at in a statement of its own: the one that took the head saw what was there before it waited.

    Args:
        tail: The new end of a list, inserted by the same statement where the database allows it.
    """
    dialect = dialect_of(connection)
    looks = new.loaded_writes is not None and new.parent_id is not None
    parameters = {**values, "loaded_writes": new.loaded_writes, "writer": new.writer}
    if tail is not None and not dialect.inserts_in_ctes:
        connection.execute(elements.insertion(tables), tail)
        tail = None
    if tail is not None:
        parameters |= {f"{_TAIL}{name}": value for name, value in tail.items()}
    statement = _insert_row(tables, cast("Hashable", dialect), looks=looks, has_tail=tail is not None)
    try:
        stored = connection.execute(statement, parameters, execution_options={"preserve_rowcount": True}).rowcount
    except DBAPIError as error:
        if not dialect.is_duplicate(error):
            raise
        why = "the thread has this checkpoint already, and it is not the newest"
    else:
        if stored == 1:
            return
        why = "somebody else has stored results of its tasks"
    raise CheckpointConflict(*new.address, new.checkpoint_id, new.parent_id, why=why)


def _replace(connection: Connection, tables: Tables, new: Publication, values: Mapping[str, Any]) -> None:
    values = {**values, "created_at": dialect_of(connection).clock()}
    if not insert_missing(connection, tables.checkpoint, values):
        here = is_checkpoint(tables, new.address, new.checkpoint_id)
        connection.execute(update(tables.checkpoint).where(here).values(**values))


@cache
def _insert_row(tables: Tables, dialect: Dialect, *, looks: bool, has_tail: bool) -> Any:
    table = tables.checkpoint
    names = [column.name for column in table.columns if column.name != "created_at"]
    given = {name: bindparam(name, type_=table.c[name].type) for name in names}
    if looks:
        row = select(*given.values(), dialect.clock()).where(_writes_of_others(tables))
        statement = insert(table).from_select([*names, "created_at"], row)
    else:
        statement = insert(table).values(**given, created_at=dialect.clock())
    return statement.add_cte(_insert_tail(tables)) if has_tail else statement


def _insert_tail(tables: Tables) -> CTE:
    element = tables.checkpoint_element
    given = {column.name: bindparam(f"{_TAIL}{column.name}", type_=column.type) for column in element.columns}
    return insert(element).values(given).cte("tail")


def _writes_of_others(tables: Tables) -> ColumnElement[bool]:
    write = tables.checkpoint_write
    others = select(func.count()).select_from(write)
    others = others.where(
        write.c.thread_id == bindparam("thread_id"),
        write.c.checkpoint_ns == bindparam("checkpoint_ns"),
        write.c.checkpoint_id == bindparam("parent_id"),
        write.c.idx >= 0,
        write.c.writer != bindparam("writer"),
    )
    return others.scalar_subquery() == bindparam("loaded_writes")


@cache
def _insert_value(tables: Tables) -> Any:
    return insert(tables.checkpoint_value)
