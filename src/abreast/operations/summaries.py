"""Count changes by type, actor and period where they are too many to list."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, func, select

from abreast.model.event import Actor
from abreast.model.fold import SummaryLine
from abreast.operations.snapshots import Reader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import ColumnElement, Connection, Row, Select

    from abreast.model.batch import BatchRequest
    from abreast.sql.mapping import Catalog, EntityTable
    from abreast.sql.tables import Tables


@dataclass(frozen=True)
class Summaries:
    """
    Counts of the events in `(after, head]` for one viewer.

    Of an entity with `visible` only the changes of rows the viewer may see now are counted.
    """

    connection: Connection
    tables: Tables
    catalog: Catalog
    request: BatchRequest
    after: int
    head: int

    def lines(self) -> tuple[SummaryLine, ...]:
        """Give the counts in order of their first revision."""
        guarded = [entity for entity in self.catalog.by_name.values() if entity.entity.visible is not None]
        event = self.tables.workspace_event
        free = event.c.entity_type.not_in([entity.name for entity in guarded])
        lines = [_line([row], int(row.entities)) for row in self.connection.execute(self._counted(free))]
        for entity in guarded:
            lines.extend(self._visible(entity))
        return tuple(sorted(lines, key=lambda line: line.first_revision))

    def total(self) -> int:
        """Count all events, those nobody may see too."""
        wanted = select(func.count()).select_from(self.tables.workspace_event).where(*self._range())
        return int(self.connection.execute(wanted).scalar_one())

    def _visible(self, entity: EntityTable) -> Iterable[SummaryLine]:
        event = self.tables.workspace_event
        found = self.connection.execute(self._counted(event.c.entity_type == entity.name, event.c.entity_id)).all()
        reader = Reader(self.connection, self.tables, self.request.workspace_id, self.request.viewer)
        seen = reader.named(entity, sorted({row.entity_id for row in found}))
        groups: dict[Any, list[Row[Any]]] = defaultdict(list)
        for row in found:
            if row.entity_id in seen:
                groups[row.operation, row.actor_type, row.actor_id, row.on_behalf_of].append(row)
        return [_line(rows, len(rows)) for rows in groups.values()]

    def _counted(self, condition: ColumnElement[bool], *by: Column[Any]) -> Select[Any]:
        event = self.tables.workspace_event
        names = ("entity_type", "operation", "actor_type", "actor_id", "on_behalf_of")
        groups: list[Column[Any]] = [*(event.c[name] for name in names), *by]
        return (
            select(
                *groups,
                func.count().label("events"),
                func.count(event.c.entity_id.distinct()).label("entities"),
                func.min(event.c.revision).label("first_revision"),
                func.max(event.c.revision).label("last_revision"),
                func.min(event.c.created_at).label("first_at"),
                func.max(event.c.created_at).label("last_at"),
            )
            .where(*self._range(), condition)
            .group_by(*groups)
        )

    def _range(self) -> list[ColumnElement[bool]]:
        event = self.tables.workspace_event
        return [
            event.c.workspace_id == self.request.workspace_id,
            event.c.revision > self.after,
            event.c.revision <= self.head,
        ]


def _line(rows: list[Row[Any]], entities: int) -> SummaryLine:
    first = rows[0]
    return SummaryLine(
        entity_type=first.entity_type,
        operation=first.operation,
        actor=Actor(first.actor_type, first.actor_id, first.on_behalf_of),
        count=sum(int(row.events) for row in rows),
        rows=entities,
        first_revision=min(int(row.first_revision) for row in rows),
        last_revision=max(int(row.last_revision) for row in rows),
        first_at=min(int(row.first_at) for row in rows),
        last_at=max(int(row.last_at) for row in rows),
    )
