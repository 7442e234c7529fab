"""Steps with a run that pauses until a person approves: what happens meanwhile reaches it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from abreast.demo.scene import changes, told
from abreast.demo.steps import equal, says
from abreast.demo.workspace import IMPORTED, SECOND_TASK_ID, THIRD_TASK_ID

if TYPE_CHECKING:
    from abreast.demo.scene import Scene
    from abreast.demo.steps import Told


def paused(scene: Scene) -> Told:
    """Ask for a change; the run waits for a person."""
    scene.begin("C", asks_first=True).line.blind = scene.blind
    title = scene.words.imported.format(0)
    return _asked_to_mark(scene, title, SECOND_TASK_ID, 8 + IMPORTED)


def approved(scene: Scene) -> Told:
    """Approve it after another change."""
    words, workspace = scene.words, scene.workspace
    changed = workspace.change_date(words.dates[2], version=3)
    turn = scene.conversations["C"].approve()
    return told(
        turn,
        lambda _turn: equal("row", _row(scene, words.imported.format(0), 3, done=True), workspace.item(SECOND_TASK_ID)),
        lambda turn: says("given", f"(r{changed})", turn.given),
        lambda turn: equal("changes given", 1, len(changes(turn))),
        lambda turn: says("answer", words.dates[2], turn.answer),
        lambda turn: equal("answer is based on", 10 + IMPORTED, turn.based_on),
        scene.cursor("C", 10 + IMPORTED),
        revision=10 + IMPORTED,
    )


def paused_again(scene: Scene) -> Told:
    """Ask for another change."""
    return _asked_to_mark(scene, scene.words.tasks[2], THIRD_TASK_ID, 10 + IMPORTED)


def approved_late(scene: Scene) -> Told:
    """Approve it after a person changed the same row."""
    words, workspace = scene.words, scene.workspace
    renamed = words.imported.format(1)
    changed = workspace.rename_task(THIRD_TASK_ID, renamed, version=1)
    turn = scene.conversations["C"].approve()
    return told(
        turn,
        lambda turn: says("refusal", renamed, turn.error),
        lambda turn: says("refusal", "again with expected_version=2", turn.error),
        lambda _turn: equal("row", _row(scene, renamed, 2, done=False), workspace.item(THIRD_TASK_ID)),
        lambda _turn: equal("HEAD", changed, workspace.head()),
        lambda turn: says("answer", renamed, turn.answer),
        scene.cursor("C", 11 + IMPORTED),
        revision=changed,
    )


def _asked_to_mark(scene: Scene, title: str, item_id: str, stands: int) -> Told:
    before = scene.workspace.item(item_id)
    return scene.ask(
        "C",
        scene.words.mark_done.format(title),
        lambda turn: equal("waits for an approval", expected=True, actual=turn.waits),
        lambda turn: equal("row that was meant", [item_id], [call["args"].get("id") for call in turn.called]),
        lambda _turn: equal("row", before, scene.workspace.item(item_id)),
        scene.cursor("C", stands),
        scene.free("C"),
    )


def _row(scene: Scene, title: str, version: int, *, done: bool) -> dict[str, Any]:
    return {scene.words.title_field: title, scene.words.done_field: done, "version": version}
