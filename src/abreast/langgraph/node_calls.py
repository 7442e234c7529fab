"""Which run, thread and turn a model call in a graph made by hand belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abreast.errors import InvalidInput
from abreast.langgraph.state import has_history, turn_of

if TYPE_CHECKING:
    from abreast.langgraph.ambient import Ambient
    from abreast.langgraph.readings import RunKey
    from abreast.langgraph.state import Note
    from abreast.model.cursor import Cursor


@dataclass(frozen=True, slots=True)
class NodeCall:
    """
    One call of the model: where it comes from and what it starts with.

    Attributes:
        thread: Workspace and id.
        run: Identity of the run; None outside of one.
        turn: Names the user message that is answered.
        cursor: What the checkpoint holds as nominated.
        has_history: The model has spoken in this conversation before this turn.
    """

    thread: tuple[str, str]
    run: RunKey | None
    around: Ambient
    messages: list[Any]
    turn: str
    cursor: Cursor | None
    has_history: bool

    @classmethod
    def of(
        cls, around: Ambient, thread: tuple[str, str], state: object, messages: list[Any], nomination: Note | None
    ) -> NodeCall:
        """Look at what a model is called with."""
        return cls(
            thread=thread,
            run=run_key(around, thread),
            around=around,
            messages=messages,
            turn=turn_of(messages),
            cursor=None if nomination is None else nomination.cursor,
            has_history=has_history(state, messages),
        )

    @property
    def failures(self) -> int:
        """How many runs have failed on the same changes; a graph that is not bound writes no runs down."""
        return 0 if self.around.bound is None else self.around.bound.failures


def run_key(around: Ambient, thread: tuple[str, str]) -> RunKey | None:
    """Give the identity of the run around a call."""
    return None if around.run is None else (id(around.run), around.graph, *thread)


def is_of_this_run(given: Note, around: Ambient, turn: str) -> bool:
    """Say whether a delivery was made in this run, or in the one that this run goes on with."""
    if around.run is None:
        return given.turn == turn
    return given.run == around.run_name or (given.turn == turn and not given.ended)


def named_thread(
    around: Ambient, workspace_id: str | None, thread_id: str | None, last: Note | None
) -> tuple[str, str]:
    """
    Find out whose state is asked for.

    Args:
        last: What the state noted last: on resume the runtime context can be missing, and the thread stays in the
            workspace it was read from.

    Raises:
        InvalidInput: No workspace or no thread is named.
    """
    workspace = workspace_id or around.workspace_id or (last and last.cursor.workspace_id)
    thread = thread_id or around.thread_id
    if not workspace:
        raise InvalidInput(
            "workspace_id",
            "is missing",
            'pass context={"workspace_id": …} to the graph, or config={"configurable": {"workspace_id": …}}',
        )
    if not thread:
        raise InvalidInput("thread_id", "is missing", 'pass config={"configurable": {"thread_id": …}}')
    return workspace, thread
