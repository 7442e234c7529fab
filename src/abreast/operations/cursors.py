"""Where threads stand: open them, read their cursors, move them after success."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, or_, select, update

from abreast.errors import CursorRefused, ThreadBoundElsewhere, WorkspaceNotFound
from abreast.model.cursor import Cursor, Position
from abreast.operations.number import lock_head
from abreast.sql.dialects import insert_missing

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from abreast.sql.tables import Tables


def position(connection: Connection, tables: Tables, workspace_id: str) -> Position | None:
    """Give a log's epoch, HEAD and floor, or None if the workspace has no log yet."""
    workspace, event = tables.workspace, tables.workspace_event
    at_head = and_(event.c.workspace_id == workspace.c.workspace_id, event.c.revision == workspace.c.head)
    wanted = (
        select(workspace.c.epoch, workspace.c.head, workspace.c.floor, event.c.event_id)
        .select_from(workspace.outerjoin(event, at_head))
        .where(workspace.c.workspace_id == workspace_id)
    )
    row = connection.execute(wanted).first()
    return None if row is None else Position(row.epoch, int(row.head), row.event_id or "", int(row.floor))


def mark_at(connection: Connection, tables: Tables, workspace_id: str, revision: int) -> str | None:
    """Give the id of the event at a revision, or None."""
    event = tables.workspace_event
    wanted = select(event.c.event_id).where(event.c.workspace_id == workspace_id, event.c.revision == revision)
    return connection.execute(wanted).scalar()


def stored_cursor(
    connection: Connection, tables: Tables, workspace_id: str, thread_id: str, scope: str
) -> Cursor | None:
    """Give a thread's cursor, or None."""
    cursor = tables.thread_cursor
    wanted = select(cursor.c.epoch, cursor.c.revision, cursor.c.mark).where(
        *_cursor_key(tables, workspace_id, thread_id, scope)
    )
    row = connection.execute(wanted).first()
    return None if row is None else Cursor(workspace_id, thread_id, scope, row.epoch, int(row.revision), row.mark)


def bound_workspace(connection: Connection, tables: Tables, thread_id: str) -> str | None:
    """Give the workspace a thread was opened on, or None."""
    thread = tables.thread
    return connection.execute(select(thread.c.workspace_id).where(thread.c.thread_id == thread_id)).scalar()


def open_workspace(connection: Connection, tables: Tables, workspace_id: str, *, new_epoch: str) -> Position:
    """Begin a workspace's log unless it has begun."""
    found = position(connection, tables, workspace_id)
    if found is None:
        lock_head(connection, tables, workspace_id, new_epoch=new_epoch)
        found = position(connection, tables, workspace_id)
    assert found is not None
    return found


def bind_thread(connection: Connection, tables: Tables, workspace_id: str, thread_id: str, *, now: int) -> None:
    """
    Bind a thread to a workspace, unless it is.

    Raises:
        ThreadBoundElsewhere: The thread belongs to another workspace.
    """
    values = {"thread_id": thread_id, "workspace_id": workspace_id, "opened_at": now}
    insert_missing(connection, tables.thread, values)
    if bound_workspace(connection, tables, thread_id) != workspace_id:
        raise ThreadBoundElsewhere(thread_id, workspace_id)


def open_thread(
    connection: Connection, tables: Tables, workspace_id: str, thread_id: str, scope: str, *, now: int
) -> Cursor:
    """
    Bind a thread to a workspace and set its cursor to HEAD, unless it has one.

    Safe to repeat: a cursor that is there stays where it is.

    Raises:
        ThreadBoundElsewhere: The thread belongs to another workspace.
        WorkspaceNotFound: The workspace has no log yet.
    """
    bind_thread(connection, tables, workspace_id, thread_id, now=now)
    found = stored_cursor(connection, tables, workspace_id, thread_id, scope)
    if found is None:
        at = position(connection, tables, workspace_id)
        if at is None:
            raise WorkspaceNotFound(workspace_id)
        insert_cursor(connection, tables, Cursor(workspace_id, thread_id, scope, at.epoch, at.head, at.head_mark), now)
        found = stored_cursor(connection, tables, workspace_id, thread_id, scope)
    assert found is not None
    return found


def insert_cursor(connection: Connection, tables: Tables, cursor: Cursor, now: int) -> bool:
    """Store a cursor unless the thread has one; says which."""
    values = {
        "workspace_id": cursor.workspace_id,
        "thread_id": cursor.thread_id,
        "scope": cursor.scope,
        "epoch": cursor.epoch,
        "revision": cursor.revision,
        "mark": cursor.mark,
        "moved_at": now,
    }
    return insert_missing(connection, tables.thread_cursor, values)


def confirm(connection: Connection, tables: Tables, cursor: Cursor, *, now: int) -> bool:
    """
    Move a thread's cursor to what a succeeded run was given: forward, or into the log's new epoch.

    Safe to repeat, and in any order: a cursor that is further already stays.

    Returns:
        Whether it moved.

    Raises:
        CursorRefused: The log has another epoch by now, or never had this event at this revision.
        ThreadBoundElsewhere: The thread belongs to another workspace, or to none.
    """
    if bound_workspace(connection, tables, cursor.thread_id) != cursor.workspace_id:
        raise ThreadBoundElsewhere(cursor.thread_id, cursor.workspace_id)
    _check_delivered(connection, tables, cursor)
    stored = tables.thread_cursor.c
    behind = or_(
        stored.epoch != cursor.epoch,
        stored.revision < cursor.revision,
        and_(stored.revision == cursor.revision, stored.mark != cursor.mark),
    )
    key = _cursor_key(tables, cursor.workspace_id, cursor.thread_id, cursor.scope)
    values = {"epoch": cursor.epoch, "revision": cursor.revision, "mark": cursor.mark, "moved_at": now}
    moved = connection.execute(update(tables.thread_cursor).where(*key, behind).values(values)).rowcount == 1
    return moved or insert_cursor(connection, tables, cursor, now)


def _check_delivered(connection: Connection, tables: Tables, cursor: Cursor) -> None:
    at = position(connection, tables, cursor.workspace_id)
    if at is None or at.epoch != cursor.epoch:
        raise CursorRefused(cursor.thread_id, "the log was reset or restored since the batch was read")
    if cursor.revision > at.head:
        raise CursorRefused(cursor.thread_id, f"revision {cursor.revision} is beyond HEAD {at.head}")
    if cursor.revision < at.floor or cursor.revision == 0:
        return
    # Events can be deleted past the log, also HEAD's: then the batch was read without a mark.
    if (mark_at(connection, tables, cursor.workspace_id, cursor.revision) or "") != cursor.mark:
        raise CursorRefused(cursor.thread_id, f"the event at revision {cursor.revision} is another one")


def _cursor_key(tables: Tables, workspace_id: str, thread_id: str, scope: str) -> list[ColumnElement[bool]]:
    stored = tables.thread_cursor.c
    return [stored.workspace_id == workspace_id, stored.thread_id == thread_id, stored.scope == scope]
