"""The line before a busy thread: first come, first served, over all processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, insert, select, update

from abreast.operations import leases
from abreast.sql.dialects import dialect_of

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from abreast.operations.leases import Lease
    from abreast.sql.tables import Tables


class Waiter(NamedTuple):
    """
    A run in the line.

    Attributes:
        ticket: Its place; lower ones come first.
    """

    thread_id: str
    run_id: str
    ticket: int


def line_up(connection: Connection, tables: Tables, thread_id: str, run_id: str, *, micros: int) -> Waiter:
    """
    Take the next ticket for a thread; safe to repeat.

    Args:
        micros: How long the place is kept without being renewed: a dead waiter holds nobody up for longer.
    """
    lease, waiter = tables.thread_lease, tables.thread_waiter
    clock = dialect_of(connection).clock()
    of_thread = waiter.c.thread_id == thread_id
    connection.execute(delete(waiter).where(of_thread, waiter.c.expires_at < clock))
    found = connection.execute(select(waiter.c.ticket).where(of_thread, waiter.c.run_id == run_id)).scalar()
    if found is not None:
        return Waiter(thread_id, run_id, int(found))
    leases.begin(connection, tables, thread_id)
    of_lease = lease.c.thread_id == thread_id
    connection.execute(update(lease).where(of_lease).values(last_ticket=lease.c.last_ticket + 1))
    ticket = int(connection.execute(select(lease.c.last_ticket).where(of_lease)).scalar_one())
    place = Waiter(thread_id, run_id, ticket)
    _take_place(connection, tables, place, micros)
    return place


def acquire_in_turn(
    connection: Connection, tables: Tables, place: Waiter, *, lease_micros: int, micros: int
) -> Lease | None:
    """Take the thread's lease if it is free and nobody alive is ahead in the line; else keep the place."""
    waiter = tables.thread_waiter
    clock = dialect_of(connection).clock()
    not_behind = _not_behind(tables, place)
    left = select(waiter.c.ticket, (waiter.c.expires_at - clock).label("micros_left")).where(*not_behind)
    line = {int(row.ticket): int(row.micros_left) for row in connection.execute(left)}
    if line.get(place.ticket, 0) < micros // 2:
        _take_place(connection, tables, place, micros, again=place.ticket in line)
    if any(still >= 0 for ticket, still in line.items() if ticket < place.ticket):
        return None
    lease = leases.acquire(connection, tables, place.thread_id, place.run_id, micros=lease_micros, ticket=place.ticket)
    if lease is not None:
        connection.execute(delete(waiter).where(*not_behind))
    return lease


def leave_line(connection: Connection, tables: Tables, thread_id: str, run_id: str) -> None:
    """Give a run's ticket back, if it has one."""
    waiter = tables.thread_waiter
    connection.execute(delete(waiter).where(waiter.c.thread_id == thread_id, waiter.c.run_id == run_id))


def _not_behind(tables: Tables, place: Waiter) -> list[ColumnElement[bool]]:
    """Select a waiter and those ahead of it."""
    waiter = tables.thread_waiter
    return [waiter.c.thread_id == place.thread_id, waiter.c.ticket <= place.ticket]


def _take_place(connection: Connection, tables: Tables, place: Waiter, micros: int, *, again: bool = False) -> None:
    waiter = tables.thread_waiter
    expires_at = leases.later(connection, micros)
    if again:
        own = [waiter.c.thread_id == place.thread_id, waiter.c.ticket == place.ticket]
        connection.execute(update(waiter).where(*own).values(expires_at=expires_at))
    else:
        connection.execute(insert(waiter).values(**place._asdict(), expires_at=expires_at))
