"""The channel that keeps what a model was given, and knows when the graph has finished since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from langgraph.channels.base import BaseChannel

if TYPE_CHECKING:
    from collections.abc import Sequence

Notes = dict[str, dict[str, Any]]
"""Notes by scope, each as JSON."""

ENDED: Final = "ended"


class Deliveries(BaseChannel[Notes, Notes, Notes]):
    """
    Notes by scope; those of a graph that has finished are marked from its next step on.

    LangGraph says "finish" also when only deferred nodes are left. So a note is first `now`, and `before` once
    another step has followed: a deferred node still sees it as it was, the next run does not.
    """

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self._notes: Notes = {}

    @property
    def ValueType(self) -> Any:  # noqa: N802 - LangGraph's name
        """Type of the value."""
        return self.typ

    @property
    def UpdateType(self) -> Any:  # noqa: N802 - LangGraph's name
        """Type of an update."""
        return self.typ

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Deliveries)

    def __hash__(self) -> int:
        return hash(Deliveries)

    def copy(self) -> Deliveries:
        """Give a channel with the same notes."""
        return self.from_checkpoint(self._notes)

    def checkpoint(self) -> Notes:
        """Give what is stored."""
        return self._notes

    def from_checkpoint(self, checkpoint: Any) -> Deliveries:
        """Give a channel with what was stored, or without notes."""
        channel = Deliveries(self.typ, self.key)
        channel._notes = dict(cast("Notes", checkpoint)) if isinstance(checkpoint, dict) else {}
        return channel

    def get(self) -> Notes:
        """Give the notes."""
        return self._notes

    def is_available(self) -> bool:
        """Say that there always is a value: no notes are one."""
        return True

    def update(self, values: Sequence[Notes]) -> bool:
        """Take over new notes at the end of a step; what was marked as finished in the step before is older now."""
        aged = {scope: _aged(note) for scope, note in self._notes.items()}
        # What a nested graph gives back has finished there, not here.
        new = {scope: _open(note) for value in values for scope, note in value.items()}
        changed = bool(values) or aged != self._notes
        self._notes = {**aged, **new}
        return changed

    def finish(self) -> bool:
        """Mark the notes of a graph that finishes."""
        if all(ENDED in note for note in self._notes.values()):
            return False
        self._notes = {scope: {ENDED: "now", **note} for scope, note in self._notes.items()}
        return True


def _aged(note: dict[str, Any]) -> dict[str, Any]:
    return {**note, ENDED: "before"} if ENDED in note else note


def _open(note: dict[str, Any]) -> dict[str, Any]:
    return note if note.get(ENDED) != "now" else {name: part for name, part in note.items() if name != ENDED}
