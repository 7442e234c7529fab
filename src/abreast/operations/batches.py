"""Read what one run is given: rows, HEAD and changes, in one snapshot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, and_, bindparam, case, exists, literal, select

from abreast.errors import InvalidInput, ReplicaBehind, ThreadBoundElsewhere, WorkspaceNotFound
from abreast.model.batch import Batch
from abreast.model.cursor import Cursor, Position, reset_reason
from abreast.model.entity import Row, Snapshot
from abreast.model.fold import without_past
from abreast.operations import cursors
from abreast.operations.backlog import Delivery, deliver
from abreast.operations.number import number
from abreast.operations.snapshots import Reader, has_rows
from abreast.sql.values import to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import BindParameter, ColumnElement, Connection, Select

    from abreast.model.batch import BatchRequest
    from abreast.model.cursor import ResetReason
    from abreast.model.fold import Line
    from abreast.sql.mapping import Catalog
    from abreast.sql.tables import Tables


@dataclass(frozen=True)
class _Standing:
    """
    Where the log and the thread stand, read in one statement.

    Attributes:
        mark_found: Id of the event now at the thread's cursor.
        checkpoint_mark: Id of the event now at the checkpoint's cursor.
    """

    position: Position
    bound_to: str | None
    cursor: Cursor | None
    mark_found: str | None
    checkpoint_mark: str | None
    waiting: bool


def prepare(
    connection: Connection,
    tables: Tables,
    catalog: Catalog,
    request: BatchRequest,
    *,
    now: int,
    new_epoch: str,
) -> bool:
    """
    Number what waits, bind the thread to its workspace, and set a new thread's cursor to HEAD.

    Returns:
        Whether more events wait than one transaction numbers, so that it has to run again.

    Raises:
        WorkspaceNotFound: The workspace has neither a log nor a row.
        ThreadBoundElsewhere: The thread belongs to another workspace.
    """
    if number(connection, tables, request.workspace_id, new_epoch=new_epoch).more:
        return True
    begin_workspace(connection, tables, catalog, request.workspace_id, new_epoch=new_epoch)
    if request.has_history or request.checkpoint_cursor is not None:
        cursors.bind_thread(connection, tables, request.workspace_id, request.thread_id, now=now)
    else:
        cursors.open_thread(connection, tables, request.workspace_id, request.thread_id, request.scope, now=now)
    return False


def begin_workspace(
    connection: Connection, tables: Tables, catalog: Catalog, workspace_id: str, *, new_epoch: str
) -> None:
    """
    Begin the log of a workspace that has rows but no log yet.

    Raises:
        WorkspaceNotFound: It has neither.
    """
    if cursors.position(connection, tables, workspace_id) is None:
        if not any(has_rows(connection, entity, workspace_id) for entity in catalog.by_name.values()):
            raise WorkspaceNotFound(workspace_id)
        cursors.open_workspace(connection, tables, workspace_id, new_epoch=new_epoch)


def read_batch(
    connection: Connection, tables: Tables, catalog: Catalog, request: BatchRequest, *, prepared: bool
) -> Batch | None:
    """
    Read rows, HEAD and the changes after the thread's cursor.

    Everything comes from the transaction's snapshot. The changes are the longest prefix of what the thread
    has not processed that fits the request's bounds, at least one event.

    Args:
        prepared: `prepare` and numbering have run. Otherwise None is returned where they have work to do.

    Raises:
        WorkspaceNotFound: The workspace has no log.
        ThreadBoundElsewhere: The thread belongs to another workspace.
        ReplicaBehind: The database has not reached the cursor.
    """
    standing = _standing(connection, tables, request)
    if not prepared and (standing is None or standing.waiting or not _is_open(standing, request)):
        return None
    if standing is None:
        raise WorkspaceNotFound(request.workspace_id)
    if standing.bound_to != request.workspace_id:
        raise ThreadBoundElsewhere(request.thread_id, request.workspace_id)
    since, reset = _since(request, standing)
    delivery = Delivery()
    if reset is None:
        delivery = deliver(connection, tables, catalog, request, since.revision, standing.position.head)
    return _batch(_Rows(connection, tables, catalog, request), standing.position, since, reset, delivery)


def read_snapshot(
    connection: Connection, tables: Tables, catalog: Catalog, workspace_id: str, viewer: object
) -> Snapshot:
    """Read the current rows with the HEAD of the same moment; of a workspace without a log it is 0."""
    at = cursors.position(connection, tables, workspace_id) or Position("", 0, "", 0)
    reader = Reader(connection, tables, workspace_id, viewer)
    rows = tuple(reader.listed(entity) for entity in catalog.by_name.values())
    return Snapshot(workspace_id, at.epoch, at.head, rows)


@lru_cache(maxsize=16)
def _select_standing(tables: Tables) -> Select[Any]:
    """Build the statement of every run's first read once: building it takes longer than running it."""
    place: BindParameter[str] = bindparam("place")
    thread_id: BindParameter[str] = bindparam("thread")
    scope: BindParameter[str] = bindparam("of_scope")
    workspace, event, stored, thread = (
        tables.workspace,
        tables.workspace_event,
        tables.thread_cursor,
        tables.thread,
    )
    of_thread = and_(
        stored.c.workspace_id == workspace.c.workspace_id,
        stored.c.thread_id == thread_id,
        stored.c.scope == scope,
    )
    waiting = exists().where(event.c.workspace_id == place, event.c.revision.is_(None))
    in_checkpoint: BindParameter[int | None] = bindparam("in_checkpoint", type_=BigInteger)
    head_mark, mark_found, checkpoint_mark = (
        select(event.c.event_id).where(event.c.workspace_id == place, event.c.revision == revision).scalar_subquery()
        for revision in (workspace.c.head, stored.c.revision, in_checkpoint)
    )
    told: list[ColumnElement[Any]] = [
        workspace.c.epoch,
        workspace.c.head,
        workspace.c.floor,
        head_mark.label("head_mark"),
        select(thread.c.workspace_id).where(thread.c.thread_id == thread_id).scalar_subquery().label("bound"),
        stored.c.epoch.label("cursor_epoch"),
        stored.c.revision,
        stored.c.mark,
        mark_found.label("mark_found"),
        checkpoint_mark.label("checkpoint_mark"),
        case((waiting, literal(1)), else_=literal(0)).label("waiting"),
    ]
    return select(*told).select_from(workspace.outerjoin(stored, of_thread)).where(workspace.c.workspace_id == place)


def _standing(connection: Connection, tables: Tables, request: BatchRequest) -> _Standing | None:
    given = {
        "place": request.workspace_id,
        "thread": request.thread_id,
        "of_scope": request.scope,
        "in_checkpoint": None if request.checkpoint_cursor is None else request.checkpoint_cursor.revision,
    }
    row = connection.execute(_select_standing(tables), given).first()
    if row is None:
        return None
    cursor = None
    if row.revision is not None:
        cursor = Cursor(
            request.workspace_id,
            request.thread_id,
            request.scope,
            row.cursor_epoch,
            int(row.revision),
            row.mark,
        )
    at = Position(row.epoch, int(row.head), row.head_mark or "", int(row.floor))
    return _Standing(at, row.bound, cursor, row.mark_found, row.checkpoint_mark, bool(row.waiting))


def _is_open(standing: _Standing, request: BatchRequest) -> bool:
    has_cursor = standing.cursor is not None or request.checkpoint_cursor is not None or request.has_history
    return standing.bound_to is not None and has_cursor


def _since(request: BatchRequest, standing: _Standing) -> tuple[Cursor, ResetReason | None]:
    """Choose where reading starts: the lower cursor, or one after which changes cannot be listed."""
    known = [(standing.cursor, standing.mark_found)] if standing.cursor is not None else []
    if request.checkpoint_cursor is not None:
        known.append((_from_checkpoint(request, request.checkpoint_cursor), standing.checkpoint_mark))
    if not known:
        at = standing.position
        return Cursor(request.workspace_id, request.thread_id, request.scope, at.epoch, 0, ""), "no_cursor"
    for cursor, mark in known:
        reason = reset_reason(cursor, standing.position, mark)
        if reason is not None:
            return cursor, reason
    since = min((cursor for cursor, _ in known), key=lambda cursor: cursor.revision)
    ahead = max(cursor.revision for cursor, _ in known)
    if ahead > standing.position.head:
        raise ReplicaBehind(request.workspace_id, standing.position.head, ahead)
    return since, None


def _from_checkpoint(request: BatchRequest, cursor: Cursor) -> Cursor:
    if cursor.workspace_id != request.workspace_id:
        raise InvalidInput(
            "checkpoint_cursor",
            "belongs to another workspace",
            "pass the cursor that this thread's state holds",
        )
    return replace(cursor, thread_id=request.thread_id, scope=request.scope)


@dataclass(frozen=True)
class _Rows:
    """The rows a batch shows: each entity's list, and those its lines speak of."""

    connection: Connection
    tables: Tables
    catalog: Catalog
    request: BatchRequest

    def snapshot(self, at: Position) -> Snapshot:
        """List the rows of every entity."""
        reader = self._reader()
        rows = tuple(reader.listed(entity) for entity in self.catalog.by_name.values())
        return Snapshot(self.request.workspace_id, at.epoch, at.head, rows)

    def current(self, lines: tuple[Line, ...], snapshot: Snapshot) -> dict[tuple[str, str], Row | None]:
        """Give the rows of the lines as they are now; those that are not listed are read by id."""
        known = (line for line in lines if line.entity_type in self.catalog.by_name)
        wanted = dict.fromkeys((line.entity_type, line.entity_id) for line in known)
        by_id = {part.entity_type: {row.entity_id: row for row in part.rows} for part in snapshot.entities}
        listed = {key: row for key in wanted if (row := by_id[key[0]].get(key[1])) is not None}
        unlisted = [key for key in wanted if key not in listed]
        reader = self._reader()
        found: dict[tuple[str, str], Row] = {}
        for name in dict.fromkeys(entity_type for entity_type, _ in unlisted):
            ids = [entity_id for entity_type, entity_id in unlisted if entity_type == name]
            rows = reader.named(self.catalog.by_name[name], ids)
            found.update({(name, entity_id): row for entity_id, row in rows.items()})
        return {key: listed.get(key) or found.get(key) for key in wanted}

    def told(self, lines: Iterable[Line], current: dict[tuple[str, str], Row | None]) -> Iterator[Line]:
        """
        Give the lines the viewer may read.

        Where an entity has `visible`, without the row nobody can tell, and what the row was before may have been
        somebody else's: only that it changed is told, and what it is now.
        """
        for line in lines:
            entity = self.catalog.by_name.get(line.entity_type)
            if entity is None:
                continue
            told = line if entity.entity.visible is None else without_past(line)
            seen = entity.entity.visible is None or current[line.entity_type, line.entity_id] is not None
            if seen and told is not None:
                yield told

    def extras(self) -> dict[str, Any]:
        """Read what the application adds, in order of its names."""
        request = self.request
        if request.extras is None:
            return {}
        found = request.extras(self.connection, request.workspace_id, request.viewer)
        return {name: to_json(f"extras.{name}", value) for name, value in sorted(found.items())}

    def _reader(self) -> Reader:
        return Reader(self.connection, self.tables, self.request.workspace_id, self.request.viewer)


def _batch(rows: _Rows, at: Position, since: Cursor, reset: ResetReason | None, delivery: Delivery) -> Batch:
    snapshot = rows.snapshot(at)
    current = rows.current(delivery.lines, snapshot)
    lines = tuple(rows.told(delivery.lines, current))
    upto, mark = (at.head, at.head_mark) if delivery.upto is None else (delivery.upto, delivery.mark)
    return Batch(
        workspace_id=since.workspace_id,
        thread_id=since.thread_id,
        scope=since.scope,
        since=since,
        cursor_after=replace(since, epoch=at.epoch, revision=upto, mark=mark),
        lines=lines,
        summary=delivery.summary,
        remaining=delivery.remaining,
        event_count=delivery.count,
        reset=reset,
        snapshot=snapshot,
        current={(line.entity_type, line.entity_id): current[line.entity_type, line.entity_id] for line in lines},
        extras=rows.extras(),
    )
