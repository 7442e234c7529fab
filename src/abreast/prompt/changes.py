"""Write the lines of a batch as sentences, as many and as long as there is room for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from abreast.errors import InvalidInput
from abreast.model.fold import without_past
from abreast.prompt.actors import parties
from abreast.prompt.sentences import OTHERS, FieldChange, RowChange, Span
from abreast.prompt.summaries import Summaries
from abreast.prompt.values import Writer, entity_label, field_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from abreast.model.batch import Batch
    from abreast.model.entity import Entity, Row
    from abreast.model.fold import Line, SummaryLine
    from abreast.prompt.actors import Names
    from abreast.prompt.sentences import Party, Sentences

SHORTER = (200, 80, 30)
"""Lengths to which values are cut, one after the other, where there is too little room."""


def size(lines: Iterable[str]) -> int:
    """Count the bytes of lines, each with its line break."""
    return len("\n".join([*lines, ""]).encode())


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of one batch, ready to be written at any length of values."""

    batch: Batch
    entities: Mapping[str, Entity]
    words: Sentences
    names: Names | None
    thread_id: str
    time_zone: tzinfo
    _named: dict[tuple[Any, ...], tuple[Party, ...]] = field(
        default_factory=dict[tuple[Any, ...], "tuple[Party, ...]"], compare=False
    )

    def written(self, limit: int, room: int) -> list[str]:
        """
        Write the changes into `room` bytes.

        Values are cut shorter until the changes take half of the room, so that the rows get the other half.
        Where they do not fit at all the last ones are counted instead.

        Raises:
            InvalidInput: Not even the counts fit.
        """
        around = self._around()
        for shorter in (limit, *(length for length in SHORTER if length < limit)):
            lines = [*(told for told, _ in self._told(shorter)), *around]
            if size(lines) <= room // 2:
                return lines
        shortest = list(self._told(min(limit, SHORTER[-1])))
        lines = [*(told for told, _ in shortest), *around]
        return lines if size(lines) <= room else self._counted(shortest, around, room)

    def _counted(self, told: Sequence[tuple[str, Line]], around: Sequence[str], room: int) -> list[str]:
        for kept in range(len(told) - 1, -1, -1):
            lines = [
                *(line for line, _ in told[:kept]),
                self._unwritten([line for _, line in told[kept:]]),
                *around,
            ]
            if size(lines) <= room:
                return lines
        raise InvalidInput(
            "max_bytes",
            "is too small for the block's frame and the counts of what it leaves out",
            "pass a larger max_bytes, or describe fewer entities",
        )

    def _unwritten(self, lines: Sequence[Line]) -> str:
        counts = Counter(entity_label(self.entities[line.entity_type]) for line in lines)
        first, last = min(line.first_revision for line in lines), max(line.last_revision for line in lines)
        return self.words.unwritten(sorted(counts.items()), Span(len(lines), first, last))

    def _around(self) -> list[str]:
        """Say what the sentences of single changes leave open; never cut."""
        batch = self.batch
        described = [line for line in batch.summary if line.entity_type in self.entities]
        everything: list[Line | SummaryLine] = [*batch.lines, *batch.summary]
        undescribed = sum(line.count for line in everything if line.entity_type not in self.entities)
        summaries = Summaries(self.names, self.thread_id, self.time_zone)
        told = summaries.told(described, lambda entity_type: entity_label(self.entities[entity_type]))
        lines = [self.words.summed(summed) for summed in told]
        if described:
            lines.append(self.words.summed_up)
        if undescribed:
            lines.append(self.words.undescribed(undescribed))
        if batch.remaining:
            lines.append(self.words.remaining(batch.remaining))
        if batch.reset:
            lines.append(self.words.reset(batch.reset))
        if not lines and not any(self._described()):
            lines.append(self.words.nothing_changed)
        return lines

    def _described(self) -> Iterator[tuple[Line, Entity]]:
        for line in self.batch.lines:
            entity = self.entities.get(line.entity_type)
            told = None if entity is None else self._may_tell(line, entity)
            if entity is not None and told is not None:
                yield told, entity

    def _may_tell(self, line: Line, entity: Entity) -> Line | None:
        """Give what may be told of a line, or None."""
        if line.field is not None and line.field not in entity.expose and line.field not in entity.hidden:
            return None
        if entity.visible is None:
            return line
        return None if self._now(line) is None else without_past(line)

    def _told(self, limit: int) -> Iterator[tuple[str, Line]]:
        writer = Writer(self.words, limit)
        for line, entity in self._described():
            if line.field is None:
                yield self.words.row_change(self._row_change(line, entity, writer)), line
            else:
                yield self.words.field_change(self._field_change(line, line.field, entity, writer)), line

    def _row_change(self, line: Line, entity: Entity, writer: Writer) -> RowChange:
        row = self._now(line)
        return RowChange(
            kind=line.kind,
            who=self._who(line),
            subject=writer.subject(entity, line.entity_id, row.values if row else line.values),
            span=Span(line.count, line.first_revision, line.last_revision),
            values=writer.values(entity, line.values) if line.kind == "delete" else "",
            exists=row is not None,
        )

    def _field_change(self, line: Line, field: str, entity: Entity, writer: Writer) -> FieldChange:
        row = self._now(line)
        values = row.values if row else {}
        shown = field in entity.expose
        has_before, has_after = shown and line.has_before, shown and line.has_after
        return FieldChange(
            self._who(line),
            writer.subject(entity, line.entity_id, values),
            field_label(entity, field),
            Span(line.count, line.first_revision, line.last_revision),
            before=writer.value(entity, field, line.before) if has_before else None,
            after=writer.value(entity, field, line.after) if has_after else None,
            returned=has_before and has_after and line.before == line.after,
            hidden=not shown,
            gone=row is None,
            now=writer.value(entity, field, values[field]) if shown and field in values else None,
        )

    def _now(self, line: Line) -> Row | None:
        return self.batch.current.get((line.entity_type, line.entity_id))

    def _who(self, line: Line) -> tuple[Party, ...]:
        told = (line.actors, line.threads, line.more_threads, line.more_actors)
        named = self._named.get(told)
        if named is None:
            found = parties(
                line.actors,
                line.threads,
                thread_id=self.thread_id,
                names=self.names,
                more_threads=line.more_threads,
            )
            named = self._named[told] = (*found, OTHERS) if line.more_actors else found
        return named
