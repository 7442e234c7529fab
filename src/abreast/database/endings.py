"""Transactions of async calls that end for sure: whoever is cancelled leaves no connection and no lock behind."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import event

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine

    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncTransaction

T = TypeVar("T")

_PATIENCE = 5.0
"""Seconds that a cancelled caller waits for the end of its transaction; then it ends without him."""


class Endings:
    """
    Begin and end transactions in tasks that a caller's cancellation does not reach.

    Only what comes between can be cancelled. SQLAlchemy drops a connection whose statement was cancelled, but not
    one that is cancelled while it connects, commits, rolls back or goes back to the pool.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    @asynccontextmanager
    async def transaction(self, engine: AsyncEngine) -> AsyncGenerator[AsyncConnection]:
        """Begin a transaction that is committed at the end, or rolled back after an error."""
        connection = await self._connected(engine)
        try:
            transaction = await connection.begin()
            yield connection
        except GeneratorExit:
            raise
        except Exception:
            await self._for_sure(_rolled_back(connection))
            raise
        except BaseException:
            await self._for_sure(_dropped(connection))
            raise
        await self._for_sure(_committed(connection, transaction))

    async def settled(self) -> None:
        """Wait until what was begun in this event loop has ended."""
        loop = asyncio.get_running_loop()
        going_on = [task for task in self._tasks if task.get_loop() is loop]
        if going_on:
            await asyncio.wait(going_on, timeout=_PATIENCE)

    async def _connected(self, engine: AsyncEngine) -> AsyncConnection:
        """Connect; for a caller that is cancelled meanwhile the connection is closed when it is there."""
        connecting = self._task(_connection(engine))
        try:
            return await asyncio.shield(connecting)
        except asyncio.CancelledError:
            self._task(_closed_when_there(connecting))
            raise

    async def _for_sure(self, ending: Coroutine[Any, Any, None]) -> None:
        """Run to the end, however often the caller is cancelled; that he is told afterwards."""
        task = self._task(ending)
        cancelled: asyncio.CancelledError | None = None
        while not task.done():
            try:
                await asyncio.wait({task}, timeout=_PATIENCE if cancelled else None)
                if cancelled:
                    break
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled
        task.result()

    def _task(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # Looked at, or asyncio would log what nobody waits for.


async def _connection(engine: AsyncEngine) -> AsyncConnection:
    return await engine.connect()


async def _closed_when_there(connecting: asyncio.Task[AsyncConnection]) -> None:
    await asyncio.wait({connecting})
    if not connecting.cancelled() and connecting.exception() is None:
        await connecting.result().close()


async def _committed(connection: AsyncConnection, transaction: AsyncTransaction) -> None:
    try:
        await transaction.commit()
    except Exception:
        with suppress(Exception):
            await transaction.rollback()
        raise
    finally:
        await connection.close()


async def _rolled_back(connection: AsyncConnection) -> None:
    """Close, which rolls back; an error of a connection that is lost would hide the step's own."""
    try:
        await connection.close()
    except Exception:  # noqa: BLE001 - as above
        with suppress(Exception):
            await _dropped(connection)


async def _dropped(connection: AsyncConnection) -> None:
    try:
        if not connection.closed and not connection.invalidated:
            await connection.invalidate()
    finally:
        await connection.close()


def unlock_dropped(engine: AsyncEngine) -> None:
    """Roll dropped connections back: closed while a cursor is left, one keeps its locks until that goes too."""
    going_on: set[asyncio.Task[None]] = set()

    @event.listens_for(engine.sync_engine, "invalidate")
    def on_invalidate(dbapi_connection: Any, _record: object, _error: object) -> None:
        # In a task of its own, as who is cancelled can be cancelled again; its work comes before the closing.
        with suppress(RuntimeError):
            task = asyncio.get_running_loop().create_task(_unlocked(dbapi_connection.driver_connection))
            going_on.add(task)
            task.add_done_callback(going_on.discard)


async def _unlocked(connection: Any) -> None:
    with suppress(Exception):  # a driver's own errors, for a connection that is closed already
        await connection.rollback()
