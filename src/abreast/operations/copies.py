"""A thread's checkpoints copied to another thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, insert, literal, select, update

from abreast.errors import InvalidInput
from abreast.operations import heads

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

    from abreast.sql.tables import Tables


def copy_thread(connection: Connection, tables: Tables, source: str, target: str) -> None:
    """
    Copy all checkpoints with their values and pending writes; a source that is not there is no error.

    Raises:
        InvalidInput: The target has checkpoints.
    """
    found = {thread_id: heads.lock(connection, tables, thread_id) for thread_id in sorted({source, target})}
    head, deleted = found[source], found[target]
    if head is None or head.deleted:
        return
    there = select(tables.checkpoint.c.seq).where(tables.checkpoint.c.thread_id == target).limit(1)
    if connection.execute(there).first() is not None:
        raise InvalidInput(
            "target_thread_id", "is a thread that has checkpoints", "delete it before, or name a new one"
        )
    heads.begin(connection, tables, target)
    epoch = deleted.epoch if deleted else 0
    for table in tables.of_checkpoints:
        _copy(connection, table, source, target, epoch)
    _copy_head(connection, tables, source, target)


def _copy(connection: Connection, table: Table, source: str, target: str, epoch: int) -> None:
    own = {"thread_id": target, "epoch": epoch}
    columns: list[ColumnElement[object]] = [
        literal(own[column.name], column.type).label(column.name) if column.name in own else column
        for column in table.columns
    ]
    rows = select(*columns).where(table.c.thread_id == source)
    connection.execute(insert(table).from_select([column.name for column in table.columns], rows))


def _copy_head(connection: Connection, tables: Tables, source: str, target: str) -> None:
    head = tables.checkpoint_head
    names = ("head_id", "version_id", "run_state", "status", "step", "state_bytes", "checkpoint_at", "schema_version")
    found = connection.execute(select(*(head.c[name] for name in names)).where(head.c.thread_id == source))
    values = dict(found.mappings().one())
    # Numbers of the copied checkpoints may not come again, nor those of what the target had before it was deleted.
    values["version_id"] = max(int(values["version_id"]), int(_version(connection, tables, target)))
    connection.execute(update(head).where(head.c.thread_id == target).values(**values, deleted=0))


def _version(connection: Connection, tables: Tables, thread_id: str) -> int:
    found = heads.read(connection, tables, thread_id)
    return found.version_id if found else 0
