"""Begin and end runs: take the lease, wait in line, confirm, give it back."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Final, Literal

import uuid_utils

from abreast.errors import AbreastError, InvalidInput, LeaseLost, ThreadBusy
from abreast.model.backoff import polling
from abreast.operations.runs import RunKey
from abreast.runs.heartbeat import heartbeat_of
from abreast.runs.lasting import lasting
from abreast.runs.steps import Entry, Steps
from abreast.sql.values import check_id

if TYPE_CHECKING:
    from abreast.operations.runs import Outcome
    from abreast.runs.run import Run
    from abreast.workspace_log import WorkspaceLog

OnBusy = Literal["reject", "queue", "interrupt"]
LEASE_SECONDS: Final = 30.0
BUSY_TIMEOUT: Final = 60.0


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
        if not _is_number(lease_seconds) or not 1 <= lease_seconds <= 86_400:  # noqa: PLR2004 - a day
            raise InvalidInput(
                "lease_seconds", f"is {lease_seconds!r}, which is out of range", "pass 1 to 86,400 seconds"
            )
        if on_busy not in ("reject", "queue", "interrupt"):
            raise InvalidInput("on_busy", f"is {on_busy!r}, which is unknown", 'use "reject", "queue" or "interrupt"')
        if not _is_number(busy_timeout) or not busy_timeout >= 0:
            raise InvalidInput(
                "busy_timeout", f"is {busy_timeout!r}, no number of at least 0", "pass the seconds to wait"
            )
        self.log = log
        self.on_busy: OnBusy = on_busy
        self.busy_timeout = busy_timeout
        self._steps = Steps(log, int(lease_seconds * 1_000_000))

    @property
    def place(self) -> tuple[str, str]:
        """The database and tables that hold the leases."""
        return self._steps.place

    def enter(self, thread_id: str, workspace_id: str | None, *, outer: Run | None = None) -> Run:
        """
        Begin a run.

        Args:
            workspace_id: May be None for a thread that is bound to one already, as on resume.
            outer: The run it is called from, of another thread.

        Raises:
            ThreadBusy: Somebody else runs the thread, and went on doing so for `busy_timeout`.
            ThreadBoundElsewhere: The thread belongs to another workspace.
            WorkspaceNotFound: The workspace has neither a row nor a log.
            InvalidInput: The thread is new and no workspace was named.
            DatabaseUnavailable: The database is away or stayed busy.
        """
        entry, database = self._entry(thread_id, workspace_id, outer), self.log.database
        try:
            run = database.run(self._steps.begin, entry) or self._wait(entry)
        except BaseException as error:
            if not _took_nothing(error):
                database.run(self._steps.withdraw, entry)
            raise
        heartbeat_of(database).add(run)
        return run

    async def aenter(self, thread_id: str, workspace_id: str | None, *, outer: Run | None = None) -> Run:
        """Async twin of `enter`; a caller that is cancelled meanwhile keeps neither lease nor place."""
        entry, database = self._entry(thread_id, workspace_id, outer), self.log.database
        try:
            run = await lasting(lambda: database.arun(self._steps.begin, entry)) or await self._await(entry)
        except BaseException as error:
            if not _took_nothing(error):
                await lasting(lambda: database.arun(self._steps.withdraw, entry))
            raise
        heartbeat_of(database).add(run)
        return run

    def open(self, run: Run) -> None:
        """Set the cursor of a new thread to HEAD: what happened before its first message is not news to it."""
        self.log.open_thread(run.workspace_id, run.key.thread_id)

    async def aopen(self, run: Run) -> None:
        """Async twin of `open`."""
        await self.log.aopen_thread(run.workspace_id, run.key.thread_id)

    def leave(self, run: Run, outcome: Outcome) -> None:
        """
        End a run: confirm what it nominated if it succeeded, and give the lease back, in one transaction.

        Raises:
            LeaseLost: A later run has taken the thread over; nothing was confirmed.
            DatabaseUnavailable: The database is away or stayed busy; nothing was confirmed, the lease runs out.
        """
        run.ended = True
        if _is_parents(run):
            return
        try:
            self.log.database.run(self._steps.end, run, outcome)
        except LeaseLost:
            self.log.database.run(self._steps.lose, run)
            raise
        finally:
            heartbeat_of(self.log.database).remove(run)

    async def aleave(self, run: Run, outcome: Outcome) -> None:
        """Async twin of `leave`; it is done to its end even if the caller is cancelled meanwhile."""
        run.ended = True
        if not _is_parents(run):
            await lasting(lambda: self._aleave(run, outcome))

    def stop(self, thread_id: str, asked_by: str) -> bool:
        """
        Ask a thread's run to end at its next step; a run whose owner is dead is ended at once.

        Args:
            asked_by: Who asks, for the run's error.

        Returns:
            Whether there was a run.
        """
        wanted = check_id("thread_id", thread_id), check_id("asked_by", asked_by)
        found = self.log.database.run(self._steps.stop, *wanted)
        heartbeat_of(self.log.database).poke()
        return found

    async def astop(self, thread_id: str, asked_by: str) -> bool:
        """Async twin of `stop`."""
        wanted = check_id("thread_id", thread_id), check_id("asked_by", asked_by)
        found = await self.log.database.arun(self._steps.stop, *wanted)
        heartbeat_of(self.log.database).poke()
        return found

    def _entry(self, thread_id: str, workspace_id: str | None, outer: Run | None) -> Entry:
        place = None if workspace_id is None else check_id("workspace_id", workspace_id)
        key = RunKey(check_id("thread_id", thread_id), uuid_utils.uuid7().hex)
        return Entry(key, place, outer, self.on_busy == "interrupt")

    def _wait(self, entry: Entry) -> Run:
        database = self.log.database
        if self.on_busy == "reject":
            raise ThreadBusy(entry.key.thread_id, database.read(self._steps.holder, entry.key.thread_id))
        place = database.run(self._steps.line_up, entry)
        heartbeat_of(database).poke()
        for delay in polling(self.busy_timeout, now=time.monotonic):
            run = database.run(self._steps.begin_in_turn, entry, place)
            if run is not None:
                return run
            time.sleep(delay)
        database.run(self._steps.withdraw, entry)
        raise ThreadBusy(entry.key.thread_id, database.read(self._steps.holder, entry.key.thread_id))

    async def _await(self, entry: Entry) -> Run:
        database = self.log.database
        if self.on_busy == "reject":
            raise ThreadBusy(entry.key.thread_id, await database.aread(self._steps.holder, entry.key.thread_id))
        place = await lasting(lambda: database.arun(self._steps.line_up, entry))
        heartbeat_of(database).poke()
        for delay in polling(self.busy_timeout, now=time.monotonic):
            run = await lasting(lambda: database.arun(self._steps.begin_in_turn, entry, place))
            if run is not None:
                return run
            await asyncio.sleep(delay)
        await lasting(lambda: database.arun(self._steps.withdraw, entry))
        raise ThreadBusy(entry.key.thread_id, await database.aread(self._steps.holder, entry.key.thread_id))

    async def _aleave(self, run: Run, outcome: Outcome) -> None:
        try:
            await self.log.database.arun(self._steps.end, run, outcome)
        except LeaseLost:
            await self.log.database.arun(self._steps.lose, run)
            raise
        finally:
            heartbeat_of(self.log.database).remove(run)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_parents(run: Run) -> bool:
    """Say whether the run belongs to the process that this one was forked from, which alone may end it."""
    return run.process != os.getpid()


def _took_nothing(error: BaseException) -> bool:
    """Say whether an error of abreast ended the transaction that would have taken a lease or place."""
    return isinstance(error, AbreastError)
