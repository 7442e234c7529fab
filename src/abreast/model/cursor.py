"""Where a thread stands in its workspace's log."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from abreast.errors import InvalidInput

ResetReason = Literal["below_floor", "other_epoch", "other_mark", "no_cursor"]


_FIELDS = {"workspace_id": str, "thread_id": str, "scope": str, "epoch": str, "revision": int, "mark": str}


@dataclass(frozen=True, slots=True)
class Cursor:
    """
    The last revision a thread has processed.

    Attributes:
        epoch: Identity of the log the revision belongs to.
        revision: 0 when nothing was recorded yet.
        mark: Id of the event at that revision; empty at revision 0, and where the event was gone already.
    """

    workspace_id: str
    thread_id: str
    scope: str
    epoch: str
    revision: int
    mark: str

    def to_json(self) -> dict[str, Any]:
        """Give the cursor as JSON values, for graph state."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: object) -> Cursor:
        """
        Read a cursor back from what `to_json` gave.

        Raises:
            InvalidInput: The value is not a cursor.
        """
        given = dict(cast("dict[str, Any]", value)) if isinstance(value, dict) else {}
        if set(given) != set(_FIELDS):
            raise InvalidInput("cursor", "has other fields than a cursor", "pass what Cursor.to_json() gave")
        wrong = [name for name, kind in _FIELDS.items() if type(given[name]) is not kind]
        if wrong:
            raise InvalidInput(f"cursor.{wrong[0]}", "has another type", "pass what Cursor.to_json() gave")
        return cls(**given)


@dataclass(frozen=True, slots=True)
class Position:
    """
    What a log says of itself, and of one revision in it.

    Attributes:
        epoch: Identity of the log.
        head: Newest committed revision.
        head_mark: Id of the event at HEAD; empty at 0.
        floor: Oldest revision kept; 0 when all are.
    """

    epoch: str
    head: int
    head_mark: str
    floor: int


def reset_reason(cursor: Cursor, position: Position, mark_found: str | None) -> ResetReason | None:
    """
    Say why the changes after a cursor can no longer be listed, or None when they can.

    Args:
        mark_found: Id of the event now at the cursor's revision; None when there is none.
    """
    if cursor.epoch != position.epoch:
        return "other_epoch"
    if cursor.revision < position.floor:
        return "below_floor"
    if cursor.revision and cursor.revision <= position.head and (mark_found or "") != cursor.mark:
        return "other_mark"
    return None
