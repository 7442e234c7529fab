"""By what right a call of the saver changes a thread: as a run that has its lease, or as nobody while it is free."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from abreast.errors import LeaseLost, ThreadBusy
from abreast.operations import heads
from abreast.operations.heads import Claim
from abreast.runs import RUN_KEY, current_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from abreast.database import Database
    from abreast.langgraph.saver.loads import Load
    from abreast.runs import Run


class Claims:
    """
    The claims of one saver.

    Args:
        database: Where the checkpoints are.
        leases: Where the leases of the threads are.
    """

    def __init__(self, database: Database, leases: Database) -> None:
        self._tables = database.tables
        self._leases = leases
        self._here = (leases.name, leases.tables.prefix) == (database.name, database.tables.prefix)
        self._epochs: WeakKeyDictionary[Run, int] = WeakKeyDictionary()
        self._lock = Lock()

    def unknown(self, thread_id: str, configurable: Mapping[str, Any]) -> Run | None:
        """
        Give the run a call belongs to if it has not made its fence known yet.

        Raises:
            LeaseLost: The run is not there any more.
        """
        run = self._run(thread_id, configurable)
        with self._lock:
            return None if run is None or run in self._epochs else run

    def publish(self, connection: Connection, run: Run) -> int:
        """Make a run's fence known, in a transaction of its own, before anything is loaded; gives the epoch."""
        return heads.publish_fence(connection, self._tables, run.key.thread_id, run.lease.fence)

    def note(self, run: Run, epoch: int) -> None:
        """Remember that a run's fence is known."""
        with self._lock:
            self._epochs[run] = epoch

    def claim(self, thread_id: str, configurable: Mapping[str, Any], load: Load | None) -> Claim:
        """
        Give the claim of a call.

        Raises:
            LeaseLost: The run is not there any more.
        """
        run = self._run(thread_id, configurable)
        epoch = None if load is None else load.epoch
        if run is None:
            return Claim(thread_id=thread_id, epoch=epoch, watches_lease=self._here)
        with self._lock:
            epoch = self._epochs.get(run, epoch)
        return Claim(thread_id=thread_id, fence=run.lease.fence, epoch=epoch)

    def looks_elsewhere(self, claim: Claim) -> bool:
        """Say whether the leases that the claim depends on are in another database."""
        return claim.fence is None and not claim.watches_lease

    def check_lease(self, connection: Connection, thread_id: str) -> None:
        """
        Make sure that nobody runs a thread, in the database of the leases.

        Raises:
            ThreadBusy: Somebody does.
        """
        busy = heads.holder(connection, self._leases.tables, thread_id)
        if busy is not None:
            raise ThreadBusy(thread_id, busy)

    def _run(self, thread_id: str, configurable: Mapping[str, Any]) -> Run | None:
        """Find the run of the thread: the one that calls, or one that it is called from."""
        token = configurable.get(RUN_KEY)
        if token is None:
            return None
        run = current_run(token)
        if run is None:
            raise LeaseLost(thread_id, 0)
        while run is not None and run.key.thread_id != thread_id:
            run = run.outer
        while run is not None and run.outer is not None and run.outer.lease == run.lease:
            run = run.outer
        return run
