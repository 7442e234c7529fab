"""What a graph's state keeps of a conversation: cursors, as JSON, never rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol, TypedDict, cast

from abreast.errors import InvalidInput
from abreast.langgraph.arguments import came
from abreast.langgraph.deliveries import ENDED, Deliveries
from abreast.model.cursor import Cursor
from abreast.prompt.messages import is_summary, role_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.runnables import RunnableConfig
    from langgraph.types import StateSnapshot

    from abreast.model.batch import Batch

DELIVERED: Final = "_abreast_delivered"
NOMINATED: Final = "_abreast_cursor"


def joined(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Put the notes of one update over those before it, by scope."""
    return {**old, **new}


@dataclass(frozen=True, slots=True)
class Note:
    """
    A cursor that a state holds, and where it comes from.

    Attributes:
        turn: The turn it belongs to; empty where no turn can confirm it any more.
        run: The run whose model was given what the cursor stands for; None where there was none.
        ended: Whether the graph has finished since the run that made it.
    """

    cursor: Cursor
    turn: str
    run: str | None
    ended: bool = False


class Graph(Protocol):
    """A compiled graph, as far as its state is asked for."""

    def get_state(self, config: RunnableConfig) -> StateSnapshot:
        """Give the state a thread is in."""
        ...

    async def aget_state(self, config: RunnableConfig) -> StateSnapshot:
        """Give the state a thread is in."""
        ...


class CursorState(TypedDict, total=False):
    """
    The part of a graph's state that abreast needs; inherit from it.

    Holds, by scope, what the model was given (`_abreast_delivered`) and what is to count once the run has
    finished (`_abreast_cursor`), both as JSON. It is stored, forked and travels in time with the messages.

    Example:
        >>> class State(CursorState):
        ...     messages: Annotated[list[AnyMessage], add_messages]
    """

    _abreast_delivered: Annotated[dict[str, Any], Deliveries]
    _abreast_cursor: Annotated[dict[str, Any], joined]


def delivered(batch: Batch, turn: str, run: str | None) -> dict[str, Any]:
    """Build the update that notes what a model was given in a turn."""
    return {DELIVERED: _written(Note(batch.cursor_after, turn, run))}


def nominated(delivery: Note, turn: str) -> dict[str, Any]:
    """Build the update that nominates a delivery's cursor at the end of a turn."""
    return {NOMINATED: _written(Note(delivery.cursor, turn, delivery.run))}


def withdrawn(scope: str) -> dict[str, Any]:
    """Build the update that notes an answer which was given without the current state."""
    return {DELIVERED: {scope: None}}


def passed_over(nomination: Note) -> dict[str, Any]:
    """Build the update after which a nomination says where the conversation stands, and is confirmed by no run."""
    return {NOMINATED: _written(Note(nomination.cursor, "", None))}


def noted(state: object, key: str, scope: str) -> Note | None:
    """
    Give what a state holds for a scope, or None.

    Raises:
        InvalidInput: The state holds something else there.
    """
    note = _notes(state, key).get(scope)
    if note is None:
        return None
    run = note.get("run")
    if set(note) - {"run", ENDED} != {"cursor", "turn"} or not isinstance(run, str | None):
        raise InvalidInput(key, "is not what abreast put there", "leave this key of the state to abreast")
    return Note(Cursor.from_json(note["cursor"]), str(note["turn"]), run, note.get(ENDED) == "before")


def value_of(state: object, key: str) -> Any:
    """Give one value of a state or runtime context, which is a mapping or an object; None where it has none."""
    if isinstance(state, Mapping):
        return cast("Mapping[str, Any]", state).get(key)
    return getattr(state, key, None)


def messages_of(state: object, key: str) -> list[Any]:
    """
    Give the messages of a state, or the messages themselves where these were passed.

    Raises:
        InvalidInput: There are none.
    """
    found = cast("Any", state) if isinstance(state, list) else value_of(state, key)
    if not isinstance(found, (list, tuple)):
        raise InvalidInput(
            "state",
            f"is {came(cast('Any', state))} and holds no messages under {key!r}",
            "pass the key to WorkspaceNodes(messages_key=...)",
        )
    return list(cast("Sequence[Any]", found))


def turn_of(messages: Sequence[Any]) -> str:
    """Name a turn by its user message: the same on resume, another one with the next input."""
    last = _last_user(messages)
    named = None if last is None else id_of(messages[last])
    return named or f"#{sum(map(_is_user, messages))}"


def id_of(message: Any) -> str | None:
    """Give the id of a message, or None."""
    found = value_of(message, "id")
    return found if isinstance(found, str) else None


def has_history(state: object, messages: Sequence[Any]) -> bool:
    """
    Say whether the model has spoken in this conversation before: what users say is no history.

    Neither is what it said in this turn, if abreast was there.
    """
    turn, last = turn_of(messages), _last_user(messages)
    notes = _notes(state, DELIVERED)
    if last is not None and any(note is not None and note.get("turn") == turn for note in notes.values()):
        messages = messages[:last]
    return any(role_of(message) in ("assistant", "tool") or is_summary(message) for message in messages)


def has_tool_results(messages: Sequence[Any]) -> bool:
    """Say whether results of tools are among messages."""
    return any(role_of(message) == "tool" for message in messages)


def _last_user(messages: Sequence[Any]) -> int | None:
    """Give the place of what a user said last, without a look at what was said before."""
    return next((place for place in reversed(range(len(messages))) if _is_user(messages[place])), None)


def _is_user(message: Any) -> bool:
    return role_of(message) == "user" and not is_summary(message)


def _notes(state: object, key: str) -> dict[str, dict[str, Any] | None]:
    return cast("dict[str, dict[str, Any] | None]", value_of(state, key) or {})


def _written(note: Note) -> dict[str, Any]:
    return {note.cursor.scope: {"cursor": note.cursor.to_json(), "turn": note.turn, "run": note.run}}
