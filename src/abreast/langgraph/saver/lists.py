"""What of a list is stored already: found by identity, made sure of by bytes."""

from __future__ import annotations

from dataclasses import dataclass
from operator import is_
from typing import TYPE_CHECKING, Any, Final

from abreast.operations.elements import Draft
from abreast.operations.manifests import spans_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from abreast.langgraph.saver.codec import Codec, Part
    from abreast.operations.elements import NewElements
    from abreast.operations.manifests import Listed, Span

_LOOKED_AT: Final = 8
"""So many elements at the end are compared by bytes at each put: these are the ones that nodes change in place."""
_MOST_PIECES: Final = 48
"""A list in more pieces is stored anew as one: ranges are read by every load."""


@dataclass(frozen=True, slots=True)
class KnownList:
    """
    A list as it is stored.

    Attributes:
        objects: The elements as they are in memory; None where they were not decoded.
        parts: Their bytes.
        current: Nobody else can have appended to the log since.
    """

    listed: Listed
    objects: Sequence[Any] | None
    parts: Sequence[Part]
    current: bool


def draft_of(codec: Codec, new: list[Any], known: KnownList | None, *, everything: bool) -> tuple[Draft, list[Part]]:
    """
    Find out which elements are stored already.

    Args:
        everything: Compare all bytes, also of elements that are the same objects.

    Returns:
        The list as ranges and new elements, and the bytes of each element.
    """
    if known is None:
        parts = [codec.part(element) for element in new]
        return Draft(codec.rows(parts), _size(parts), None), parts
    pieces, parts, size = _Comparison(codec, new, known).found(everything=everything)
    if len(pieces) > _MOST_PIECES:
        pieces = list(codec.rows(parts))
    return Draft(pieces, size, known.listed if known.current else None), parts


class _Comparison:
    """One list beside the list as it is stored."""

    def __init__(self, codec: Codec, new: list[Any], known: KnownList) -> None:
        self._codec = codec
        self._new = new
        self._known = known
        self._old_count = len(known.parts)

    def found(self, *, everything: bool) -> tuple[list[Span | NewElements], list[Part], int]:
        """Give the list as ranges and new elements, each element's bytes, and the bytes of all."""
        begin, end = self._shared()
        changed = self._changed(begin, end, everything=everything)
        if changed:
            begin, end = min(begin, *changed), min(end, len(self._new) - 1 - max(changed))
        old, spans = self._known.parts, self._known.listed.spans
        sources, parts = self._middle(begin, end, changed)
        pieces = [
            *spans_between(spans, 0, begin),
            *self._pieces(sources, parts),
            *spans_between(spans, self._old_count - end, self._old_count),
        ]
        left_out = old[begin : self._old_count - end]
        size = self._known.listed.size - _size(left_out) + _size(parts)
        return pieces, [*old[:begin], *parts, *old[self._old_count - end :]], size

    def _shared(self) -> tuple[int, int]:
        """Count the elements at the beginning and at the end that are the same objects."""
        old, new = self._known.objects, self._new
        if old is None:
            return 0, 0
        begin = _alike(old, new)
        rest = min(len(old), len(new)) - begin
        return begin, min(_alike(reversed(old), reversed(new)), rest) if rest else 0

    def _changed(self, begin: int, end: int, *, everything: bool) -> set[int]:
        """Give the places of elements that are the same objects and have other bytes: they were changed in place."""
        count, shift = len(self._new), self._old_count - len(self._new)
        first = 0 if everything else max(count - _LOOKED_AT, 0)
        stored = [*self._known.parts[min(first, begin) : begin], *self._known.parts[max(first, count - end) + shift :]]
        shared = [*range(min(first, begin), begin), *range(max(first, count - end), count)]
        if self._codec.are([self._new[at] for at in shared], stored):
            return set()
        return {at for at, part in zip(shared, stored, strict=True) if self._differs(at, part)}

    def _differs(self, at: int, stored: Part) -> bool:
        """Say whether an element has other bytes than stored ones, unless its bytes are never the same."""
        part = self._codec.part(self._new[at])
        return part != stored and self._codec.part(self._new[at]) == part

    def _middle(self, begin: int, end: int, changed: set[int]) -> tuple[list[int | None], list[Part]]:
        """Find each element between the shared ones: by identity, then by bytes."""
        places: dict[int, int] = {}
        if self._known.objects is not None:
            for place in range(begin, self._old_count - end):
                places[id(self._known.objects[place])] = place
        sources: list[int | None] = []
        parts: list[Part] = []
        for at in range(begin, len(self._new) - end):
            source = None if at in changed else places.get(id(self._new[at]))
            if source is not None and self._differs(at, self._known.parts[source]):
                source = None
            sources.append(source)
            parts.append(self._codec.part(self._new[at]) if source is None else self._known.parts[source])
        self._by_bytes(sources, parts, begin, end)
        return sources, parts

    def _by_bytes(self, sources: list[int | None], parts: list[Part], begin: int, end: int) -> None:
        """Find new objects that have the bytes of stored elements, as after a load by somebody else."""
        if None not in sources:
            return
        used = {place for place in sources if place is not None}
        free: dict[Part, list[int]] = {}
        for place in range(self._old_count - end - 1, begin - 1, -1):
            if place not in used:
                free.setdefault(self._known.parts[place], []).append(place)
        for at, source in enumerate(sources):
            same = free.get(parts[at]) if source is None else None
            if same:
                sources[at] = same.pop()

    def _pieces(self, sources: Sequence[int | None], parts: Sequence[Part]) -> Iterator[Span | NewElements]:
        """Put together elements whose stored places follow each other, and new ones."""
        start = 0
        while start < len(sources):
            end = start + 1
            first = sources[start]
            while end < len(sources) and sources[end] == (None if first is None else first + end - start):
                end += 1
            if first is None:
                yield from self._codec.rows(parts[start:end])
            else:
                yield from spans_between(self._known.listed.spans, first, first + end - start)
            start = end


def _size(parts: Iterable[Part]) -> int:
    return sum(len(part.data) for part in parts)


def _alike(old: Iterable[Any], new: Iterable[Any]) -> int:
    """Count the elements at the beginning that are the same objects."""
    same = list(map(is_, old, new))
    return same.index(False) if False in same else len(same)
