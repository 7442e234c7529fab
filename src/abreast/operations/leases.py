"""The right to run a thread: one row each, a fence that only grows, time by the database's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, or_, select, update

from abreast.errors import LeaseLost
from abreast.sql.dialects import dialect_of, insert_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection

    from abreast.sql.tables import Tables

NOBODY = ""


class Held(NamedTuple):
    """
    A lease as it stands.

    Attributes:
        valid: It has not run out.
        stop_asked_by: The run that wants the thread; None if nobody does.
    """

    thread_id: str
    fence: int
    run_id: str
    valid: bool
    stop_asked_by: str | None


class Lease(NamedTuple):
    """A lease one run holds."""

    thread_id: str
    fence: int


def acquire(connection: Connection, tables: Tables, thread_id: str, run_id: str, *, micros: int) -> Lease | None:
    """
    Take a thread's lease if nobody holds it, or if it has run out, with the next fence.

    Args:
        micros: How long it holds without being renewed.

    Returns:
        The lease, or None if somebody holds it.
    """
    lease = tables.thread_lease
    clock = dialect_of(connection).clock()
    begin(connection, tables, thread_id)
    free = or_(lease.c.run_id == NOBODY, lease.c.expires_at < clock)
    taken = (
        update(lease)
        .where(lease.c.thread_id == thread_id, free)
        .values(fence=lease.c.fence + 1, run_id=run_id, expires_at=clock + micros, stop_asked_by=None)
    )
    if connection.execute(taken).rowcount == 0:
        return None
    fence = connection.execute(select(lease.c.fence).where(lease.c.thread_id == thread_id)).scalar_one()
    return Lease(thread_id, int(fence))


def begin(connection: Connection, tables: Tables, thread_id: str) -> None:
    """Make the row of a thread that was never run."""
    values = {"thread_id": thread_id, "fence": 0, "run_id": NOBODY, "expires_at": 0, "last_ticket": 0}
    insert_missing(connection, tables.thread_lease, values)


def held(connection: Connection, tables: Tables, thread_ids: Sequence[str]) -> dict[str, Held]:
    """Give the leases of threads, as they stand, by thread."""
    lease = tables.thread_lease
    valid = and_(lease.c.run_id != NOBODY, lease.c.expires_at >= dialect_of(connection).clock())
    wanted = select(
        lease.c.thread_id, lease.c.fence, lease.c.run_id, valid.label("valid"), lease.c.stop_asked_by
    ).where(lease.c.thread_id.in_(thread_ids))
    return {
        row.thread_id: Held(row.thread_id, int(row.fence), row.run_id, bool(row.valid), row.stop_asked_by)
        for row in connection.execute(wanted)
    }


def renew(connection: Connection, tables: Tables, leases: Sequence[Lease], *, micros: int) -> None:
    """Let leases hold longer, all in one statement; one that was taken over stays with its new owner."""
    lease = tables.thread_lease
    own = or_(*(_own(tables, one) for one in leases))
    connection.execute(update(lease).where(own).values(expires_at=dialect_of(connection).clock() + micros))


def check_fence(connection: Connection, tables: Tables, lease: Lease) -> None:
    """
    Make sure that no later run has taken the thread; must be the last statement before COMMIT.

    The lease row is locked for sharing until then: a plain read would let a woken run commit after a take-over, a
    lock taken earlier would let a stopped process block one.

    Raises:
        LeaseLost: A later run has.
    """
    row = tables.thread_lease
    wanted = select(row.c.fence).where(_own(tables, lease)).with_for_update(read=True)
    if connection.execute(wanted).first() is None:
        raise LeaseLost(lease.thread_id, lease.fence)


def release(connection: Connection, tables: Tables, lease: Lease) -> None:
    """
    Give a lease back; the last statement of a run's last transaction.

    Raises:
        LeaseLost: A later run has taken the thread.
    """
    row = tables.thread_lease
    given_back = update(row).where(_own(tables, lease)).values(run_id=NOBODY, expires_at=0, stop_asked_by=None)
    if connection.execute(given_back).rowcount == 0:
        raise LeaseLost(lease.thread_id, lease.fence)


def ask_to_stop(connection: Connection, tables: Tables, thread_id: str, run_id: str) -> None:
    """Ask whoever holds a thread to make room for a run."""
    row = tables.thread_lease
    connection.execute(update(row).where(row.c.thread_id == thread_id).values(stop_asked_by=run_id))


def _own(tables: Tables, lease: Lease) -> ColumnElement[bool]:
    row = tables.thread_lease
    return and_(row.c.thread_id == lease.thread_id, row.c.fence == lease.fence, row.c.run_id != NOBODY)
