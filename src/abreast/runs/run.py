"""One run, from its lease to its confirmation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from abreast.errors import LeaseLost, RunStopped

if TYPE_CHECKING:
    from abreast.model.batch import Batch
    from abreast.model.cursor import Cursor
    from abreast.operations.leases import Lease
    from abreast.operations.runs import RunKey

RUN_KEY: Final = "__abreast_run"
"""Key of the run in a configuration's `configurable`; with `__` it stays out of checkpoint metadata."""


@dataclass(eq=False)
class Run:
    """
    What one process knows of a run it has the lease for.

    Attributes:
        key: Thread and run id.
        lease: The right to run, with its fence.
        batches: What the model was given last, by scope; kept for the run, never in graph state.
        nominated: The cursors that the last checkpoint holds, by scope; confirmed when the run has succeeded.
        ended: No more model call, tool write or confirmation belongs to it.
    """

    key: RunKey
    workspace_id: str
    lease: Lease
    batches: dict[str, Batch] = field(default_factory=dict[str, "Batch"])
    nominated: dict[str, Cursor] = field(default_factory=dict[str, "Cursor"])
    ended: bool = False
    _stopped_by: str | None = None
    _lost: bool = False

    def __post_init__(self) -> None:
        """Let hooks of this process find the run by its id."""
        _RUNS[self.key.run_id] = self

    def check(self) -> None:
        """
        Make sure that the run may go on; called before each model call and tool.

        Raises:
            RunStopped: A newer message wants the thread.
            LeaseLost: A later run has taken it over.
        """
        if self._lost:
            raise LeaseLost(self.key.thread_id, self.lease.fence)
        if self._stopped_by is not None:
            raise RunStopped(self.key.thread_id, self._stopped_by)

    def stop(self, asked_by: str) -> None:
        """Ask the run to end at its next step."""
        self._stopped_by = asked_by

    def lose(self) -> None:
        """Tell the run that its lease is somebody else's by now."""
        self._lost = True


_RUNS: WeakValueDictionary[str, Run] = WeakValueDictionary()


def current_run(run_id: str) -> Run | None:
    """Find a run of this process; None if it belongs to another one or has ended."""
    return _RUNS.get(run_id)
