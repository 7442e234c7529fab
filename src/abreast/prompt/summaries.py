"""Bring the counted changes of a batch into few sentences."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from abreast.prompt.actors import parties
from abreast.prompt.sentences import Span, Summed

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from datetime import tzinfo

    from abreast.model.fold import SummaryLine
    from abreast.prompt.actors import Names
    from abreast.prompt.sentences import Party

_MOST_SENTENCES = 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Summaries:
    """
    What it takes to tell who made counted changes, and when.

    Attributes:
        thread_id: The thread that reads.
        time_zone: Zone in which days are told.
    """

    names: Names | None
    thread_id: str
    time_zone: tzinfo

    def told(self, lines: Sequence[SummaryLine], labels: Callable[[str], str]) -> list[Summed]:
        """
        Join the counts of actors that are told alike, and of all actors where there are still too many.

        Args:
            labels: Gives what a row is called, by entity type.
        """
        groups = _grouped(lines, lambda line: (line.entity_type, line.operation, self._who([line])))
        if len(groups) > _MOST_SENTENCES:
            groups = _grouped(lines, lambda line: (line.entity_type, line.operation))
        return [self._summed(group, labels(group[0].entity_type)) for group in groups]

    def _summed(self, lines: Sequence[SummaryLine], label: str) -> Summed:
        return Summed(
            operation=lines[0].operation,
            who=self._who(lines),
            label=label,
            # Two actors can have changed the same row, so their rows cannot be added.
            rows=lines[0].rows if len(lines) == 1 else None,
            span=Span(
                count=sum(line.count for line in lines),
                first_revision=min(line.first_revision for line in lines),
                last_revision=max(line.last_revision for line in lines),
            ),
            first_day=self._day(min(line.first_at for line in lines)),
            last_day=self._day(max(line.last_at for line in lines)),
        )

    def _who(self, lines: Iterable[SummaryLine]) -> tuple[Party, ...]:
        actors = [line.actor for line in lines]
        return parties(actors, (), thread_id=self.thread_id, names=self.names)

    def _day(self, micros: int) -> str:
        return (_EPOCH + timedelta(microseconds=micros)).astimezone(self.time_zone).date().isoformat()


def _grouped(lines: Iterable[SummaryLine], key: Callable[[SummaryLine], Hashable]) -> list[list[SummaryLine]]:
    groups: dict[Hashable, list[SummaryLine]] = {}
    for line in lines:
        groups.setdefault(key(line), []).append(line)
    return list(groups.values())
