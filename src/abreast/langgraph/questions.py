"""What becomes of an open question when something else than its answer comes in."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.base import WRITES_IDX_MAP
from langgraph.types import Command

from abreast.errors import NothingToAnswer, QuestionOpen
from abreast.langgraph.arguments import check_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

    from abreast.langgraph.call import Call
    from abreast.runs import Run

OnInterrupted = Literal["reject", "cancel"]
ON_INTERRUPTED: Final[tuple[OnInterrupted, ...]] = ("reject", "cancel")

_INTERRUPT, _RESUME, _NO_TASK = "__interrupt__", "__resume__", "00000000-0000-0000-0000-000000000000"
MESSAGES: Final = "messages"
_NEVER_EXECUTED: Final = (
    "This call was never executed: another message came before it was decided on. "
    "Nobody refused it; if it is still wanted, ask again."
)
_UNKNOWN: Final = (
    "It is not known whether this call took effect: its run ended before there was a result. "
    "Look at what is stored now before you ask for it again."
)
_log = logging.getLogger(__name__)


def saver_to_ask(call: Call, run: Run, given: object) -> BaseCheckpointSaver[Any] | None:
    """
    Give the saver whose checkpoint has to be looked at before the graph is called, if one has.

    A run that succeeded has left no question open, so most runs look at nothing. Whoever names a checkpoint chooses
    what it goes on from, and a graph within another one is asked nothing by itself.
    """
    named = call.configurable.get("checkpoint_id") or call.configurable.get("checkpoint_ns")
    if call.inside is not None or named or (run.previous == "succeeded" and not _answers(given)):
        return None
    return call.saver


def closes(found: CheckpointTuple | None, run: Run, given: Any, on_interrupted: OnInterrupted) -> bool:
    """
    Make sure that an input fits the thread, and say whether it closes an open question.

    Args:
        found: The thread's newest checkpoint.

    Raises:
        QuestionOpen: A question is open, and the input is not its answer.
        NothingToAnswer: The input is an answer, and no question is open.
    """
    thread_id, tasks = run.key.thread_id, _unfinished(found)
    if _answers(given):
        _check_answer(given, thread_id, tasks, over=run.previous in (None, "succeeded"))
        return False
    if not tasks or (given is None and run.previous != "interrupted" and _is_answered(found, tasks)):
        return False
    if given is None or isinstance(given, Command) or on_interrupted == "reject":
        raise QuestionOpen(thread_id, _ids(tasks))
    _log.info("thread %r: open questions %s are closed by another input", thread_id, ", ".join(_ids(tasks)))
    return True


def with_results(found: CheckpointTuple | None, given: Any, messages: Any) -> Any:
    """
    Give an input that brings a result for each call of the last answer that has none, before its own messages.

    Args:
        messages: Those that are stored.

    Raises:
        InvalidInput: Nothing can be put into the input.
    """
    results = list(_results(found, cast("Sequence[Any]", messages) if isinstance(messages, (list, tuple)) else ()))
    return _put_before(results, given) if results else given


def _answers(given: object) -> bool:
    return isinstance(given, Command) and given.resume is not None


def _check_answer(given: Command[Any], thread_id: str, tasks: Mapping[str, Any], *, over: bool) -> None:
    if not tasks and over:
        raise NothingToAnswer(thread_id)
    if tasks and given.goto:
        raise QuestionOpen(thread_id, _ids(tasks), why="an answer that also goes elsewhere would leave it behind")


def _unfinished(found: CheckpointTuple | None) -> dict[str, Any]:
    """Give the interrupts of tasks that have no result yet, by task."""
    writes = (found.pending_writes if found else None) or []
    finished = {task for task, channel, _ in writes if channel not in WRITES_IDX_MAP}
    return {task: value for task, channel, value in writes if channel == _INTERRUPT and task not in finished}


def _is_answered(found: CheckpointTuple | None, tasks: Iterable[str]) -> bool:
    """Say whether answers are stored that a run which died has not used up."""
    writes = (found.pending_writes if found else None) or []
    answered = {task for task, channel, _ in writes if channel == _RESUME}
    return _NO_TASK in answered or answered.issuperset(tasks)


def _ids(tasks: Mapping[str, Any]) -> tuple[str, ...]:
    asked = [each for value in tasks.values() for each in _as_list(value)]
    return tuple(dict.fromkeys(str(getattr(each, "id", each)) for each in asked))


def _results(found: CheckpointTuple | None, messages: Sequence[Any]) -> Iterator[ToolMessage]:
    """Give a result for each call that has none: the real one where a finished task stored it."""
    asked = next((place for place in range(len(messages) - 1, -1, -1) if isinstance(messages[place], AIMessage)), None)
    if asked is None:
        return
    answered = {message.tool_call_id for message in messages[asked:] if isinstance(message, ToolMessage)}
    stored = {message.tool_call_id: message for message in _stored_results(found)}
    text = _UNKNOWN if _is_answered(found, _unfinished(found)) else _NEVER_EXECUTED
    for wanted in messages[asked].tool_calls:
        # What a finished task stored is shown as part of the state, and is lost with the task.
        if wanted["id"] in stored:
            yield stored[wanted["id"]]
        elif wanted["id"] not in answered:
            yield ToolMessage(text, name=wanted["name"], tool_call_id=wanted["id"], status="error")


def _stored_results(found: CheckpointTuple | None) -> Iterator[ToolMessage]:
    for _, channel, value in (found.pending_writes if found else None) or []:
        if channel == MESSAGES:
            yield from (each for each in _as_list(value) if isinstance(each, ToolMessage))


def _put_before(results: Sequence[ToolMessage], given: Any) -> Any:
    way_out = "pass the input as a dict, or answer the question with Command(resume=…)"
    fields = check_mapping("input", given, "the state's keys", way_out)
    return {**fields, MESSAGES: [*results, *_as_list(fields.get(MESSAGES, []))]}


def _as_list(value: Any) -> list[Any]:
    return list(value) if type(value) is list else [value]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
