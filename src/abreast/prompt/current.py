"""Write the current rows, as many as there is room for: the changed ones first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from abreast.errors import UnknownEntity
from abreast.prompt.changes import SHORTER, size
from abreast.prompt.values import Writer, entity_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from abreast.model.entity import Entity, EntityRows, Row
    from abreast.prompt.sentences import Sentences

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
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
        lines = self._chosen(limit, room)
        return [line for part in self.parts for line in self._part(part, lines)]

    def _chosen(self, limit: int, room: int) -> dict[Key, str]:
        chosen: dict[Key, str] = {}
        limits = (limit, *(length for length in SHORTER if length < limit))
        writers = [Writer(self.words, length) for length in limits]
        for row in self._by_urgency():
            for line in self._versions(row, writers):
                needed = size([line])
                if needed <= room:
                    chosen[_key(row)] = line
                    room -= needed
                    break
        return chosen

    def _by_urgency(self) -> Iterator[Row]:
        """Give the changed rows before the others; each row once."""
        listed = {_key(row): row for part in self.parts for row in part.rows}
        changed = {_key(row) for row in self.changed}
        yield from (row for key, row in listed.items() if key in changed)
        yield from (row for part in self.parts for row in self._outside(part))
        yield from (row for key, row in listed.items() if key not in changed)

    def _versions(self, row: Row, writers: Iterable[Writer]) -> Iterator[str]:
        entity = self._entity(row.entity_type)
        for writer in writers:
            subject = writer.subject(entity, row.entity_id, {})
            yield self.words.row(subject, row.version, writer.values(entity, row.values))

    def _part(self, part: EntityRows, chosen: Mapping[Key, str]) -> Iterator[str]:
        label = entity_label(self._entity(part.entity_type))
        listed = [chosen[_key(row)] for row in part.rows if _key(row) in chosen]
        yield self.words.rows(label, part.total)
        yield from listed
        if part.total > len(listed):
            yield self.words.unlisted(label, part.total - len(listed))
        yield from self._part_outside(part, label, chosen)

    def _part_outside(self, part: EntityRows, label: str, chosen: Mapping[Key, str]) -> Iterator[str]:
        outside = self._outside(part)
        if not outside:
            return
        listed = [chosen[_key(row)] for row in outside if _key(row) in chosen]
        yield self.words.outside(label)
        yield from listed
        if len(outside) > len(listed):
            yield self.words.unlisted(label, len(outside) - len(listed))

    def _heads(self, part: EntityRows) -> Iterator[str]:
        label = entity_label(self._entity(part.entity_type))
        outside = self._outside(part)
        yield self.words.rows(label, part.total)
        yield self.words.unlisted(label, part.total)
        if outside:
            yield self.words.outside(label)
            yield self.words.unlisted(label, len(outside))

    def _outside(self, part: EntityRows) -> list[Row]:
        """Give the changed rows of an entity that its limit or filter leaves out, in order of their ids."""
        listed = {row.entity_id for row in part.rows}
        return sorted(
            (row for row in self.changed if row.entity_type == part.entity_type and row.entity_id not in listed),
            key=lambda row: row.entity_id,
        )

    def _entity(self, entity_type: str) -> Entity:
        entity = self.entities.get(entity_type)
        if entity is None:
            raise UnknownEntity(entity_type, list(self.entities))
        return entity


def _key(row: Row) -> Key:
    return row.entity_type, row.entity_id
