"""Look up recorded changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abreast.operations.record import event_of, select_events

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from abreast.model.event import Event
    from abreast.sql.tables import Tables


def list_changes(
    connection: Connection,
    tables: Tables,
    workspace_id: str,
    *,
    after: int,
    limit: int,
    entity_type: str | None = None,
    entity_id: str | None = None,
) -> list[Event]:
    """Give numbered events after a revision in order, of one entity or row if named."""
    event = tables.workspace_event
    wanted = select_events(tables).where(event.c.workspace_id == workspace_id, event.c.revision > after)
    if entity_type is not None:
        wanted = wanted.where(event.c.entity_type == entity_type)
    if entity_id is not None:
        wanted = wanted.where(event.c.entity_id == entity_id)
    return [event_of(row) for row in connection.execute(wanted.order_by(event.c.revision).limit(limit))]
