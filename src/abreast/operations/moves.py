"""Rows that change workspace: told as gone in one and come in the other, together with the rows below them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from abreast.model.event import Event
    from abreast.operations.plan import Planned, WriteContext
    from abreast.operations.rows import LiveRows, StoredRow
    from abreast.sql.mapping import EntityTable


@dataclass(frozen=True)
class Follower:
    """
    A row whose workspace is that of a row which moves.

    Attributes:
        version: The version it moves with.
    """

    rows: LiveRows
    row: StoredRow
    version: int

    def move(self, to_workspace: str) -> None:
        """Raise its version, here and there, before the row above it moves."""
        key = {name: self.row.values[name] for name in self.rows.entity.key}
        self.rows.update(self.row, key, {}, self.version)
        replace(self.rows, workspace_id=to_workspace).keep_version(self.row.entity_id, self.version)

    def events(self, moved: Event, context: WriteContext, to_workspace: str) -> list[Event]:
        """Tell its move, as made by whoever moved the row above it."""
        event = replace(
            moved,
            event_id=next(context.ids),
            entity_type=self.rows.entity.name,
            entity_id=self.row.entity_id,
            version=self.version,
            changed_fields=(),
        )
        values = self.row.values
        return gone_and_come(self.rows.entity, event, values, values, to_workspace, next(context.ids))


def followers(planned: Planned, context: WriteContext) -> list[Follower]:
    """Find and lock the registered rows that a row takes along when it moves."""
    if not planned.moves or planned.before is None:
        return []
    entities = context.catalog.by_name.values()
    targets = {hop.target for entity in entities for hop in entity.hops if hop.target.table is planned.entity.table}
    # Read here, where they stay: what rows point to may be hidden.
    held = planned.rows.holds(planned.key, targets) if targets else {}
    found: list[Follower] = []
    for entity in entities:
        rows = replace(planned.rows, entity=entity)
        for condition in entity.below(held):
            there = replace(rows, workspace_id=planned.change.to_workspace)
            found.extend(
                Follower(rows, row, 1 + max(row.version, there.last_version(row.entity_id)))
                for row in rows.locked_where(condition)
            )
    return found


def gone_and_come(
    entity: EntityTable,
    event: Event,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    to_workspace: str,
    event_id: str,
) -> list[Event]:
    """Tell a move as a deletion here and an insertion there: a row's workspace is never said elsewhere."""
    shown = entity.entity.event_values == "all"
    gone = replace(
        event,
        operation="delete",
        changed_fields=(),
        before=entity.exposed(before) if shown else None,
        after=None,
    )
    come = replace(
        event,
        workspace_id=to_workspace,
        event_id=event_id,
        operation="insert",
        before=None,
        after=entity.exposed(after) if shown else None,
    )
    return [gone, come]
