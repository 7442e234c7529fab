"""What begins and ends a run, each in one transaction."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from abreast.errors import CursorRefused, InvalidInput
from abreast.operations import cursors, leases, runs, waiters
from abreast.runs.run import Run

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from abreast.operations.leases import Lease
    from abreast.operations.runs import Outcome, RunKey
    from abreast.operations.waiters import Waiter
    from abreast.workspace_log import WorkspaceLog

PLACE_MICROS: Final = 10_000_000
"""How long the place of a waiter that died is kept."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    """
    What a run asks for when it begins.

    Attributes:
        workspace_id: None where the thread's binding says which.
        outer: The run it is called from.
        interrupts: Whoever runs the thread is asked to stop.
    """

    key: RunKey
    workspace_id: str | None
    outer: Run | None
    interrupts: bool


class Steps:
    """The transactions of one log's runs."""

    def __init__(self, log: WorkspaceLog, micros: int) -> None:
        self._log = log
        self._tables = log.database.tables
        self._micros = micros
        self.place = (log.database.name, self._tables.prefix)

    def begin(self, connection: Connection, entry: Entry) -> Run | None:
        """Take the thread's lease, or give None if somebody else has it or waits for it."""
        workspace_id = self._bind(connection, entry)
        lease = leases.acquire(connection, self._tables, *entry.key, micros=self._micros)
        return lease and self._begun(connection, entry, workspace_id, lease)

    def line_up(self, connection: Connection, entry: Entry) -> Waiter:
        """Take a place in the line."""
        self._ask(connection, entry)
        return waiters.line_up(connection, self._tables, *entry.key, micros=PLACE_MICROS)

    def begin_in_turn(self, connection: Connection, entry: Entry, place: Waiter) -> Run | None:
        """Take the lease if it is this run's turn, or give None and keep the place."""
        lease = waiters.acquire_in_turn(connection, self._tables, place, lease_micros=self._micros, micros=PLACE_MICROS)
        if lease is None:
            self._ask(connection, entry)
            return None
        return self._begun(connection, entry, self._bind(connection, entry), lease)

    def withdraw(self, connection: Connection, entry: Entry) -> None:
        """Leave the line, and give the lease back if it was taken without the run's knowledge."""
        waiters.leave_line(connection, self._tables, *entry.key)
        if leases.withdraw(connection, self._tables, *entry.key):
            runs.end(connection, self._tables, entry.key, "stopped", since={}, given={}, nominated={})

    def holder(self, connection: Connection, thread_id: str) -> str:
        """Name who runs a thread, for an error."""
        found = leases.held(connection, self._tables, [thread_id]).get(thread_id)
        return found.run_id if found is not None and found.run_id != leases.NOBODY else "first in line"

    def end(self, connection: Connection, run: Run, outcome: Outcome) -> None:
        """
        Confirm what was nominated, write down how the run ended, and give the lease back.

        The lease comes last. A run that stands still before that keeps nobody from taking the thread over, and what
        it does when it wakes takes no effect.

        Raises:
            LeaseLost: A later run has taken the thread over.
        """
        if outcome == "succeeded":
            self._confirm(connection, run)
        if self._write_down(connection, run, outcome):
            leases.release(connection, self._tables, run.lease)

    def lose(self, connection: Connection, run: Run) -> None:
        """Write down that a run has lost its lease."""
        self._write_down(connection, run, "lost")

    def stop(self, connection: Connection, thread_id: str, asked_by: str) -> bool:
        """Ask a thread's run to end, or free the thread of one whose owner is dead; says whether there was one."""
        asked = leases.ask_to_stop(connection, self._tables, thread_id, asked_by)
        freed = leases.free_ownerless(connection, self._tables, thread_id)
        found = leases.held(connection, self._tables, [thread_id]).get(thread_id)
        return asked or freed or (found is not None and found.valid)

    def _ask(self, connection: Connection, entry: Entry) -> None:
        if entry.interrupts:
            leases.ask_to_stop(connection, self._tables, *entry.key)

    def _begun(self, connection: Connection, entry: Entry, workspace_id: str, lease: Lease) -> Run:
        past = runs.past_of(connection, self._tables, entry.key.thread_id)
        runs.begin(connection, self._tables, entry.key, workspace_id, lease)
        return Run(
            entry.key,
            workspace_id,
            lease,
            self.place,
            is_first=lease.fence == 1,
            previous=past.previous,
            failures=past.failures,
            micros=self._micros,
            outer=entry.outer,
        )

    def _bind(self, connection: Connection, entry: Entry) -> str:
        """Make sure that the thread belongs to the workspace; on resume the binding alone says which."""
        thread_id = entry.key.thread_id
        bound = cursors.bound_workspace(connection, self._tables, thread_id)
        if entry.workspace_id is None:
            if bound is None:
                raise InvalidInput(
                    "workspace_id",
                    f"is missing, and thread {thread_id!r} is not bound yet",
                    'name it in the run\'s context: context={"workspace_id": "…"}',
                )
            return bound
        if bound != entry.workspace_id:
            self._log.steps.bind_thread(connection, entry.workspace_id, thread_id)
        return entry.workspace_id

    def _confirm(self, connection: Connection, run: Run) -> None:
        for _, cursor in sorted(run.nominated.items()):
            try:
                self._log.steps.confirm(connection, cursor)
            except CursorRefused as error:
                # The answer stands: the log was reset under it, and the next run is told so.
                _log.warning("%s", error)

    def _write_down(self, connection: Connection, run: Run, outcome: Outcome) -> bool:
        return runs.end(
            connection,
            self._tables,
            run.key,
            outcome,
            since={scope: batch.since for scope, batch in run.batches.items()},
            given={scope: batch.cursor_after for scope, batch in run.batches.items()},
            nominated=run.nominated,
        )
