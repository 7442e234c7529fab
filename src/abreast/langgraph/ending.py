"""How a run of a graph ended, seen from outside of the graph."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from langgraph.callbacks import GraphCallbackHandler
from langgraph.errors import GraphBubbleUp, GraphDrained, GraphInterrupt

from abreast.errors import DatabaseUnavailable, LeaseLost, NothingToAnswer, QuestionOpen, RunStopped
from abreast.runs.outages import is_outage

if TYPE_CHECKING:
    from collections.abc import Generator
    from uuid import UUID

    from langgraph.callbacks import GraphInterruptEvent

    from abreast.operations.runs import Outcome
    from abreast.runs import Run

_log = logging.getLogger(__name__)
_ON_PURPOSE = (
    GeneratorExit,
    asyncio.CancelledError,
    KeyboardInterrupt,
    NothingToAnswer,
    SystemExit,
    RunStopped,
    GraphBubbleUp,
    GraphDrained,
)


class Ending:
    """
    The end of one run.

    Attributes:
        outcome: What becomes of the run; only `"succeeded"` confirms.
        questions: Notices that the graph ended with an open question, for the configuration's callbacks.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.outcome: Outcome = "failed"
        self.questions = Questions()

    @contextmanager
    def watched(self) -> Generator[None]:
        """Tell how the block ends; a cancellation that the heartbeat brought is raised as `RunStopped`."""
        signals = self._run.signals
        try:
            with signals.inside():
                yield
            self.outcome = self._finished()
        except BaseException as error:
            reason = signals.explain(error)
            self.outcome = _outcome_of(reason)
            if reason is error:
                raise
            raise reason from None

    @contextmanager
    def quiet(self) -> Generator[None]:
        """Let no failure of leaving take the place of the run's own error; the lease runs out by itself."""
        try:
            yield
        except Exception as error:
            if self._concerns_the_caller(error):
                raise
            if not (isinstance(error, LeaseLost) and self.outcome in ("lost", "stopped")):
                _log.warning("a run of thread %r could not be closed: %s", self._run.key.thread_id, error)

    def _concerns_the_caller(self, error: Exception) -> bool:
        """Say whether a failure of leaving is told in the place of an answer, which the graph has stored by now."""
        nothing_lost = isinstance(error, DatabaseUnavailable) and not self._run.nominated
        return self.outcome == "succeeded" and not nothing_lost

    def _finished(self) -> Outcome:
        if self.questions.open:
            return "interrupted"
        return "refused" if self._run.refused else "succeeded"


def _outcome_of(error: BaseException) -> Outcome:
    if isinstance(error, (GraphInterrupt, QuestionOpen)):
        # A question that was not answered is as open as before.
        return "interrupted"
    if isinstance(error, LeaseLost):
        return "lost"
    if isinstance(error, _ON_PURPOSE):
        return "stopped"
    return "unavailable" if is_outage(error) else "failed"


class Questions(GraphCallbackHandler):
    """
    Notices that a graph was interrupted, and not one that it called with a thread of its own.

    Attributes:
        open: It was.
    """

    run_inline = True

    def __init__(self) -> None:
        self._graph: UUID | None = None
        self.open = False

    @property
    def ignore_llm(self) -> bool:
        """Models are no concern."""
        return True

    @property
    def ignore_chat_model(self) -> bool:
        """Models are no concern."""
        return True

    def on_chain_start(self, *_: Any, run_id: UUID, **_options: Any) -> None:
        """Learn the graph's id: it is the first to start."""
        self._graph = self._graph or run_id

    def on_interrupt(self, event: GraphInterruptEvent) -> None:
        """Notice an interrupt."""
        self.open = self.open or event.run_id == self._graph
