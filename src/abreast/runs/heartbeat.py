"""Renew the leases of this process: one thread, one statement for all of a database."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from abreast.errors import AbreastError
from abreast.operations import leases

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from abreast.database import Database
    from abreast.operations.leases import Held
    from abreast.runs.run import Run

_log = logging.getLogger(__name__)


class Heartbeat:
    """
    Keeps the runs of one database alive.

    The thread begins with the first run and ends when there is none. It is a thread and no task: sync hooks run on
    the event loop's thread and would starve a task.
    """

    def __init__(self, database: Database, *, micros: int) -> None:
        self._database = database
        self._micros = micros
        self._runs: dict[str, Run] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, run: Run) -> None:
        """Renew a run's lease from now on."""
        with self._lock:
            self._runs[run.key.run_id] = run
            if self._thread is None:
                self._wake = threading.Event()
                self._thread = threading.Thread(
                    target=self._beat, args=(self._wake,), name="abreast-heartbeat", daemon=True
                )
                self._thread.start()

    def remove(self, run: Run) -> None:
        """Renew it no more."""
        with self._lock:
            self._runs.pop(run.key.run_id, None)
            if not self._runs and self._thread is not None:
                self._thread = None
                self._wake.set()

    def _beat(self, wake: threading.Event) -> None:
        while not wake.wait(self._micros / 3_000_000):
            with self._lock:
                runs = list(self._runs.values())
            try:
                found = self._database.run(self._renew, runs) if runs else {}
            except AbreastError as error:
                _log.warning("leases could not be renewed: %s", error)
                continue
            for run in runs:
                _tell(run, found.get(run.key.thread_id))

    def _renew(self, connection: Connection, runs: list[Run]) -> dict[str, Held]:
        tables = self._database.tables
        leases.renew(connection, tables, [run.lease for run in runs], micros=self._micros)
        return leases.held(connection, tables, [run.key.thread_id for run in runs])


def _tell(run: Run, found: Held | None) -> None:
    if found is None or found.fence != run.lease.fence:
        run.lose()
    elif found.stop_asked_by is not None:
        run.stop(found.stop_asked_by)
