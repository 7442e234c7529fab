"""What each run was given, what it nominated, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sqlalchemy import and_, func, insert, select, update

from abreast.sql.dialects import dialect_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import ColumnElement, Connection

    from abreast.model.cursor import Cursor
    from abreast.operations.leases import Lease
    from abreast.sql.tables import Tables

Outcome = Literal["running", "succeeded", "failed", "interrupted", "refused", "stopped", "lost"]


class RunKey(NamedTuple):
    """Identity of a run."""

    thread_id: str
    run_id: str


def begin(connection: Connection, tables: Tables, run: RunKey, workspace_id: str, lease: Lease) -> None:
    """Write down that a run has begun, and that the thread's earlier ones without an end have lost their owner."""
    row, clock = tables.run, dialect_of(connection).clock()
    ownerless = and_(row.c.thread_id == run.thread_id, row.c.outcome == "running")
    connection.execute(update(row).where(ownerless).values(outcome="lost", ended_at=clock))
    connection.execute(
        insert(row).values(
            thread_id=run.thread_id,
            run_id=run.run_id,
            workspace_id=workspace_id,
            fence=lease.fence,
            started_at=clock,
            outcome="running",
        )
    )


def end(
    connection: Connection,
    tables: Tables,
    run: RunKey,
    outcome: Outcome,
    *,
    since: Mapping[str, Cursor],
    given: Mapping[str, Cursor],
    nominated: Mapping[str, Cursor],
) -> None:
    """
    Write down how a run ended.

    Args:
        since: Where its last batches were read from, by scope.
        given: Where they ended.
        nominated: What it put into its last checkpoint; confirmed if the outcome is `succeeded`.
    """
    connection.execute(
        update(tables.run)
        .where(*_key(tables, run))
        .values(
            outcome=outcome,
            ended_at=dialect_of(connection).clock(),
            since=_as_json(since),
            given=_as_json(given),
            nominated=_as_json(nominated),
        )
    )


def failures_since_success(connection: Connection, tables: Tables, thread_id: str) -> int:
    """Count the failed and lost runs of a thread after its last success: all were given the same first event."""
    row = tables.run
    of_thread = row.c.thread_id == thread_id
    last_success = select(func.max(row.c.fence)).where(of_thread, row.c.outcome == "succeeded").scalar_subquery()
    failed = and_(of_thread, row.c.outcome.in_(("failed", "lost")), row.c.fence > func.coalesce(last_success, 0))
    return int(connection.execute(select(func.count()).select_from(row).where(failed)).scalar_one())


def _key(tables: Tables, run: RunKey) -> list[ColumnElement[bool]]:
    return [tables.run.c.thread_id == run.thread_id, tables.run.c.run_id == run.run_id]


def _as_json(cursors: Mapping[str, Cursor]) -> dict[str, Any]:
    return {scope: cursor.to_json() for scope, cursor in cursors.items()}
