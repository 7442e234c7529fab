"""Send what a model call sends once more through SQLAlchemy alone: what the database takes without abreast."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, create_engine, event, make_url
from sqlalchemy.ext.asyncio import create_async_engine

from benchmarks.counting import BACKGROUND

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from abreast import Database

Statement = tuple[str, Any]
"""What the driver is given: the text and its parameters."""


@contextmanager
def sent() -> Iterator[list[Statement]]:
    """Collect the statements of this process for as long as the block lasts; the beats that renew leases are none."""
    found: list[Statement] = []

    def note(_connection: Connection, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if threading.current_thread().name != BACKGROUND:
            found.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(Engine, "before_cursor_execute", note)


@dataclass
class Bare:
    """
    An engine of the same database, on which nothing of abreast listens.

    Attributes:
        runner: Runs async calls; None for sync ones.
    """

    database: Database
    url: str
    runner: asyncio.Runner | None

    def __post_init__(self) -> None:
        """Make the engine."""
        sync_url, async_url = self.database.dialect.urls(make_url(self.url))
        options: Any = {"execution_options": self.database.dialect.read_options}
        assert sync_url is not None
        assert async_url is not None
        self._engine = create_engine(sync_url, **options)
        self._async_engine = create_async_engine(async_url, **options)

    def send(self, statements: Sequence[Statement]) -> float:
        """Send statements in a transaction that reads, fetch their rows, and give the CPU seconds."""
        began = time.process_time()
        if self.runner is None:
            with self._engine.begin() as connection:
                _fetch(connection, statements)
        else:
            self.runner.run(self._asend(statements))
        return time.process_time() - began

    def close(self) -> None:
        """Close its connections."""
        self._engine.dispose()
        if self.runner is not None:
            self.runner.run(self._async_engine.dispose())

    async def _asend(self, statements: Sequence[Statement]) -> None:
        async with self._async_engine.begin() as connection:
            await connection.run_sync(_fetch, statements)


def _fetch(connection: Connection, statements: Sequence[Statement]) -> None:
    for statement, parameters in statements:
        result = connection.exec_driver_sql(statement, parameters)
        if result.returns_rows:
            result.all()
