"""What a run is told from outside, and where it is when it is told."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from abreast.errors import LeaseLost, RunStopped

if TYPE_CHECKING:
    from collections.abc import Generator

    from abreast.operations.leases import Lease

GRACE_SECONDS: Final = 2.0
"""How long a run that was asked to stop may take to reach a check."""


class Signals:
    """
    Stop and loss, told by the heartbeat's thread, seen by the run.

    A run that was asked to stop ends at its next check. One that runs on an event loop and reaches none within
    `GRACE_SECONDS` has its task cancelled. A sync one in the middle of a tool goes on until the tool returns: a
    thread cannot be stopped. One that is suspended, because its consumer does not ask for the next part, is let go:
    its lease is not renewed any more.
    """

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._lost = False
        self._stopped_by: str | None = None
        self._stopped_at = 0.0
        self._paused = False
        self._cancelled = False
        self._task: asyncio.Task[object] | None = None

    def check(self) -> None:
        """
        Make sure that the run may go on.

        Raises:
            RunStopped: Somebody asked it to stop.
            LeaseLost: A later run has taken the thread over.
        """
        if self._lost:
            raise LeaseLost(*self._lease)
        if self._stopped_by is not None:
            raise RunStopped(self._lease.thread_id, self._stopped_by)

    def stop(self, asked_by: str) -> None:
        """Ask the run to end at its next check."""
        if self._stopped_by is None:
            self._stopped_by, self._stopped_at = asked_by, time.monotonic()

    def lose(self) -> None:
        """Tell the run that its lease is somebody else's by now."""
        self._lost = True

    @contextmanager
    def inside(self) -> Generator[None]:
        """Remember the task that executes the run, if there is one."""
        self._enter()
        try:
            yield
        finally:
            self._task = None

    @contextmanager
    def paused(self) -> Generator[None]:
        """Mark the time in which the run waits for its consumer; another task may go on with it."""
        self._task, self._paused = None, True
        try:
            yield
        finally:
            self._paused = False
            self._enter()

    def press(self) -> bool:
        """
        Hurry a run that was asked to stop and has not; called by the heartbeat's thread.

        Returns:
            False if it is suspended and has to be let go.
        """
        if self._stopped_by is None or time.monotonic() - self._stopped_at < GRACE_SECONDS:
            return True
        if self._paused:
            return False
        task = self._task
        if task is not None:
            with suppress(RuntimeError):  # its loop has been closed
                task.get_loop().call_soon_threadsafe(self._cancel)
        return True

    def explain(self, error: BaseException) -> BaseException:
        """Give the reason for a cancellation that `press` brought; any other error as it is."""
        task = asyncio.current_task() if isinstance(error, asyncio.CancelledError) else None
        if task is None or not self._cancelled:
            return error
        self._cancelled = False
        return error if task.uncancel() else RunStopped(self._lease.thread_id, str(self._stopped_by))

    def _enter(self) -> None:
        try:
            self._task = asyncio.current_task()
        except RuntimeError:
            self._task = None

    def _cancel(self) -> None:
        if self._task is not None and not self._cancelled:
            self._cancelled = True
            self._task.cancel()
