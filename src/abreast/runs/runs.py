"""Begin and end runs: take the lease, wait in line, confirm, give it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import uuid_utils

from abreast.errors import InvalidInput, ThreadBusy
from abreast.operations import cursors, leases, runs, waiters
from abreast.operations.runs import RunKey
from abreast.runs.heartbeat import Heartbeat
from abreast.runs.run import Run
from abreast.sql.values import check_id

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from abreast.operations.leases import Lease
    from abreast.operations.runs import Outcome
    from abreast.workspace_log import WorkspaceLog

OnBusy = Literal["reject", "queue", "interrupt"]
LEASE_SECONDS = 30.0
BUSY_TIMEOUT = 60.0
_PLACE_SECONDS = 10.0
_MICROS = 1_000_000


@dataclass(frozen=True)
class _Entry:
    """What a run asks for when it begins."""

    key: RunKey
    workspace_id: str | None


class Runs:
    """
    The runs of one log's threads in this process.

    One run of a thread at a time, over all processes. A lease is renewed while its run goes on; if its process
    dies, the next run takes the thread over after `lease_seconds`.

    Args:
        lease_seconds: How long a lease holds without being renewed, at least 1.
        on_busy: What happens to a run of a busy thread: `"reject"` raises `ThreadBusy`, `"queue"` waits in line,
            `"interrupt"` asks the running one to stop and waits.
        busy_timeout: Seconds to wait in line before `ThreadBusy`.

    Raises:
        InvalidInput: An argument is out of range.
    """

    def __init__(
        self,
        log: WorkspaceLog,
        *,
        lease_seconds: float = LEASE_SECONDS,
        on_busy: OnBusy = "reject",
        busy_timeout: float = BUSY_TIMEOUT,
    ) -> None:
        if lease_seconds < 1:
            raise InvalidInput("lease_seconds", "is below 1", "pass at least 1 second")
        if on_busy not in ("reject", "queue", "interrupt"):
            raise InvalidInput("on_busy", "is unknown", 'use "reject", "queue" or "interrupt"')
        self.log = log
        self.on_busy = on_busy
        self.busy_timeout = busy_timeout
        self._micros = int(lease_seconds * _MICROS)
        self._heartbeat = Heartbeat(log.database, micros=self._micros)

    def enter(self, thread_id: str, workspace_id: str | None) -> Run:
        """
        Begin a run.

        Args:
            workspace_id: May be None for a thread that is bound to one already, as on resume.

        Raises:
            ThreadBusy: Somebody else runs the thread, and went on doing so for `busy_timeout`.
            ThreadBoundElsewhere: The thread belongs to another workspace.
            WorkspaceNotFound: The workspace has neither a row nor a log.
            InvalidInput: The thread is new and no workspace was named.
        """
        entry = _entry(thread_id, workspace_id)
        run = self.log.database.run(self._begin, entry)
        if run is None:
            ticket = self.log.database.run(self._line_up, entry)
            run = self.log.database.poll(self._begin_in_turn, self.busy_timeout, entry, ticket)
            if run is None:
                raise self.log.database.run(self._gave_up, entry, ticket)
        self._heartbeat.add(run)
        return run

    async def aenter(self, thread_id: str, workspace_id: str | None) -> Run:
        """Async twin of `enter`."""
        database, entry = self.log.database, _entry(thread_id, workspace_id)
        run = await database.arun(self._begin, entry)
        if run is None:
            ticket = await database.arun(self._line_up, entry)
            run = await database.apoll(self._begin_in_turn, self.busy_timeout, entry, ticket)
            if run is None:
                raise await database.arun(self._gave_up, entry, ticket)
        self._heartbeat.add(run)
        return run

    def leave(self, run: Run, outcome: Outcome) -> None:
        """
        End a run: confirm what it nominated if it succeeded, and give the lease back, in one transaction.

        Raises:
            LeaseLost: A later run has taken the thread over; nothing was confirmed.
        """
        self._closed(run)
        self.log.database.run(self._end, run, outcome)

    async def aleave(self, run: Run, outcome: Outcome) -> None:
        """Async twin of `leave`."""
        self._closed(run)
        await self.log.database.arun(self._end, run, outcome)

    def _begin(self, connection: Connection, entry: _Entry) -> Run | None:
        workspace_id = self._bind(connection, entry)
        tables, key = self.log.database.tables, entry.key
        waited_for = waiters.someone_waits(connection, tables, key.thread_id)
        if self.on_busy == "reject" or not waited_for:
            lease = leases.acquire(connection, tables, key.thread_id, key.run_id, micros=self._micros)
            if lease is not None:
                return self._begun(connection, entry, workspace_id, lease)
        if self.on_busy == "reject":
            raise self._busy(connection, entry)
        return None

    def _begin_in_turn(self, connection: Connection, entry: _Entry, ticket: int) -> Run | None:
        lease = waiters.acquire_in_turn(
            connection,
            self.log.database.tables,
            entry.key.thread_id,
            entry.key.run_id,
            ticket,
            lease_micros=self._micros,
            micros=int(_PLACE_SECONDS * _MICROS),
        )
        return lease and self._begun(connection, entry, self._bind(connection, entry), lease)

    def _begun(self, connection: Connection, entry: _Entry, workspace_id: str, lease: Lease) -> Run:
        runs.begin(connection, self.log.database.tables, entry.key, workspace_id, lease)
        return Run(entry.key, workspace_id, lease)

    def _bind(self, connection: Connection, entry: _Entry) -> str:
        """Make sure that the thread belongs to the workspace; on resume the binding alone says which."""
        tables, thread_id = self.log.database.tables, entry.key.thread_id
        bound = cursors.bound_workspace(connection, tables, thread_id)
        if entry.workspace_id is None:
            if bound is None:
                raise InvalidInput(
                    "workspace_id",
                    f"is missing, and thread {thread_id!r} is not bound yet",
                    "name it in the run's context",
                )
            return bound
        if bound != entry.workspace_id:
            self.log.steps.bind_thread(connection, entry.workspace_id, thread_id)
        return entry.workspace_id

    def _line_up(self, connection: Connection, entry: _Entry) -> int:
        tables, key = self.log.database.tables, entry.key
        if self.on_busy == "interrupt":
            leases.ask_to_stop(connection, tables, key.thread_id, key.run_id)
        return waiters.line_up(connection, tables, key.thread_id, key.run_id, micros=int(_PLACE_SECONDS * _MICROS))

    def _gave_up(self, connection: Connection, entry: _Entry, ticket: int) -> ThreadBusy:
        waiters.leave_line(connection, self.log.database.tables, entry.key.thread_id, ticket)
        return self._busy(connection, entry)

    def _busy(self, connection: Connection, entry: _Entry) -> ThreadBusy:
        found = leases.held(connection, self.log.database.tables, [entry.key.thread_id])
        holder = found[entry.key.thread_id].run_id if entry.key.thread_id in found else "of somebody in line"
        return ThreadBusy(entry.key.thread_id, holder)

    def _closed(self, run: Run) -> None:
        run.ended = True
        self._heartbeat.remove(run)

    def _end(self, connection: Connection, run: Run, outcome: Outcome) -> None:
        tables = self.log.database.tables
        if outcome == "succeeded":
            for _, cursor in sorted(run.nominated.items()):
                self.log.steps.confirm(connection, cursor)
        runs.end(
            connection,
            tables,
            run.key,
            outcome,
            since={scope: batch.since for scope, batch in run.batches.items()},
            given={scope: batch.cursor_after for scope, batch in run.batches.items()},
            nominated=run.nominated,
        )
        leases.release(connection, tables, run.lease)


def _entry(thread_id: str, workspace_id: str | None) -> _Entry:
    place = None if workspace_id is None else check_id("workspace_id", workspace_id)
    return _Entry(RunKey(check_id("thread_id", thread_id), uuid_utils.uuid7().hex), place)
