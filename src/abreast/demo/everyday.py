"""Steps of everyday: screens, jobs and two conversations change and ask about the same rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from abreast.demo.scene import changes
from abreast.demo.steps import Told, equal, says
from abreast.demo.workspace import FIRST_PERSON, IMPORTED, MOVE_ID, NIGHTLY, TASK_ID
from abreast.errors import StaleWrite
from abreast.prompt.languages import sentences

if TYPE_CHECKING:
    from abreast.demo.scene import Scene
    from abreast.demo.words import Words

_LINES: Final = 50


def opened(scene: Scene) -> Told:
    """Begin."""
    first = 1 + len(scene.words.tasks)
    standing = [scene.begin(name).cursor() for name in ("A", "B")]
    return Told(
        [equal("HEAD", first, scene.workspace.head()), equal("cursors", [first, first], standing)],
        revision=first,
    )


def asked_early(scene: Scene) -> Told:
    """Ask before anything has changed."""
    return scene.ask(
        "B",
        scene.words.ask_date,
        lambda turn: says("answer", scene.words.dates[0], turn.answer),
        scene.cursor("B", 4),
    )


def date_changed(scene: Scene) -> Told:
    """Change the date on a screen."""
    revision = scene.workspace.change_date(scene.words.dates[1], version=1)
    for conversation in scene.conversations.values():
        conversation.line.blind = scene.blind
    return Told([equal("revision", 5, revision), equal("HEAD", 5, scene.workspace.head())], revision=revision)


def asked_again(scene: Scene) -> Told:
    """Ask the conversation that said the old date."""
    old, new, _ = scene.words.dates
    held = scene.conversations["B"].history()
    return scene.ask(
        "B",
        scene.words.ask_date,
        lambda _turn: says("older message in B's history", old, held[-1].text),
        lambda turn: says("answer", new, turn.answer),
        lambda turn: says("answer", scene.words.a_person, turn.answer),
        lambda turn: equal("answer is based on", 5, turn.based_on),
        scene.cursor("B", 5),
        lambda _turn: equal("cursor A", 4, scene.conversations["A"].cursor()),
    )


def model_away(scene: Scene) -> Told:
    """Ask while the model cannot be reached."""
    line = scene.conversations["A"].line
    line.away = True
    told = scene.ask(
        "A",
        scene.words.ask_date,
        lambda turn: equal("answer", None, turn.answer),
        lambda turn: says("given", "(r5)", turn.given),
        scene.cursor("A", 4),
    )
    line.away = False
    scene.remembered["given"] = told.given
    return told


def retried(scene: Scene) -> Told:
    """Ask once more."""
    return scene.ask(
        "A",
        scene.words.ask_date,
        lambda turn: equal("given as before", scene.remembered["given"], turn.given),
        lambda turn: says("answer", scene.words.dates[1], turn.answer),
        scene.cursor("A", 5),
    )


def first_part(scene: Scene) -> Told:
    """Add many rows, and ask."""
    revision = scene.workspace.import_tasks()
    remaining = sentences(scene.words.language).remaining(IMPORTED - _LINES)
    return scene.ask(
        "B",
        scene.words.ask_changes,
        lambda turn: equal("changes given", _LINES, len(changes(turn))),
        lambda turn: says("given", remaining, turn.given),
        scene.cursor("B", 5 + _LINES),
        revision=revision,
    )


def second_part(scene: Scene) -> Told:
    """Ask for the rest."""
    return scene.ask(
        "B",
        scene.words.ask_changes,
        lambda turn: equal("changes given", IMPORTED - _LINES, len(changes(turn))),
        scene.cursor("B", 5 + IMPORTED),
    )


def tool_writes(scene: Scene) -> Told:
    """Let an agent change a row."""
    words = scene.words
    marked = scene.ask(
        "A",
        words.mark_done.format(words.tasks[0]),
        lambda turn: equal(
            "version that was read", [1], [call["args"].get("expected_version") for call in turn.called]
        ),
        lambda _turn: equal("row", _done(words), scene.workspace.item(TASK_ID)),
        lambda _turn: equal("HEAD", 6 + IMPORTED, scene.workspace.head()),
    )
    events = scene.workspace.log.changes(scene.workspace.id, after=5 + IMPORTED)
    actors = [[event.actor.type, event.actor.on_behalf_of] for event in events]
    marked.checks.append(equal("actors", [["agent", FIRST_PERSON.id]], actors))
    return replace(marked, revision=events[-1].revision if events else None)


def other_learns(scene: Scene) -> Told:
    """Ask the other conversation about it."""
    words = scene.words
    return scene.ask(
        "B",
        words.ask_done,
        lambda turn: says("answer", sentences(words.language).yes, turn.answer),
        lambda turn: says("answer", words.other_agent, turn.answer),
        scene.cursor("B", 6 + IMPORTED),
    )


def stale_write(scene: Scene) -> Told:
    """Save a form that was opened before."""
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


def nightly(scene: Scene) -> Told:
    """Let a job change a value, and ask."""
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


def repeated(scene: Scene) -> Told:
    """Send a write twice."""
    first, second = scene.workspace.rename_twice(f"{scene.workspace.id}-{MOVE_ID}")
    return Told(
        [
            equal("replayed", [False, True], [first[0].replayed, second[0].replayed]),
            equal("revisions", [8 + IMPORTED] * 2, [first[0].revision, second[0].revision]),
            equal("version", 2, second[0].version),
            equal("HEAD", 8 + IMPORTED, scene.workspace.head()),
        ],
        revision=first[0].revision,
    )


def _done(words: Words) -> dict[str, Any]:
    return {words.title_field: words.tasks[0], words.done_field: True, "version": 2}
