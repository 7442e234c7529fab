"""What one run is given: the current rows and the changes its thread has not processed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abreast.model.cursor import Cursor, ResetReason
    from abreast.model.entity import Row, Snapshot
    from abreast.model.fold import Line, SummaryLine

Extras = Callable[[Any, str, object], Mapping[str, Any]]
"""`(connection, workspace_id, viewer)` to values by name, read in the snapshot of the rows."""

LIMIT = 50
"""Most lines of a batch."""
MAX_BYTES = 30_000
"""Most bytes of values in a batch's lines."""
MAX_RUNS = 3
"""Most runs a backlog is spread over before its rest is summarised."""


@dataclass(frozen=True, slots=True)
class Batch:
    """
    Rows, HEAD and changes of one moment, for one run of one thread.

    Attributes:
        since: The cursor it was read from.
        cursor_after: Where the cursor goes once the run has succeeded: the last revision delivered.
        lines: The changes in order, at most `limit`.
        summary: Counts that stand for the changes after `lines` where the backlog was too long to list.
        remaining: Events after `cursor_after`; the next runs are given them.
        event_count: Events this batch delivers, listed or counted.
        reset: Why older changes can no longer be listed; None when they all are.
        snapshot: The current rows, bounded by each entity's limit.
        current: The rows that the lines speak of as they are now, also those the snapshot's bounds leave out;
            None for a row that is gone.
        extras: What the application reads besides, as JSON values by name.
    """

    workspace_id: str
    thread_id: str
    scope: str
    since: Cursor
    cursor_after: Cursor
    lines: tuple[Line, ...]
    summary: tuple[SummaryLine, ...]
    remaining: int
    event_count: int
    reset: ResetReason | None
    snapshot: Snapshot
    current: Mapping[tuple[str, str], Row | None]
    extras: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def head(self) -> int:
        """The newest committed revision."""
        return self.snapshot.head

    @property
    def reset_required(self) -> bool:
        """Whether older changes can no longer be listed, so that only the snapshot holds."""
        return self.reset is not None


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """
    What a run asks for.

    Attributes:
        checkpoint_cursor: The cursor in the thread's checkpoint, where there is one. Reading starts at the
            lower of it and the database's.
        has_history: The thread holds messages. Without a cursor it is then not new, and older changes cannot
            be listed.
        viewer: Passed to each entity's `where` and `visible`.
        extras: Reads what the application adds.
    """

    workspace_id: str
    thread_id: str
    scope: str = ""
    checkpoint_cursor: Cursor | None = None
    has_history: bool = False
    viewer: object = None
    limit: int = LIMIT
    max_bytes: int = MAX_BYTES
    max_runs: int = MAX_RUNS
    extras: Extras | None = None
