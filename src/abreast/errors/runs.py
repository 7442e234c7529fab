"""Errors of runs."""

from __future__ import annotations

from abreast.errors.base import AbreastError, Conflict


class ThreadBusy(Conflict):
    """
    A thread is being run by somebody else.

    Attributes:
        thread_id: The thread.
        run_id: The run that holds it.
    """

    def __init__(self, thread_id: str, run_id: str) -> None:
        super().__init__(
            f"thread {thread_id!r}",
            "nobody running it",
            f"run {run_id!r}",
            'wait until it has ended, or bind with on_busy="queue" or "interrupt"',
        )
        self.thread_id = thread_id
        self.run_id = run_id


class QuestionOpen(Conflict):
    """
    A thread waits for an answer, and something else came in; nothing was stored, and no node was run.

    Attributes:
        thread_id: The thread.
        interrupts: Ids of the questions.
    """

    def __init__(self, thread_id: str, interrupts: tuple[str, ...], *, why: str = "") -> None:
        super().__init__(
            f"thread {thread_id!r}",
            "no open question",
            f"open: {', '.join(interrupts)}",
            'answer with Command(resume=…), or bind with on_interrupted="cancel" and send a message, which closes it',
            why,
        )
        self.thread_id = thread_id
        self.interrupts = interrupts


class NothingToAnswer(Conflict):
    """
    An answer came in, and no question is open: it was answered or closed before; nothing was stored.

    Attributes:
        thread_id: The thread.
    """

    def __init__(self, thread_id: str) -> None:
        super().__init__(
            f"thread {thread_id!r}",
            "an open question",
            "none: it was answered or closed before",
            "look at the thread's state for what became of it, and send a message to go on",
        )
        self.thread_id = thread_id


class LeaseLost(Conflict):
    """
    A later run has taken the thread over; nothing of this transaction was stored.

    Attributes:
        thread_id: The thread.
        fence: The fence this run had.
    """

    def __init__(self, thread_id: str, fence: int) -> None:
        super().__init__(
            f"lease of thread {thread_id!r}",
            f"fence {fence}",
            "a later one",
            "end this run; the later one has read the thread and goes on from there",
        )
        self.thread_id = thread_id
        self.fence = fence


class RunStopped(AbreastError):
    """A run was asked to stop, by a newer run or somebody else, and ended."""

    def __init__(self, thread_id: str, asked_by: str) -> None:
        super().__init__(
            f"the run of thread {thread_id!r} was stopped on request of {asked_by!r}; "
            "a newer run goes on from what is stored, send the message again if it is not among it"
        )
        self.thread_id = thread_id
        self.asked_by = asked_by


class NotBound(AbreastError, RuntimeError):
    """A middleware or tool of abreast runs in a graph that holds no lease."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} runs outside of a bound graph, where nothing holds the thread or confirms its cursor; "
            "call the graph that bind(graph, log) gives, or use create_synced_agent()"
        )
        self.what = what


class StateUnavailable(AbreastError):
    """The current state could not be read, so the model was not called; a driver's text is left out."""

    def __init__(self, workspace_id: str, reason: str) -> None:
        super().__init__(
            f"the current state of workspace {workspace_id!r} could not be read ({reason}), and the model was not "
            'called; check the database and run again, or pass on_read_error="say_so" to go on without it'
        )
        self.workspace_id = workspace_id
        self.reason = reason
