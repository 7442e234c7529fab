"""What each run was given, what it nominated, and how it ended."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from sqlalchemy import and_, case, func, or_, select, update

from abreast.sql.dialects import dialect_of, insert_missing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import ColumnElement, Connection

    from abreast.model.cursor import Cursor
    from abreast.operations.leases import Lease
    from abreast.sql.tables import Tables

LOOKED_AT: Final = 20

Outcome = Literal["running", "succeeded", "failed", "unavailable", "interrupted", "refused", "stopped", "lost"]
"""How a run ended; "unavailable": what it needs was away, so that what it was given is not the cause."""

_COUNTED: Final = ("failed", "refused", "running")
"""Outcomes that what a run was given may be the cause of; a process that was killed leaves its run "running"."""


class RunKey(NamedTuple):
    """Identity of a run."""

    thread_id: str
    run_id: str


def begin(connection: Connection, tables: Tables, run: RunKey, workspace_id: str, lease: Lease) -> None:
    """
    Write down that a run has begun; safe to repeat.

    Earlier runs of the thread that never ended have lost their owner with this one's fence, see `outcome_of`. Their
    rows are not touched: an owner that is stopped in the middle of its last transaction may hold one.
    """
    clock = dialect_of(connection).clock()
    values = {
        "thread_id": run.thread_id,
        "run_id": run.run_id,
        "workspace_id": workspace_id,
        "fence": lease.fence,
        "started_at": clock,
        "outcome": "running",
    }
    insert_missing(connection, tables.run, values)


def end(
    connection: Connection,
    tables: Tables,
    run: RunKey,
    outcome: Outcome,
    *,
    since: Mapping[str, Cursor],
    given: Mapping[str, Cursor],
    nominated: Mapping[str, Cursor],
) -> bool:
    """
    Write down how a run ended.

    Args:
        since: Where its last batches were read from, by scope.
        given: Where they ended.
        nominated: What it put into its last checkpoint; confirmed if the outcome is `succeeded`.

    Returns:
        False if it had been written down before.
    """
    ended = (
        update(tables.run)
        .where(*_key(tables, run), tables.run.c.outcome == "running")
        .values(
            outcome=outcome,
            ended_at=dialect_of(connection).clock(),
            since=_as_json(since),
            given=_as_json(given),
            nominated=_as_json(nominated),
        )
    )
    return connection.execute(ended).rowcount == 1


def outcome_of(tables: Tables) -> ColumnElement[str]:
    """Build a run's outcome: one that never ended is lost once its thread has a later fence."""
    row, lease = tables.run, tables.thread_lease
    later = select(lease.c.fence).where(lease.c.thread_id == row.c.thread_id).scalar_subquery() > row.c.fence
    return case((and_(row.c.outcome == "running", later), "lost"), else_=row.c.outcome)


class Past(NamedTuple):
    """
    What the runs of a thread before the present one have come to.

    Attributes:
        previous: How the last of them ended; None where there was none.
        failures: How many since its last success failed by what they were given, or may have.
    """

    previous: Outcome | None
    failures: int


def past_of(connection: Connection, tables: Tables, thread_id: str) -> Past:
    """
    Look at a thread's last runs; called before the present one is written down.

    All that failed since the last success were given the same first event. Of the last `LOOKED_AT` that succeeded or
    failed so: more failures than that change nothing. A run that noticed itself that it has lost its lease was alive,
    and is not counted.
    """
    row = tables.run
    of_thread = row.alias()
    last = select(func.max(of_thread.c.fence)).where(of_thread.c.thread_id == thread_id).scalar_subquery()
    told = or_(row.c.outcome.in_(("succeeded", *_COUNTED)), row.c.fence == last)
    newest = select(row.c.outcome, outcome_of(tables)).where(row.c.thread_id == thread_id, told)
    found = connection.execute(newest.order_by(row.c.fence.desc()).limit(LOOKED_AT)).all()
    since_success = takewhile(lambda run: run[0] != "succeeded", found)
    failures = sum(written in _COUNTED and outcome != "running" for written, outcome in since_success)
    return Past(cast("Outcome", found[0][1]) if found else None, failures)


def _key(tables: Tables, run: RunKey) -> list[ColumnElement[bool]]:
    return [tables.run.c.thread_id == run.thread_id, tables.run.c.run_id == run.run_id]


def _as_json(cursors: Mapping[str, Cursor]) -> dict[str, Any]:
    return {scope: cursor.to_json() for scope, cursor in cursors.items()}
