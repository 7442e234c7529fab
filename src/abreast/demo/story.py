"""The story: conversations, screens, jobs and processes on one workspace, told step by step, each step checked."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from langgraph.store.memory import InMemoryStore

from abreast.demo import approvals, everyday, interruptions
from abreast.demo.conversation import Keeping
from abreast.demo.offline_model import OfflineModel
from abreast.demo.processes import Outset, two_senders
from abreast.demo.scene import Scene
from abreast.demo.steps import Step
from abreast.demo.words import ENGLISH
from abreast.demo.workspace import open_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from langchain_core.language_models import BaseChatModel

    from abreast.demo.steps import Told
    from abreast.demo.words import Words


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
    make_model: Callable[[], BaseChatModel] = OfflineModel,
    blind: bool = False,
) -> Telling:
    """
    Tell the story, one step at a time.

    Args:
        words: What things are called.
        url: Where the workspace and its conversations are; a SQLite file that is removed afterwards when left out.
        make_model: Makes who answers; a function of a module, as other processes call it too.
        blind: Take the block out of every request once the date has changed, to see what is answered then.
    """
    introduction = (
        *((words.offline,) if make_model is OfflineModel else ()),
        *((words.blinded,) if blind else ()),
    )
    return Telling(introduction, _steps(words, url, make_model, blind=blind))


def _steps(
    words: Words,
    url: str | None,
    make_model: Callable[[], BaseChatModel],
    *,
    blind: bool,
) -> Iterator[Step]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="abreast-demo-")))
        workspace = stack.enter_context(open_workspace(url or f"sqlite:///{folder / 'demo.db'}", words))
        outset = Outset(workspace.url, words, workspace.id, make_model, "D", blind)
        senders = stack.enter_context(two_senders(outset))
        scene = Scene(workspace, words, Keeping(make_model(), InMemoryStore()), senders, blind)
        for number, key in enumerate(ACTS, start=1):
            yield _step(number, words.titles[key], ACTS[key](scene), scene)


def _step(number: int, title: str, told: Told, scene: Scene) -> Step:
    return Step(
        step=number,
        title=title,
        revision=told.revision,
        head=scene.workspace.head(),
        cursor={name: one.cursor() for name, one in scene.conversations.items()},
        asked=told.asked,
        given=told.given,
        called=told.called,
        answer=told.answer,
        error=told.error,
        checks=told.checks,
    )


ACTS: Final[Mapping[str, Callable[[Scene], Told]]] = {
    "opened": everyday.opened,
    "asked_early": everyday.asked_early,
    "date_changed": everyday.date_changed,
    "asked_again": everyday.asked_again,
    "model_away": everyday.model_away,
    "retried": everyday.retried,
    "first_part": everyday.first_part,
    "second_part": everyday.second_part,
    "tool_writes": everyday.tool_writes,
    "other_learns": everyday.other_learns,
    "stale_write": everyday.stale_write,
    "nightly": everyday.nightly,
    "repeated": everyday.repeated,
    "paused": approvals.paused,
    "approved": approvals.approved,
    "paused_again": approvals.paused_again,
    "approved_late": approvals.approved_late,
    "left": interruptions.left,
    "asked_after": interruptions.asked_after,
    "both_at_once": interruptions.both_at_once,
    "in_line": interruptions.in_line,
    "branched": interruptions.branched,
    "stored": interruptions.stored,
}
