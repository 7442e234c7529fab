"""The story: two conversations and one screen on one workspace, told step by step, each step checked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from langgraph.checkpoint.memory import InMemorySaver

from abreast.demo.conversation import Conversation
from abreast.demo.grammar import read_block
from abreast.demo.offline_model import OfflineModel
from abreast.demo.steps import Step, Told, equal, says
from abreast.demo.words import ENGLISH
from abreast.demo.workspace import IMPORTED, MOVE_ID, NIGHTLY, TASK_ID, open_workspace
from abreast.errors import StaleWrite
from abreast.prompt.languages import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import ToolCall
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from abreast.demo.conversation import Turn
    from abreast.demo.steps import Check
    from abreast.demo.words import Words
    from abreast.demo.workspace import Workspace

_LINES: Final = 50


@dataclass(slots=True)
class Scene:
    """
    Who takes part.

    Attributes:
        conversations: A and B, by name.
        blind: Whether the model is given no block once the date has changed.
        remembered: What a step leaves for a later one to compare with.
    """

    workspace: Workspace
    words: Words
    conversations: Mapping[str, Conversation]
    blind: bool
    remembered: dict[str, str | None] = field(default_factory=dict[str, str | None])

    def ask(self, name: str, question: str, *checks: Callable[[Turn], Check], revision: int | None = None) -> Told:
        """Ask a conversation, and check what comes back."""
        turn = self.conversations[name].ask(question)
        found = [check(turn) for check in checks]
        called = [_written(call) for call in turn.called]
        return Told(found, revision, question, turn.given, called, turn.answer, turn.error)

    def cursor(self, name: str, expected: int) -> Callable[[Turn], Check]:
        """Check where a conversation stands after its turn."""
        return lambda _turn: equal(f"cursor {name}", expected, self.conversations[name].cursor())


@dataclass(frozen=True, slots=True)
class Telling:
    """
    The steps, as they come.

    Attributes:
        introduction: What a person has to know before the first one.
    """

    introduction: tuple[str, ...]
    steps: Iterator[Step]

    def __iter__(self) -> Iterator[Step]:
        """Give the steps."""
        return self.steps


def tell(
    words: Words = ENGLISH,
    *,
    url: str | None = None,
    model: BaseChatModel | None = None,
    saver: BaseCheckpointSaver[Any] | None = None,
    blind: bool = False,
) -> Telling:
    """
    Tell the story, one step at a time.

    Args:
        words: What things are called.
        url: Where the workspace is; a SQLite file that is removed afterwards when left out.
        model: Who answers; the offline model when left out.
        saver: Where the conversations are kept; in memory when left out.
        blind: Take the block out of every request once the date has changed, to see what is answered then.
    """
    introduction = (words.offline,) * (model is None) + (words.blinded,) * blind
    return Telling(introduction, _steps(words, url, model, saver, blind=blind))


def _steps(
    words: Words,
    url: str | None,
    model: BaseChatModel | None,
    saver: BaseCheckpointSaver[Any] | None,
    *,
    blind: bool,
) -> Iterator[Step]:
    with open_workspace(url, words) as workspace:
        answering, kept = model or OfflineModel(), saver or InMemorySaver()
        conversations = {name: Conversation(name, workspace, answering, kept) for name in ("A", "B")}
        scene = Scene(workspace, words, conversations, blind)
        for number, (key, act) in enumerate(ACTS.items(), start=1):
            told = act(scene)
            yield Step(
                step=number,
                title=words.titles[key],
                revision=told.revision,
                head=workspace.head(),
                cursor={name: one.cursor() for name, one in conversations.items()},
                asked=told.asked,
                given=told.given,
                called=told.called,
                answer=told.answer,
                error=told.error,
                checks=told.checks,
            )


def _opened(scene: Scene) -> Told:
    first = 1 + len(scene.words.tasks)
    standing = [conversation.cursor() for conversation in scene.conversations.values()]
    return Told(
        [equal("HEAD", first, scene.workspace.head()), equal("cursors", [first, first], standing)],
        revision=first,
    )


def _asked_early(scene: Scene) -> Told:
    return scene.ask(
        "B",
        scene.words.ask_date,
        lambda turn: says("answer", scene.words.dates[0], turn.answer),
        scene.cursor("B", 4),
    )


def _date_changed(scene: Scene) -> Told:
    revision = scene.workspace.change_date()
    for conversation in scene.conversations.values():
        conversation.provider.blind = scene.blind
    return Told([equal("revision", 5, revision), equal("HEAD", 5, scene.workspace.head())], revision=revision)


def _asked_again(scene: Scene) -> Told:
    old, new = scene.words.dates
    held = scene.conversations["B"].history()
    return scene.ask(
        "B",
        scene.words.ask_date,
        lambda _turn: says("older message in B's history", old, held[-1].text),
        lambda turn: says("answer", new, turn.answer),
        lambda turn: says("answer", scene.words.a_person, turn.answer),
        scene.cursor("B", 5),
        lambda _turn: equal("cursor A", 4, scene.conversations["A"].cursor()),
    )


def _model_away(scene: Scene) -> Told:
    provider = scene.conversations["A"].provider
    provider.away = True
    told = scene.ask(
        "A",
        scene.words.ask_date,
        lambda turn: equal("answer", None, turn.answer),
        lambda turn: says("given", "(r5)", turn.given),
        scene.cursor("A", 4),
    )
    provider.away = False
    scene.remembered["given"] = told.given
    return told


def _retried(scene: Scene) -> Told:
    return scene.ask(
        "A",
        scene.words.ask_date,
        lambda turn: equal("given as before", scene.remembered["given"], turn.given),
        lambda turn: says("answer", scene.words.dates[1], turn.answer),
        scene.cursor("A", 5),
    )


def _first_part(scene: Scene) -> Told:
    revision = scene.workspace.import_tasks()
    remaining = sentences(scene.words.language).remaining(IMPORTED - _LINES)
    return scene.ask(
        "B",
        scene.words.ask_changes,
        lambda turn: equal("changes given", _LINES, _changes(turn)),
        lambda turn: says("given", remaining, turn.given),
        scene.cursor("B", 5 + _LINES),
        revision=revision,
    )


def _second_part(scene: Scene) -> Told:
    return scene.ask(
        "B",
        scene.words.ask_changes,
        lambda turn: equal("changes given", IMPORTED - _LINES, _changes(turn)),
        scene.cursor("B", 5 + IMPORTED),
    )


def _tool_writes(scene: Scene) -> Told:
    words = scene.words
    told = scene.ask(
        "A",
        words.mark_done,
        lambda turn: equal(
            "version that was read", [1], [call["args"].get("expected_version") for call in turn.called]
        ),
        lambda _turn: equal("row", _done(words), scene.workspace.item(TASK_ID)),
        lambda _turn: equal("HEAD", 6 + IMPORTED, scene.workspace.head()),
    )
    events = scene.workspace.log.changes(scene.workspace.id, after=5 + IMPORTED)
    told.checks.append(equal("actors", ["agent"], [event.actor.type for event in events]))
    return replace(told, revision=events[-1].revision if events else None)


def _other_learns(scene: Scene) -> Told:
    words = scene.words
    return scene.ask(
        "B",
        words.ask_done,
        lambda turn: says("answer", sentences(words.language).yes, turn.answer),
        lambda turn: says("answer", words.other_agent, turn.answer),
        scene.cursor("B", 6 + IMPORTED),
    )


def _stale_write(scene: Scene) -> Told:
    before = scene.workspace.item(TASK_ID)
    try:
        scene.workspace.write_stale()
        refusal, since = None, []
    except StaleWrite as error:
        refusal = str(error)
        since = [[event.actor.type, *event.changed_fields] for event in error.changes]
    return Told(
        [
            equal("refused", expected=True, actual=refusal is not None),
            equal("changed since", [["agent", scene.words.done_field]], since),
            equal("row", before, scene.workspace.item(TASK_ID)),
            equal("HEAD", 6 + IMPORTED, scene.workspace.head()),
        ],
        error=refusal,
    )


def _nightly(scene: Scene) -> Told:
    scene.workspace.run_nightly_job()
    words = scene.words
    return scene.ask(
        "B",
        words.ask_stage,
        lambda turn: says("answer", words.stages[1], turn.answer),
        lambda turn: says("answer", f"{NIGHTLY.type}/{NIGHTLY.id}", turn.answer),
        scene.cursor("B", 7 + IMPORTED),
        revision=7 + IMPORTED,
    )


def _repeated(scene: Scene) -> Told:
    first, second = scene.workspace.rename_twice(f"{scene.workspace.id}-{MOVE_ID}")
    kept = sum(conversation.blocks_kept() for conversation in scene.conversations.values())
    return Told(
        [
            equal("replayed", [False, True], [first[0].replayed, second[0].replayed]),
            equal("revisions", [8 + IMPORTED] * 2, [first[0].revision, second[0].revision]),
            equal("version", 2, second[0].version),
            equal("HEAD", 8 + IMPORTED, scene.workspace.head()),
            equal("blocks stored in checkpoints", 0, kept),
        ],
        revision=first[0].revision,
    )


def _done(words: Words) -> dict[str, Any]:
    return {words.title_field: words.tasks[0], words.done_field: True, "version": 2}


def _written(call: ToolCall) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in call["args"].items())
    return f"{call['name']}({arguments})"


def _changes(turn: Turn) -> int:
    block = read_block(turn.given or "")
    return len(block.changes) if block else 0


ACTS: Final[Mapping[str, Callable[[Scene], Told]]] = {
    "opened": _opened,
    "asked_early": _asked_early,
    "date_changed": _date_changed,
    "asked_again": _asked_again,
    "model_away": _model_away,
    "retried": _retried,
    "first_part": _first_part,
    "second_part": _second_part,
    "tool_writes": _tool_writes,
    "other_learns": _other_learns,
    "stale_write": _stale_write,
    "nightly": _nightly,
    "repeated": _repeated,
}
