"""What a stored checkpoint is made of, and where its bytes are."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from abreast.operations.packing import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

INLINE_BYTES: Final = 64
"""Values up to this size stand in the manifest."""
_CHECKSUM_BYTES: Final = 16
_PLAIN, _PACKED = b"\x00", b"\x01"
_HEADER_BYTES: Final = 4
_PACKED_KIND: Final = "z1:"
"""Begin of the kind of values that are stored packed."""
_MOST_PACKED: Final = 65_536
"""Larger values take longer to pack than their bytes are worth."""
Version = int | float | str


class Serialized(NamedTuple):
    """A value as the serializer gave it."""

    kind: str
    data: bytes


class Inline(NamedTuple):
    """A small value that stands in the manifest."""

    kind: str
    data: bytes

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.data)


class Stored(NamedTuple):
    """A value with a row of its own, named by the publish that wrote it."""

    seq: int
    size: int


class Span(NamedTuple):
    """Element numbers `start` up to, and without, `end`."""

    start: int
    end: int


class Listed(NamedTuple):
    """
    A list whose elements stand in the channel's log.

    Attributes:
        next: The first number that nobody has.
        merged: The first number of the rows that are not merged yet.
        loose: How many rows these are.
    """

    spans: tuple[Span, ...]
    size: int
    next: int
    merged: int
    loose: int

    @property
    def length(self) -> int:
        """How many elements the list has."""
        return sum(end - start for start, end in self.spans)


Entry = Inline | Stored | Listed


class Place(NamedTuple):
    """Where a channel's value is, and the version it has."""

    version: Version
    entry: Entry


@dataclass(frozen=True, slots=True)
class Body:
    """
    A checkpoint without the bytes that it shares with others.

    Attributes:
        core: The checkpoint without its channel values.
        channels: Where the values are; a channel that has none is not among them.
        parent_writes: Ordinary pending writes that the parent had at least, where they are state themselves.
    """

    core: Serialized
    metadata: Serialized
    channels: Mapping[str, Place] = field(default_factory=dict[str, Place])
    parent_writes: int | None = None

    @property
    def size(self) -> int:
        """Bytes of the whole state, however many other checkpoints share them."""
        return len(self.core.data) + len(self.metadata.data) + sum(p.entry.size for p in self.channels.values())


def packed(value: Serialized) -> Serialized:
    """Give a value as it is stored."""
    data = pack(value.data) if len(value.data) <= _MOST_PACKED else None
    return value if data is None else Serialized(_PACKED_KIND + value.kind, data)


def unpacked(value: Serialized) -> Serialized:
    """Give a stored value back, whose checksum has been verified."""
    if not value.kind.startswith(_PACKED_KIND):
        return value
    return Serialized(value.kind.removeprefix(_PACKED_KIND), unpack(value.data))


def encode(body: Body) -> bytes:
    """Write a body as bytes."""
    header = json.dumps(
        {
            "core": [body.core.kind, len(body.core.data)],
            "metadata": [body.metadata.kind, len(body.metadata.data)],
            "channels": {name: [place.version, *_listed(place.entry)] for name, place in body.channels.items()},
            **({} if body.parent_writes is None else {"parent_writes": body.parent_writes}),
        },
        separators=(",", ":"),
    ).encode()
    plain = b"".join((len(header).to_bytes(_HEADER_BYTES, "big"), header, body.core.data, body.metadata.data))
    packed = pack(plain)
    return _PLAIN + plain if packed is None else _PACKED + packed


def decode(data: bytes) -> Body:
    """Read what `encode` wrote; its checksum has been verified."""
    plain = unpack(data[1:]) if data[:1] == _PACKED else data[1:]
    end = _HEADER_BYTES + int.from_bytes(plain[:_HEADER_BYTES], "big")
    header = json.loads(plain[_HEADER_BYTES:end])
    core_kind, core_size = header["core"]
    metadata_kind, metadata_size = header["metadata"]
    middle = end + core_size
    return Body(
        Serialized(core_kind, plain[end:middle]),
        Serialized(metadata_kind, plain[middle : middle + metadata_size]),
        {name: Place(version, _entry(*rest)) for name, (version, *rest) in header["channels"].items()},
        header.get("parent_writes"),
    )


def checksum(*parts: str | int | bytes | None) -> bytes:
    """Give the checksum of bytes together with what they are bytes of."""
    described = [len(part) if isinstance(part, bytes) else part for part in parts]
    digest = sha256(repr(described).encode("utf-8", "surrogatepass"))
    for part in parts:
        if isinstance(part, bytes):
            digest.update(part)
    return digest.digest()[:_CHECKSUM_BYTES]


def spans_between(spans: Iterable[Span], start: int, end: int) -> list[Span]:
    """Give the numbers of the elements at `start` up to `end` of a list."""
    found: list[Span] = []
    passed = 0
    for span in spans:
        first = span.start + max(start - passed, 0)
        last = min(span.start + end - passed, span.end)
        if first < last:
            found.append(Span(first, last))
        passed += span.end - span.start
    return found


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Make one span of those that follow each other."""
    found: list[Span] = []
    for span in spans:
        if found and found[-1].end == span.start:
            found[-1] = Span(found[-1].start, span.end)
        else:
            found.append(span)
    return tuple(found)


def _listed(entry: Entry) -> list[Any]:
    if isinstance(entry, Inline):
        return ["i", entry.kind, b64encode(entry.data).decode()]
    if isinstance(entry, Stored):
        return ["v", entry.seq, entry.size]
    return ["l", [number for span in entry.spans for number in span], *entry[1:]]


def _entry(form: str, *rest: Any) -> Entry:
    if form == "i":
        kind, data = rest
        return Inline(kind, b64decode(data))
    if form == "v":
        return Stored(*rest)
    numbers, *others = rest
    bounds = iter(cast("list[int]", numbers))
    return Listed(tuple(Span(start, end) for start, end in zip(bounds, bounds, strict=True)), *others)
