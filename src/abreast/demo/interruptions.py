"""Steps with runs that end early, run side by side, or go back: nothing is lost, and nothing is skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, HumanMessage

from abreast.demo.scene import changes, told
from abreast.demo.steps import Told, equal, says
from abreast.demo.workspace import IMPORTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abreast.demo.processes import Sent
    from abreast.demo.scene import Scene
    from abreast.demo.steps import Check

_CHANGED = 5
"""Rows and fields that changed since B was asked last: a title, a date, a mark, another title, a stage."""


def left(scene: Scene) -> Told:
    """Ask, and close the stream before the answer is there."""
    words = scene.words
    changed = scene.workspace.change_stage(words.stages[2], version=4)
    turn = scene.conversations["B"].ask_and_leave(words.ask_stage)
    scene.remembered["given"] = turn.given
    return told(
        turn,
        lambda turn: says("given", f"(r{changed})", turn.given),
        lambda turn: equal("changes given", _CHANGED, len(changes(turn))),
        scene.cursor("B", 7 + IMPORTED),
        scene.free("B"),
        asked=words.ask_stage,
        revision=changed,
    )


def asked_after(scene: Scene) -> Told:
    """Ask again."""
    return scene.ask(
        "B",
        scene.words.ask_stage,
        lambda turn: equal("given as before", scene.remembered["given"], turn.given),
        lambda turn: equal("changes given", _CHANGED, len(changes(turn))),
        lambda turn: says("answer", scene.words.stages[2], turn.answer),
        lambda turn: says("answer", scene.words.a_person, turn.answer),
        scene.cursor("B", 12 + IMPORTED),
    )


def both_at_once(scene: Scene) -> Told:
    """Send from two processes; the refused one sends again."""
    senders, questions = scene.senders, _questions(scene)
    thread = scene.begin("D")
    sent = senders.refused(questions)
    stored = _asked_in(scene)
    refused = [one for one in sent if one.last.kind == "busy"]
    again = [one.again() for one in refused]
    answered = _in_order([*sent, *again])
    return _told(
        scene,
        answered,
        [
            equal("what became of them", ["answered", "busy"], sorted(one.last.kind for one in sent)),
            equal("stored before it was sent again", [one.question for one in answered[:1]], stored),
            *(says("refusal", thread.thread_id, one.last.refusal) for one in refused),
            *(says("refusal", 'on_busy="queue"', one.last.refusal) for one in refused),
            equal("stored questions", [one.question for one in answered], _asked_in(scene)),
        ],
        error=next((one.last.refusal for one in refused), None),
    )


def in_line(scene: Scene) -> Told:
    """Send from two processes that wait in line."""
    senders, thread = scene.senders, scene.conversations["D"]
    before = _asked_in(scene)
    sent, stood = senders.in_line(_questions(scene), lambda: scene.workspace.waiting(thread.thread_id))
    answered = _in_order(sent)
    return _told(
        scene,
        answered,
        [
            equal("stood in line", 1, stood),
            equal("stored questions", [*before, *(one.question for one in answered)], _asked_in(scene)),
        ],
    )


def branched(scene: Scene) -> Told:
    """Have an old answer made anew."""
    words, conversation = scene.words, scene.conversations["B"]
    asked = _asked_in(scene, "B")
    asked_then = asked[: asked.index(words.ask_stage) + 1]
    turn = conversation.answer_again(words.ask_stage)
    return told(
        turn,
        lambda turn: equal("changes given", _CHANGED, len(changes(turn))),
        lambda turn: says("given", words.stages[0], turn.given),
        lambda turn: says("given", f"(r{7 + IMPORTED}", turn.given),
        lambda turn: says("answer", words.stages[2], turn.answer),
        lambda _turn: equal("questions on the branch", asked_then, _asked_in(scene, "B")),
        scene.cursor("B", 12 + IMPORTED),
        asked=words.ask_stage,
    )


def stored(scene: Scene) -> Told:
    """Look at what is left."""
    names = list(scene.conversations)
    kept = sum(scene.conversations[name].blocks_kept() for name in names)
    held = [name for name in names if scene.workspace.is_held(scene.conversations[name].thread_id)]
    entries = len(scene.keeping.store.search(())) + scene.elsewhere
    return Told(
        [
            equal("blocks stored in checkpoints", 0, kept),
            equal("entries in LangGraph's Store", 0, entries),
            equal("threads that are held", [], held),
            equal("HEAD", 12 + IMPORTED, scene.workspace.head()),
        ]
    )


def _questions(scene: Scene) -> tuple[str, str]:
    return scene.words.ask_date, scene.words.ask_stage


def _asked_in(scene: Scene, name: str = "D") -> list[str]:
    messages = scene.conversations[name].history()
    return [message.text for message in messages if isinstance(message, HumanMessage)]


def _in_order(sent: Sequence[Sent]) -> list[Sent]:
    """Give what was answered, first what was answered first."""
    answered = [one for one in sent if one.last.turn is not None]
    return sorted(answered, key=lambda one: not one.was_first)


def _answered(scene: Scene, answered: Sequence[Sent]) -> list[Check]:
    scene.elsewhere += sum(one.last.remembered for one in answered)
    newest = dict(zip(_questions(scene), (scene.words.dates[2], scene.words.stages[2]), strict=True))
    said = [message for message in scene.conversations["D"].history() if isinstance(message, AIMessage)]
    answers = [one.last.answer for one in answered]
    return [
        equal("stored answers", answers, [message.text for message in said][-len(answers) :]),
        *(says("answer", newest[one.question], one.last.answer) for one in answered),
        equal("cursor D", 12 + IMPORTED, scene.conversations["D"].cursor()),
    ]


def _told(scene: Scene, answered: Sequence[Sent], checks: list[Check], error: str | None = None) -> Told:
    turns = [one.last.turn for one in answered if one.last.turn is not None]
    return Told(
        [*checks, *_answered(scene, answered)],
        asked=" + ".join(_questions(scene)),
        given=turns[-1].given if turns else None,
        answer=" / ".join(turn.answer or "" for turn in turns),
        error=error,
    )
