"""Faults that a race must find, planted in the library of a process."""

import sqlite3
import threading
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, case, create_engine, func, insert, make_url, select, text, update

from abreast import Event
from abreast.operations import batches, number, record, writes
from tests.concurrency.race.programme import HOT_ROWS

BEFORE_COMMIT = "numbers taken before the commit"
"""What a sequence does: the numbers of rolled-back transactions stay unused, and a late commit comes too late."""
CACHED = 20
"""How many numbers a connection takes at once, as a cached sequence does, where one transaction writes at a time."""

_taken = threading.local()


def prepare(url: str, fault: str | None) -> None:
    """Make what a fault needs in the database."""
    if fault != BEFORE_COMMIT:
        return
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        with sqlite3.connect(f"{parsed.database}.sequence") as beside:
            beside.execute("CREATE TABLE sequence (taken INTEGER)")
            beside.execute("INSERT INTO sequence VALUES (0)")
        beside.close()
        return
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("CREATE SEQUENCE revision_sequence"))
    engine.dispose()


def plant(fault: str | None) -> None:
    """Put a fault into this process's library."""
    if fault == BEFORE_COMMIT:
        writes.record = _record_with_numbers
        number.number = batches.number = _raise_head


def _record_with_numbers(connection: Connection, tables: Any, events: Sequence[Event]) -> None:
    for event in events:
        values = record._values(event) | {"revision": HOT_ROWS + _next(connection)}
        connection.execute(insert(tables.workspace_event).values(**values))


def _next(connection: Connection) -> int:
    if connection.dialect.name == "postgresql":
        return connection.scalar(text("SELECT nextval('revision_sequence')"))
    if not getattr(_taken, "numbers", None):
        _taken.numbers = _take_numbers(connection)
    return _taken.numbers.pop(0)


def _take_numbers(connection: Connection) -> list[int]:
    file = connection.scalar(text("SELECT file FROM pragma_database_list WHERE name = 'main'"))
    with sqlite3.connect(f"{file}.sequence", timeout=60) as beside:
        last = beside.execute("UPDATE sequence SET taken = taken + ? RETURNING taken", [CACHED]).fetchone()[0]
    beside.close()
    return list(range(last - CACHED + 1, last + 1))


def _raise_head(connection: Connection, tables: Any, workspace_id: str, **_: Any) -> number.Numbered:
    workspace, event = tables.workspace, tables.workspace_event
    newest = connection.scalar(select(func.max(event.c.revision)))
    head = case((workspace.c.head < newest, newest), else_=workspace.c.head)
    connection.execute(update(workspace).where(workspace.c.workspace_id == workspace_id).values(head=head))
    return number.Numbered({}, more=False)
