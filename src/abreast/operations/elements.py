"""The element log of channels that are lists: appended to, merged, read by ranges."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from struct import pack, unpack
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import and_, bindparam, delete, func, insert, select

from abreast.operations.manifests import Listed, Serialized, Span, checksum, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, Table
    from sqlalchemy.sql.dml import Insert

    from abreast.sql.tables import Tables

    Join = Callable[[Sequence["ElementRow"]], Serialized | None]

LOOSE_ROWS: Final = 64
"""So many rows that were appended singly are merged into one."""
_SMALL_BYTES: Final = 16_384
"""Larger rows are left alone."""
_MOST_SPANS: Final = 2
"""With more ranges than this the rows from the first to the last of them are read."""
_SIZE_BYTES: Final = 4
_UNKNOWN: Final = -1


class Address(NamedTuple):
    """A namespace of a thread."""

    thread_id: str
    checkpoint_ns: str


def inside(table: Table, address: Address) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Build the conditions that a row of any of the checkpoint tables belongs to a namespace."""
    return table.c.thread_id == address.thread_id, table.c.checkpoint_ns == address.checkpoint_ns


class ElementRow(NamedTuple):
    """
    Consecutive elements of a log.

    Attributes:
        first: Number of the first of them.
        sizes: Bytes of each, before the serializer encrypted them.
        intact: The checksum is that of the bytes.
    """

    first: int
    sizes: tuple[int, ...]
    value: Serialized
    intact: bool = True

    @property
    def end(self) -> int:
        """The number after the last of them."""
        return self.first + len(self.sizes)


class NewElements(NamedTuple):
    """Elements that become one row."""

    sizes: tuple[int, ...]
    value: Serialized


class Draft(NamedTuple):
    """
    A list that is about to be stored.

    Attributes:
        pieces: Numbers of elements that are stored, and new ones, in the list's order.
        known: The list as the parent has it: new elements follow its numbers; None if somebody else may have
            appended since.
    """

    pieces: Sequence[Span | NewElements]
    size: int
    known: Listed | None


def append(
    connection: Connection, tables: Tables, address: Address, channel: str, draft: Draft
) -> tuple[Listed, list[ElementRow]]:
    """Number the new elements of a list: gives its ranges, and the rows to `write`; the head row must be held."""
    known = draft.known if draft.known and draft.known.next != _UNKNOWN else None
    following = known.next if known else _next_number(connection, tables, address, channel)
    rows: list[ElementRow] = []
    spans: list[Span] = []
    for piece in draft.pieces:
        if isinstance(piece, Span):
            spans.append(piece)
            continue
        rows.append(ElementRow(following, *piece))
        spans.append(Span(following, following + len(piece.sizes)))
        following = spans[-1].end
    loose = (known.loose if known else LOOSE_ROWS) + len(rows)
    return Listed(joined(spans), draft.size, following, known.merged if known else 0, loose), rows


def unnumbered(listed: Listed) -> Listed:
    """Give a list of a checkpoint that is not the newest: others may have appended to its log since."""
    return listed._replace(next=_UNKNOWN)


def write(connection: Connection, tables: Tables, address: Address, channel: str, rows: Iterable[ElementRow]) -> None:
    """Insert rows."""
    values = [values_of(address, channel, row) for row in rows]
    if values:
        connection.execute(insertion(tables), values if len(values) > 1 else values[0])


def values_of(address: Address, channel: str, row: ElementRow) -> dict[str, Any]:
    """Give what the columns of a row hold."""
    sizes = _sizes(row.sizes)
    return {
        "thread_id": address.thread_id,
        "checkpoint_ns": address.checkpoint_ns,
        "channel": channel,
        "first": row.first,
        "count": len(row.sizes),
        "sizes": sizes,
        "kind": row.value.kind,
        "bytes": row.value.data,
        "checksum": _checksum(address.checkpoint_ns, channel, row.first, sizes, row.value),
    }


def merge(connection: Connection, tables: Tables, address: Address, channel: str, listed: Listed, join: Join) -> Listed:
    """
    Make one row of many small ones; elements keep their numbers. The head row must be held.

    Rows whose checksum is wrong stay as they are, so that whoever reads them is told.

    Args:
        join: Makes one value of the values of rows, or gives None where it cannot.
    """
    rows = _rows(connection, tables, address, channel, listed.merged)
    for together, group in groupby(rows, key=lambda row: row.intact and len(row.value.data) <= _SMALL_BYTES):
        members = list(group)
        value = join(members) if together and len(members) > 1 else None
        if value is None:
            continue
        _remove(connection, tables, address, channel, Span(members[0].first, members[-1].end))
        sizes = tuple(size for row in members for size in row.sizes)
        write(connection, tables, address, channel, [ElementRow(members[0].first, sizes, value)])
    return listed._replace(merged=rows[-1].end if rows else listed.next, loose=0)


def read(
    connection: Connection, tables: Tables, address: Address, wanted: Mapping[str, Iterable[Span]]
) -> dict[str, list[ElementRow]]:
    """Give the rows that hold elements of ranges, by channel, in order."""
    found: dict[str, list[ElementRow]] = {channel: [] for channel in wanted}
    for channel, spans in wanted.items():
        for span in _read(spans):
            parameters = {**address._asdict(), "channel": channel, "start": span.start, "end": span.end}
            for row in connection.execute(_within(tables), parameters):
                found[channel].append(_row(address.checkpoint_ns, row))
    return found


def _read(spans: Iterable[Span]) -> list[Span]:
    """Give what is read for ranges: few statements, whose rows follow each other and come once."""
    ranges = _merged(sorted(spans))
    return ranges if len(ranges) <= _MOST_SPANS else [Span(ranges[0].start, ranges[-1].end)]


def keep_only(connection: Connection, tables: Tables, address: Address, channel: str, spans: Iterable[Span]) -> None:
    """Delete the rows that hold no element of the ranges; the head row must be held."""
    element = tables.checkpoint_element
    needed = joined(sorted(spans))
    ends = [Span(0, 0), *_merged(needed)]
    for before, after in zip(ends, [*ends[1:], None], strict=True):
        gap = and_(element.c.first >= before.end, _of_channel(tables, address, channel))
        if after is not None:
            gap = and_(gap, element.c.first + element.c.count <= after.start)
        connection.execute(delete(element).where(gap))


def channels_of(connection: Connection, tables: Tables, address: Address) -> list[str]:
    """List the channels that have a log in a namespace."""
    element = tables.checkpoint_element
    listed = select(element.c.channel).where(*inside(element, address)).distinct()
    return list(connection.scalars(listed.order_by(element.c.channel)))


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Join sorted ranges that overlap."""
    found: list[Span] = []
    for span in spans:
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


def _next_number(connection: Connection, tables: Tables, address: Address, channel: str) -> int:
    element = tables.checkpoint_element
    most = select(func.max(element.c.first + element.c.count)).where(_of_channel(tables, address, channel))
    return int(connection.scalar(most) or 0)


def _rows(connection: Connection, tables: Tables, address: Address, channel: str, first: int) -> list[ElementRow]:
    element = tables.checkpoint_element
    later = _select(tables).where(element.c.channel == channel, element.c.first >= first).order_by(element.c.first)
    return [_row(address.checkpoint_ns, row) for row in connection.execute(later, address._asdict())]


def _remove(connection: Connection, tables: Tables, address: Address, channel: str, span: Span) -> None:
    element = tables.checkpoint_element
    removed = (element.c.first >= span.start, element.c.first < span.end)
    connection.execute(delete(element).where(_of_channel(tables, address, channel), *removed))


def _of_channel(tables: Tables, address: Address, channel: str) -> ColumnElement[bool]:
    element = tables.checkpoint_element
    return and_(*inside(element, address), element.c.channel == channel)


def _row(checkpoint_ns: str, row: Any) -> ElementRow:
    channel, first, sizes, kind, data, stored, length = row
    sizes, value = bytes(sizes), Serialized(kind, bytes(data))
    right = _checksum(checkpoint_ns, channel, int(first), sizes, value) == bytes(stored)
    numbers = unpack(f">{len(sizes) // _SIZE_BYTES}I", sizes) if right else (0,) * length
    return ElementRow(int(first), numbers, value, right and len(numbers) == length)


def _sizes(sizes: Iterable[int]) -> bytes:
    numbers = tuple(sizes)
    return pack(f">{len(numbers)}I", *numbers)


def _checksum(checkpoint_ns: str, channel: str, first: int, sizes: bytes, value: Serialized) -> bytes:
    return checksum(checkpoint_ns, channel, first, sizes, value.kind, value.data)


@cache
def insertion(tables: Tables) -> Insert:
    """Build the INSERT of a row."""
    return insert(tables.checkpoint_element)


@cache
def _within(tables: Tables) -> Any:
    element = tables.checkpoint_element
    shared = (element.c.first < bindparam("end"), element.c.first + element.c["count"] > bindparam("start"))
    return _select(tables).where(element.c.channel == bindparam("channel"), *shared).order_by(element.c.first)


@cache
def _select(tables: Tables) -> Any:
    element = tables.checkpoint_element
    columns = ("channel", "first", "sizes", "kind", "bytes", "checksum")
    length = element.c["count"].label("length")
    return (
        select(*(element.c[name] for name in columns), length)
        .where(element.c.thread_id == bindparam("thread_id"), element.c.checkpoint_ns == bindparam("checkpoint_ns"))
        .execution_options(abreast_binary=True)
    )
