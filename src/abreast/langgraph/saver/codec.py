"""Values to bytes and back, as the serializer has it, and lists by element."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from abreast.errors import InvalidInput
from abreast.operations.elements import NewElements
from abreast.operations.manifests import Serialized

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from langgraph.checkpoint.serde.base import SerializerProtocol

    from abreast.operations.elements import ElementRow

_PACKED: Final = "packed"
"""Kind of rows that hold msgpack of their elements one after the other: with an array's header it is that list."""
_ALONE: Final = "list:"
"""Begin of the kind of rows that hold a list of one element, in a form that cannot be joined."""
_ARRAY_OF_ONE: Final = 0x91
_SHORT, _MIDDLE = 16, 65_536
_LONGEST_KIND: Final = 50


class Part(NamedTuple):
    """The bytes of one element, not encrypted."""

    kind: str
    data: bytes


class Piece(NamedTuple):
    """Elements that follow each other, not encrypted."""

    kind: str
    data: bytes
    sizes: tuple[int, ...]

    def parts(self) -> Iterator[Part]:
        """Give the bytes of each element."""
        start = 0
        for size in self.sizes:
            yield Part(self.kind, self.data[start : start + size])
            start += size


@dataclass(frozen=True, slots=True)
class Codec:
    """One serializer."""

    serde: SerializerProtocol

    def dumps(self, value: Any) -> Serialized:
        """
        Serialize a value, encrypted where the serializer encrypts.

        Raises:
            InvalidInput: The serializer names the kind of its bytes with more than 50 characters.
        """
        kind, data = self.serde.dumps_typed(value)
        if len(kind) > _LONGEST_KIND:
            way_out = f"use a serializer that names them with at most {_LONGEST_KIND} characters"
            raise InvalidInput("serde", f"names the kind of its bytes with {len(kind)} characters", way_out)
        return Serialized(kind, data)

    def loads(self, value: Serialized) -> Any:
        """Give a value back."""
        return self.serde.loads_typed(value)

    def part(self, element: Any) -> Part:
        """Serialize an element of a list."""
        kind, data = self._inner.dumps_typed([element])
        if kind == "msgpack" and data[0] == _ARRAY_OF_ONE and self._packs:
            return Part(_PACKED, data[1:])
        return Part(f"{_ALONE}{kind}", data)

    def are(self, elements: list[Any], parts: Sequence[Part]) -> bool:
        """Say whether elements are what parts were made of, all in one call."""
        if not self._packs or any(part.kind != _PACKED for part in parts):
            return False
        kind, data = self._inner.dumps_typed(elements)
        return kind == "msgpack" and data == _header(len(parts)) + b"".join(part.data for part in parts)

    def rows(self, parts: Iterable[Part]) -> list[NewElements]:
        """Make rows of elements that follow each other."""
        found: list[NewElements] = []
        for kind, group in groupby(parts, key=lambda part: part.kind):
            data = [part.data for part in group]
            together = [data] if kind == _PACKED else [[each] for each in data]
            found += [NewElements(tuple(map(len, each)), self._seal(kind, b"".join(each))) for each in together]
        return found

    def join(self, rows: Sequence[ElementRow]) -> Serialized | None:
        """Make one value of the values of rows, where their form allows it."""
        opened = [self._open(row.value) for row in rows]
        if any(part.kind != _PACKED for part in opened):
            return None
        return self._seal(_PACKED, b"".join(part.data for part in opened))

    def piece(self, row: ElementRow, start: int, end: int) -> Piece:
        """Take some of a row's elements."""
        kind, data = self._open(row.value)
        if kind != _PACKED or (start == 0 and end == len(row.sizes)):
            return Piece(kind, data, row.sizes)
        before = sum(row.sizes[:start])
        sizes = row.sizes[start:end]
        return Piece(kind, data[before : before + sum(sizes)], sizes)

    def elements(self, pieces: Iterable[Piece]) -> list[Any]:
        """Give the list back that pieces are made of, with one call for all that follow each other."""
        found: list[Any] = []
        for kind, group in groupby(pieces, key=lambda piece: piece.kind):
            members = list(group)
            if kind == _PACKED:
                count = sum(len(piece.sizes) for piece in members)
                data = b"".join((_header(count), *(piece.data for piece in members)))
                found += self._inner.loads_typed(("msgpack", data))
            else:
                found += [self._inner.loads_typed((kind.removeprefix(_ALONE), piece.data))[0] for piece in members]
        return found

    @property
    def _inner(self) -> SerializerProtocol:
        return self.serde.serde if isinstance(self.serde, EncryptedSerializer) else self.serde

    @property
    def _packs(self) -> bool:
        """Whether the bytes are msgpack for sure: a serializer of the application's own can say so of others."""
        kind = type(self._inner)
        return (
            isinstance(self._inner, JsonPlusSerializer)
            and kind.dumps_typed is JsonPlusSerializer.dumps_typed
            and kind.loads_typed is JsonPlusSerializer.loads_typed
        )

    def _seal(self, kind: str, data: bytes) -> Serialized:
        if not isinstance(self.serde, EncryptedSerializer):
            return Serialized(kind, data)
        cipher, sealed = self.serde.cipher.encrypt(data)
        return Serialized(f"{kind}+{cipher}", sealed)

    def _open(self, value: Serialized) -> Part:
        kind, _, cipher = value.kind.partition("+")
        if not cipher:
            return Part(*value)
        if not isinstance(self.serde, EncryptedSerializer):
            raise InvalidInput("serde", f"cannot read what is encrypted with {cipher}", "pass the EncryptedSerializer")
        return Part(kind, self.serde.cipher.decrypt(cipher, value.data))


def _header(count: int) -> bytes:
    """Give the bytes that msgpack begins an array with."""
    if count < _SHORT:
        return bytes((0x90 | count,))
    return b"\xdc" + count.to_bytes(2, "big") if count < _MIDDLE else b"\xdd" + count.to_bytes(4, "big")
