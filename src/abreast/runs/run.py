"""One run, from its lease to its confirmation."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from uuid import uuid4
from weakref import WeakValueDictionary

from abreast.runs.signals import Signals

if TYPE_CHECKING:
    from abreast.model.batch import Batch
    from abreast.model.cursor import Cursor
    from abreast.operations.leases import Lease
    from abreast.operations.runs import Outcome, RunKey

RUN_KEY: Final = "__abreast_run"
"""Key of the run's token in a configuration's `configurable`; with `__` it stays out of checkpoint metadata."""


@dataclass(eq=False)
class Run:
    """
    What one process knows of a run it has the lease for, or one agent of its part in it.

    Attributes:
        key: Thread and run id.
        lease: The right to run, with its fence.
        place: The database and tables that hold the lease.
        is_first: The thread was never run before.
        previous: How the run before it ended; None for the first.
        failures: How many runs of the thread have failed since its last success.
        micros: How long the lease holds without being renewed.
        outer: The run this one is called from: of another thread, or of the same one, whose lease it then shares.
        batches: What the model was given last, by scope; kept for the run, never in graph state.
        nominated: The cursors that the last checkpoint holds, by scope; confirmed when the run has succeeded.
        answers: Ids of the messages that models gave when they had been given the current state.
        refused: The application's check did not accept the answer.
        ended: No more model call, tool write or confirmation belongs to it.
        token: What configurations call it by; not its id, which is no secret.
    """

    key: RunKey
    workspace_id: str
    lease: Lease
    place: tuple[str, str] = ("", "")
    is_first: bool = False
    previous: Outcome | None = None
    failures: int = 0
    micros: int = 0
    outer: Run | None = None
    batches: dict[str, Batch] = field(default_factory=dict[str, "Batch"])
    nominated: dict[str, Cursor] = field(default_factory=dict[str, "Cursor"])
    answers: set[str] = field(default_factory=set[str])
    refused: bool = False
    ended: bool = False
    token: str = field(default_factory=lambda: uuid4().hex)

    def __post_init__(self) -> None:
        """Let hooks of this process find the run."""
        self.process = os.getpid()
        self.signals = Signals(self.lease)
        _RUNS[self.token] = self

    def check(self) -> None:
        """
        Make sure that the run may go on; called before each model call and tool.

        Raises:
            RunStopped: A newer message wants the thread.
            LeaseLost: A later run has taken it over.
        """
        self.signals.check()
        if self.outer is not None:
            self.outer.check()

    def refuse(self) -> None:
        """Note that the application's check did not accept the answer: nothing of this run is confirmed."""
        self.refused = True

    def of_thread(self, thread_id: str, place: tuple[str, str]) -> Run | None:
        """Find the run among this one and those it is called from that holds a thread's lease."""
        if self.key.thread_id == thread_id and self.place == place and not self.ended:
            return self
        return None if self.outer is None else self.outer.of_thread(thread_id, place)

    def part(self) -> Run:
        """
        Begin a part of this run, for an agent called within it.

        It shares the lease and what was given; what it nominates counts once it has succeeded.
        """
        return Run(
            self.key,
            self.workspace_id,
            self.lease,
            self.place,
            failures=self.failures,
            outer=self,
            batches=self.batches,
        )

    def take(self, part: Run, outcome: Outcome) -> None:
        """End a part, and take over what it nominated if it has succeeded."""
        part.ended = True
        if outcome == "succeeded":
            self.nominated.update(part.nominated)


_RUNS: WeakValueDictionary[str, Run] = WeakValueDictionary()


def current_run(token: object) -> Run | None:
    """Find a run of this process by the token under `RUN_KEY`; None if it belongs to another one or is gone."""
    found = _RUNS.get(token) if isinstance(token, str) else None
    return found if found is not None and found.process == os.getpid() else None
