"""Write the current rows, as many as there is room for: the changed ones first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from abreast.errors import UnknownEntity
from abreast.prompt.changes import SHORTER, size
from abreast.prompt.values import Writer, entity_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from abreast.model.entity import Entity, EntityRows, Row
    from abreast.prompt.sentences import Sentences


@dataclass(frozen=True)
class Current:
    """
    The current rows of one snapshot, ready to be written into any room.

    Attributes:
        parts: The rows of each entity.
        changed: The rows that changes speak of, also those that the lists leave out.
    """

    parts: Sequence[EntityRows]
    changed: Sequence[Row]
    entities: Mapping[str, Entity]
    words: Sentences

    def reserved(self) -> int:
        """Count the bytes that the lists' beginnings and ends take at most."""
        return sum(size(self._heads(part)) for part in self.parts)

    def written(self, limit: int, room: int) -> list[str]:
        """Write as many rows as fit into `room` bytes, besides what `reserved` counts."""
        writer = Writer(self.words, limit)
        lines = [[self._line(row, writer) for row in rows] for rows in self._lists]
        if sum(map(size, lines)) > room:
            lines = self._fitting(lines, limit, room)
        parts = zip(self.parts, lines[::2], lines[1::2], strict=True)
        return [line for part, listed, outside in parts for line in self._part(part, listed, outside)]

    @cached_property
    def _lists(self) -> list[Sequence[Row]]:
        """What is listed of each entity, and behind it the changed rows outside of that list."""
        return [rows for part in self.parts for rows in (part.rows, self._outside[part.entity_type])]

    def _fitting(self, lines: Sequence[Sequence[str]], limit: int, room: int) -> list[list[str]]:
        """Keep the lines that fit, some of them shorter: of the changed rows before the others."""
        writers = [Writer(self.words, length) for length in SHORTER if length < limit]
        kept: dict[tuple[int, int], str] = {}
        for _, at, place in sorted(self._by_urgency()):
            row, line = self._lists[at][place], lines[at][place]
            for version in chain([line], (self._line(row, shorter) for shorter in writers)):
                needed = size([version])
                if needed <= room:
                    kept[at, place] = version
                    room -= needed
                    break
        return [[kept[at, place] for place in range(len(rows)) if (at, place) in kept] for at, rows in enumerate(lines)]

    def _by_urgency(self) -> Iterator[tuple[int, int, int]]:
        """Give each row's urgency, lowest first, list and place in it."""
        changed = {(row.entity_type, row.entity_id) for row in self.changed}
        for at, rows in enumerate(self._lists):
            for place, row in enumerate(rows):
                yield 1 if at % 2 else 0 if (row.entity_type, row.entity_id) in changed else 2, at, place

    def _line(self, row: Row, writer: Writer) -> str:
        entity = self._entity(row.entity_type)
        subject = writer.subject(entity, row.entity_id, {})
        return self.words.row(subject, row.version, writer.values(entity, row.values))

    def _part(self, part: EntityRows, listed: Sequence[str], outside: Sequence[str]) -> Iterator[str]:
        label, changed = entity_label(self._entity(part.entity_type)), len(self._outside[part.entity_type])
        yield self.words.rows(label, part.total)
        yield from listed
        if part.total > len(listed):
            yield self.words.unlisted(label, part.total - len(listed))
        if changed:
            yield self.words.outside(label)
            yield from outside
        if changed > len(outside):
            yield self.words.unlisted(label, changed - len(outside))

    def _heads(self, part: EntityRows) -> Iterator[str]:
        label = entity_label(self._entity(part.entity_type))
        outside = self._outside[part.entity_type]
        yield self.words.rows(label, part.total)
        yield self.words.unlisted(label, part.total)
        if outside:
            yield self.words.outside(label)
            yield self.words.unlisted(label, len(outside))

    @cached_property
    def _outside(self) -> dict[str, list[Row]]:
        """The changed rows that an entity's limit or filter leaves out, in order of their ids, by entity."""
        listed = {part.entity_type: {row.entity_id for row in part.rows} for part in self.parts}
        outside: dict[str, list[Row]] = {entity_type: [] for entity_type in listed}
        for row in sorted(self.changed, key=lambda row: row.entity_id):
            if row.entity_type in listed and row.entity_id not in listed[row.entity_type]:
                outside[row.entity_type].append(row)
        return outside

    def _entity(self, entity_type: str) -> Entity:
        entity = self.entities.get(entity_type)
        if entity is None:
            raise UnknownEntity(entity_type, list(self.entities))
        return entity
