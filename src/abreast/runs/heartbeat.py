"""Renew the leases of this process: one thread for each database, one statement for all its runs."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
import time
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary, WeakValueDictionary

from abreast.errors import InvalidDatabase, SyncCallOnAsyncDatabase
from abreast.operations import leases
from abreast.operations.leases import MOST_AT_ONCE, Renewal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from abreast.database import Database
    from abreast.operations.leases import Held
    from abreast.runs.run import Run

BEAT_SECONDS: Final = 2.0
"""Longest time between two beats: a run that is asked to stop learns of it with the next one."""

_A_THIRD: Final = 1 / 3_000_000
_EXIT_SECONDS: Final = 5.0
_log = logging.getLogger(__name__)


class Heartbeat:
    """
    Keeps the runs of one database alive, and tells them that they were asked to stop or have lost their lease.

    The thread begins with the first run and ends when there is none. It is a thread and no task: sync hooks run on
    the event loop's thread and would starve a task. It opens a connection of its own for each beat, so that runs
    that use up a pool do not starve it either, and its statements commit by themselves: a process that stands still
    in the middle of a beat would keep others from its leases. A run that nobody holds any more is renewed no more.
    """

    def __init__(self, database: Database) -> None:
        self._database = database.unpooled()
        self._runs: WeakValueDictionary[str, Run] = WeakValueDictionary()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._looking = self._stopping = self._failing = False
        self._thread: threading.Thread | None = None

    def add(self, run: Run) -> None:
        """Renew a run's lease from now on."""
        with self._lock:
            self._runs[run.key.run_id] = run
            if self._thread is None:
                self._stopping = False
                self._thread = threading.Thread(target=self._beat_on, name="abreast-heartbeat", daemon=True)
                self._thread.start()
        self._wake.set()

    def remove(self, run: Run) -> None:
        """Renew it no more."""
        with self._lock:
            self._runs.pop(run.key.run_id, None)
        self._wake.set()

    def poke(self) -> None:
        """Look now, and not only with the next beat."""
        self._looking = True
        self._wake.set()

    def stop(self) -> None:
        """End the thread; leases that are held run out by themselves."""
        self._stopping = True
        thread = self._thread
        self._wake.set()
        if thread is not None:
            thread.join(_EXIT_SECONDS)

    def _beat_on(self) -> None:
        last = time.monotonic()
        while (seconds := self._seconds()) is not None:
            if self._wake.wait(max(0, last + seconds - time.monotonic())):
                self._wake.clear()
            if self._looking or time.monotonic() >= last + seconds:
                self._looking = False
                self._beat()
                last = time.monotonic()

    def _seconds(self) -> float | None:
        """Give the time to the next beat; None where there is nothing left to renew, which ends the thread."""
        with self._lock:
            runs = list(self._runs.values())
            if self._stopping or not runs:
                self._thread = None
                return None
            return min(BEAT_SECONDS, *(run.micros * _A_THIRD for run in runs))

    def _beat(self) -> None:
        with self._lock:
            runs = [run for run in self._runs.values() if run.signals.press()]
        try:
            for first in range(0, len(runs), MOST_AT_ONCE):
                self._renew(runs[first : first + MOST_AT_ONCE])
            self._failing = False
        except Exception as error:  # noqa: BLE001 - whatever it is, the next beat may succeed: the thread must not end
            if not self._failing:
                _log.warning("leases could not be renewed, trying again: %s", error)
            self._failing = True

    def _renew(self, runs: Sequence[Run]) -> None:
        try:
            found = self._database.run(self._renewed, runs)
        except (SyncCallOnAsyncDatabase, InvalidDatabase):
            found = asyncio.run(self._arenew(runs))
        for run in runs:
            _tell(run, found.get(run.key.thread_id))

    async def _arenew(self, runs: Sequence[Run]) -> dict[str, Held]:
        try:
            return await self._database.arun(self._renewed, runs)
        finally:
            await self._database.aclose()

    def _renewed(self, connection: Connection, runs: Sequence[Run]) -> dict[str, Held]:
        tables = self._database.tables
        leases.renew(connection, tables, [Renewal(*run.key, run.micros) for run in runs])
        return leases.held(connection, tables, [run.key.thread_id for run in runs])


def _tell(run: Run, found: Held | None) -> None:
    if found is None or found.fence != run.lease.fence:
        run.signals.lose()
    elif found.stop_asked_by is not None and found.run_id == run.key.run_id:
        run.signals.stop(found.stop_asked_by)


_HEARTBEATS: WeakKeyDictionary[Database, Heartbeat] = WeakKeyDictionary()
_lock = threading.Lock()


def heartbeat_of(database: Database) -> Heartbeat:
    """Give the heartbeat of a database in this process."""
    with _lock:
        found = _HEARTBEATS.get(database)
        if found is None:
            found = _HEARTBEATS[database] = Heartbeat(database)
        return found


def _stop_all() -> None:
    for heartbeat in list(_HEARTBEATS.values()):
        heartbeat.stop()


def _begin_anew() -> None:
    """Forget the parent's runs after a fork: they and their threads are in the parent."""
    global _lock  # noqa: PLW0603 - the lock may have been held at the moment of the fork
    _lock = threading.Lock()
    _HEARTBEATS.clear()


atexit.register(_stop_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
