"""Shorten a log, empty it of a row's values, or declare it another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select, update

from abreast.operations.attempts import forget_refusals
from abreast.operations.number import lock_head

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from abreast.sql.tables import Tables


def forget_before(connection: Connection, tables: Tables, workspace_id: str, revision: int, *, new_epoch: str) -> int:
    """
    Delete the events before a revision, at most up to HEAD, whose event stays, and raise the floor to it.

    Refused writes from before the oldest event that is kept go with them.

    Returns:
        The floor now; it never falls.
    """
    head = lock_head(connection, tables, workspace_id, new_epoch=new_epoch)
    workspace, event = tables.workspace, tables.workspace_event
    of_workspace = workspace.c.workspace_id == workspace_id
    floor = int(connection.execute(select(workspace.c.floor).where(of_workspace)).scalar_one())
    if min(revision, head) <= max(floor, 1):
        return floor
    floor = min(revision, head)
    connection.execute(delete(event).where(event.c.workspace_id == workspace_id, event.c.revision < floor))
    connection.execute(update(workspace).where(of_workspace).values(floor=floor))
    oldest = select(event.c.created_at).where(event.c.workspace_id == workspace_id, event.c.revision == floor)
    kept_since = connection.execute(oldest).scalar()
    if kept_since is not None:
        forget_refusals(connection, tables, workspace_id, kept_since)
    return floor


def renew_epoch(connection: Connection, tables: Tables, workspace_id: str, *, new_epoch: str) -> None:
    """Give a log a new identity, so that every thread is told that older changes cannot be listed."""
    lock_head(connection, tables, workspace_id, new_epoch=new_epoch)
    workspace = tables.workspace
    connection.execute(update(workspace).where(workspace.c.workspace_id == workspace_id).values(epoch=new_epoch))


def erase(connection: Connection, tables: Tables, workspace_id: str, entity_type: str, entity_id: str) -> int:
    """
    Delete the stored values of a row from its events and keep the events.

    Returns:
        How many events the row has.
    """
    event = tables.workspace_event
    of_row = (
        event.c.workspace_id == workspace_id,
        event.c.entity_type == entity_type,
        event.c.entity_id == entity_id,
    )
    connection.execute(update(event).where(*of_row).values(before=None, after=None))
    return int(connection.execute(select(func.count()).select_from(event).where(*of_row)).scalar_one())
