"""The line before a busy thread: first come, first served, over all processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select, update

from abreast.operations import leases
from abreast.sql.dialects import dialect_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from abreast.operations.leases import Lease
    from abreast.sql.tables import Tables


def line_up(connection: Connection, tables: Tables, thread_id: str, run_id: str, *, micros: int) -> int:
    """
    Take the next ticket for a thread.

    Args:
        micros: How long the place is kept without being renewed: a dead waiter holds nobody up for longer.
    """
    lease, waiter = tables.thread_lease, tables.thread_waiter
    leases.begin(connection, tables, thread_id)
    of_thread = lease.c.thread_id == thread_id
    connection.execute(update(lease).where(of_thread).values(last_ticket=lease.c.last_ticket + 1))
    ticket = int(connection.execute(select(lease.c.last_ticket).where(of_thread)).scalar_one())
    expires_at = dialect_of(connection).clock() + micros
    connection.execute(insert(waiter).values(thread_id=thread_id, ticket=ticket, run_id=run_id, expires_at=expires_at))
    return ticket


def acquire_in_turn(
    connection: Connection, tables: Tables, thread_id: str, run_id: str, ticket: int, *, lease_micros: int, micros: int
) -> Lease | None:
    """Take the thread's lease if it is free and nobody alive is ahead in the line; else keep the place."""
    waiter = tables.thread_waiter
    clock = dialect_of(connection).clock()
    of_thread = waiter.c.thread_id == thread_id
    connection.execute(delete(waiter).where(of_thread, waiter.c.expires_at < clock, waiter.c.ticket != ticket))
    place = update(waiter).where(of_thread, waiter.c.ticket == ticket).values(expires_at=clock + micros)
    if connection.execute(place).rowcount == 0:
        connection.execute(
            insert(waiter).values(thread_id=thread_id, ticket=ticket, run_id=run_id, expires_at=clock + micros)
        )
    first = connection.execute(select(func.min(waiter.c.ticket)).where(of_thread)).scalar_one()
    if int(first) != ticket:
        return None
    lease = leases.acquire(connection, tables, thread_id, run_id, micros=lease_micros)
    if lease is not None:
        leave_line(connection, tables, thread_id, ticket)
    return lease


def leave_line(connection: Connection, tables: Tables, thread_id: str, ticket: int) -> None:
    """Give a ticket back."""
    waiter = tables.thread_waiter
    connection.execute(delete(waiter).where(waiter.c.thread_id == thread_id, waiter.c.ticket == ticket))


def someone_waits(connection: Connection, tables: Tables, thread_id: str) -> bool:
    """Say whether somebody alive waits for a thread."""
    waiter = tables.thread_waiter
    alive = select(waiter.c.ticket).where(
        waiter.c.thread_id == thread_id, waiter.c.expires_at >= dialect_of(connection).clock()
    )
    return connection.execute(alive.limit(1)).first() is not None
