"""SqlSaver as the contract of savers opens it, also in other processes, and what may happen to its store."""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import create_engine, event, make_url, text

from abreast import Database
from abreast.langgraph import bind
from abreast.langgraph.saver import SqlSaver
from tests.concurrency.product import W, log_of

BOUND = {"workspace_id": W}
NEWEST = "checkpoint_id = (SELECT head_id FROM abreast_checkpoint_head WHERE thread_id = :thread)"
# Which bytes of a thread are damaged: table, column, and where the row is.
PARTS = {
    "checkpoint": ("abreast_checkpoint", "body", NEWEST),
    "value": ("abreast_checkpoint_value", "bytes", "channel = 'note'"),
    "list": ("abreast_checkpoint_element", "bytes", "channel = 'todo' AND first = 0"),
    "write": ("abreast_checkpoint_write", "bytes", "channel = 'note'"),
}


class Apart(NamedTuple):
    """Two databases: one of the log with its leases, one of the checkpoints."""

    log: str
    checkpoints: str


@contextlib.contextmanager
def sync_saver(url: str) -> Iterator[SqlSaver]:
    """Open a saver that is called by its plain methods."""
    with Database.open(url) as database:
        yield SqlSaver(database)


@contextlib.asynccontextmanager
async def async_saver(url: str) -> AsyncIterator[SqlSaver]:
    """Open a saver that is called by its async methods."""
    async with Database.open(url) as database:
        yield SqlSaver(database)


@contextlib.contextmanager
def saver_apart(urls: Apart) -> Iterator[SqlSaver]:
    """Open a saver whose leases are in another database."""
    with Database.open(urls.log) as leases, Database.open(urls.checkpoints) as database:
        saver: Any = SqlSaver(database, leases=leases)
        saver.leases = leases
        yield saver


def bound(graph: Any, saver: Any) -> Any:
    """Bind a graph to the log in the database of the leases."""
    return bind(graph, log_of(getattr(saver, "leases", saver.database)))


def fault(saver: SqlSaver, tick: Callable[[], None]) -> None:
    """Call a function before each statement, and before and after each COMMIT."""
    engine = saver.database._engines.sync()
    commit = engine.dialect.do_commit

    def ticking(connection: Any) -> None:
        tick()
        commit(connection)
        tick()

    event.listen(engine, "before_cursor_execute", lambda *_: tick())
    engine.dialect.do_commit = ticking


def corrupt(url: str, thread_id: str, what: str) -> bool:
    """Change a byte of a thread, or remove a row."""
    how, part = what.split()
    table, column, where = PARTS[part]
    here = f"FROM {table} WHERE thread_id = :thread AND {where}"
    engine = create_engine(make_url(url))
    with engine.begin() as connection:
        named = {"thread": thread_id}
        data = connection.scalar(text(f"SELECT {column} {here}"), named)
        if how == "drop":
            changed = connection.execute(text(f"DELETE {here}"), named)
        else:
            flipped = bytes([*data[:-1], data[-1] ^ 1])
            statement = f"UPDATE {table} SET {column} = :flipped {here.removeprefix(f'FROM {table} ')}"
            changed = connection.execute(text(statement), {**named, "flipped": flipped})
    engine.dispose()
    return changed.rowcount > 0
