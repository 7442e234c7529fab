"""The right to run a thread: one row each, a fence that only grows, time by the database's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import BigInteger, and_, case, exists, literal, or_, select, update

from abreast.errors import LeaseLost
from abreast.sql.dialects import dialect_of, insert_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection

    from abreast.sql.tables import Tables

NOBODY = ""
"""Holder of a free lease."""

MOST_AT_ONCE = 500
"""Most leases of one statement: Oracle takes 1,000 values in a list."""


class Held(NamedTuple):
    """
    A lease as it stands.

    Attributes:
        run_id: The run that holds it, or `NOBODY`.
        valid: It has not run out.
        stop_asked_by: Who wants the thread; None if nobody does.
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


class Renewal(NamedTuple):
    """
    A lease that is to hold longer.

    Attributes:
        micros: For how long from now on.
    """

    thread_id: str
    run_id: str
    micros: int


def acquire(
    connection: Connection, tables: Tables, thread_id: str, run_id: str, *, micros: int, ticket: int | None = None
) -> Lease | None:
    """
    Take a thread's lease, with the next fence, if it is free or has run out and nobody is ahead in the line.

    Safe to repeat: a run that holds it keeps its fence.

    Args:
        micros: How long it holds without being renewed.
        ticket: The run's place in the line; without one everybody in it is ahead.

    Returns:
        The lease, or None if somebody else comes first.
    """
    lease = tables.thread_lease
    clock = dialect_of(connection).clock()
    free = or_(lease.c.run_id == NOBODY, lease.c.expires_at < clock)
    taken = (
        update(lease)
        .where(lease.c.thread_id == thread_id, free, ~_someone_ahead(tables, thread_id, clock, ticket))
        .values(fence=lease.c.fence + 1, run_id=run_id, expires_at=later(connection, micros), stop_asked_by=None)
    )
    holder = select(lease.c.fence, lease.c.run_id).where(lease.c.thread_id == thread_id)
    connection.execute(taken)
    row = connection.execute(holder).first()
    if row is None:
        begin(connection, tables, thread_id)
        connection.execute(taken)
        row = connection.execute(holder).one()
    return Lease(thread_id, int(row.fence)) if row.run_id == run_id else None


def later(connection: Connection, micros: int) -> ColumnElement[int]:
    """Build the database's time in so many microseconds."""
    return dialect_of(connection).clock() + literal(micros, BigInteger)


def begin(connection: Connection, tables: Tables, thread_id: str) -> None:
    """Make the row of a thread that was never run."""
    values = {"thread_id": thread_id, "fence": 0, "run_id": NOBODY, "expires_at": 0, "last_ticket": 0}
    insert_missing(connection, tables.thread_lease, values)


def is_valid(tables: Tables, clock: ColumnElement[int]) -> ColumnElement[bool]:
    """Build the condition that somebody has a lease, and that it has not run out."""
    lease = tables.thread_lease
    return and_(lease.c.run_id != NOBODY, lease.c.expires_at >= clock)


def held(connection: Connection, tables: Tables, thread_ids: Sequence[str]) -> dict[str, Held]:
    """Give the leases of at most `MOST_AT_ONCE` threads, as they stand, by thread."""
    lease = tables.thread_lease
    valid = is_valid(tables, dialect_of(connection).clock())
    wanted = select(
        lease.c.thread_id,
        lease.c.fence,
        lease.c.run_id,
        case((valid, literal(1)), else_=literal(0)).label("valid"),
        lease.c.stop_asked_by,
    ).where(lease.c.thread_id.in_(thread_ids))
    return {
        row.thread_id: Held(row.thread_id, int(row.fence), row.run_id, bool(row.valid), row.stop_asked_by)
        for row in connection.execute(wanted)
    }


def renew(connection: Connection, tables: Tables, renewals: Sequence[Renewal]) -> None:
    """
    Let at most `MOST_AT_ONCE` leases hold longer, all in one statement.

    One that ran out is renewed as well, one that was taken over stays with its new owner.
    """
    lease = tables.thread_lease
    threads: dict[int, list[str]] = {}
    for renewal in renewals:
        threads.setdefault(renewal.micros, []).append(renewal.thread_id)
    longest = max(threads)
    others = [
        (lease.c.thread_id.in_(ids), literal(micros, BigInteger))
        for micros, ids in threads.items()
        if micros != longest
    ]
    most = literal(longest, BigInteger)
    duration = case(*others, else_=most) if others else most
    own = and_(
        lease.c.thread_id.in_([renewal.thread_id for renewal in renewals]),
        lease.c.run_id.in_([renewal.run_id for renewal in renewals]),
    )
    connection.execute(update(lease).where(own).values(expires_at=dialect_of(connection).clock() + duration))


def check_fence(connection: Connection, tables: Tables, lease: Lease) -> None:
    """
    Make sure that no later run has taken the thread; must be the last statement before COMMIT.

    The lease row is locked for sharing until then: a plain read would let a woken run commit after a take-over, a
    lock taken earlier would let a stopped process block one. Oracle has no lock for sharing and takes a full one.

    Raises:
        LeaseLost: A later run has, or this one has given it back.
    """
    row = tables.thread_lease
    wanted = select(row.c.fence).where(_own(tables, lease)).with_for_update(read=True)
    if connection.execute(wanted).first() is None:
        raise LeaseLost(lease.thread_id, lease.fence)


def release(connection: Connection, tables: Tables, lease: Lease) -> None:
    """
    Give a lease back; the last statement of a run's last transaction, which checks the fence as well.

    Raises:
        LeaseLost: A later run has taken the thread.
    """
    row = tables.thread_lease
    given_back = update(row).where(_own(tables, lease)).values(run_id=NOBODY, expires_at=0, stop_asked_by=None)
    if connection.execute(given_back).rowcount == 0:
        raise LeaseLost(lease.thread_id, lease.fence)


def withdraw(connection: Connection, tables: Tables, thread_id: str, run_id: str) -> bool:
    """Give back what a run may hold without knowing it; says whether it did."""
    row = tables.thread_lease
    own = and_(row.c.thread_id == thread_id, row.c.run_id == run_id)
    given_back = update(row).where(own).values(run_id=NOBODY, expires_at=0, stop_asked_by=None)
    return connection.execute(given_back).rowcount == 1


def ask_to_stop(connection: Connection, tables: Tables, thread_id: str, asked_by: str) -> bool:
    """Ask whoever holds a thread to make room, unless somebody has asked; says whether anybody was asked now."""
    row = tables.thread_lease
    holder = and_(
        row.c.thread_id == thread_id,
        is_valid(tables, dialect_of(connection).clock()),
        row.c.stop_asked_by.is_(None),
    )
    return connection.execute(update(row).where(holder).values(stop_asked_by=asked_by)).rowcount == 1


def free_ownerless(connection: Connection, tables: Tables, thread_id: str) -> bool:
    """Take a lease that ran out from its owner and give it to nobody, with the next fence; says whether it did."""
    row = tables.thread_lease
    ownerless = and_(
        row.c.thread_id == thread_id, row.c.run_id != NOBODY, row.c.expires_at < dialect_of(connection).clock()
    )
    freed = update(row).where(ownerless)
    values = {"fence": row.c.fence + 1, "run_id": NOBODY, "expires_at": 0, "stop_asked_by": None}
    return connection.execute(freed.values(values)).rowcount == 1


def _someone_ahead(
    tables: Tables, thread_id: str, clock: ColumnElement[int], ticket: int | None
) -> ColumnElement[bool]:
    waiter = tables.thread_waiter
    ahead = [waiter.c.thread_id == thread_id, waiter.c.expires_at >= clock]
    if ticket is not None:
        ahead.append(waiter.c.ticket < ticket)
    return exists().where(*ahead)


def _own(tables: Tables, lease: Lease) -> ColumnElement[bool]:
    row = tables.thread_lease
    return and_(row.c.thread_id == lease.thread_id, row.c.fence == lease.fence, row.c.run_id != NOBODY)
