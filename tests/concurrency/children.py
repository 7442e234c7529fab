"""Processes of a test: started together, asked for their result, or killed."""

import contextlib
import multiprocessing
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Barrier
from typing import Any

# A server that has loaded the modules and no thread: forking pytest's own process would copy its locks.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.concurrency.preloaded"])
SECONDS, MEETING_SECONDS = 500, 60


class ChildFailed(RuntimeError):
    """A process ended without a result; the message says how."""


@dataclass
class Child:
    """One process and the pipe over which it gives its result."""

    process: BaseProcess
    pipe: Connection

    def result(self) -> Any:
        """
        Wait for what the process's function returned.

        Raises:
            ChildFailed: It raised, or died.
        """
        if not self.pipe.poll(SECONDS):
            raise ChildFailed(f"{self.process.name} gives no result within {SECONDS} s")
        try:
            returned, value = self.pipe.recv()
        except EOFError:
            self.process.join()
            raise ChildFailed(f"{self.process.name} died: {self.process.exitcode}") from None
        self.process.join()
        if not returned:
            raise ChildFailed(f"{self.process.name} raised:\n{value}")
        return value

    def died(self) -> bool:
        """Wait for the end and say whether the process was killed."""
        self.process.join(SECONDS)
        return self.process.exitcode == -signal.SIGKILL

    def kill(self) -> None:
        """End the process at once, as the kernel does when memory runs out."""
        self.process.kill()
        self.process.join()


def barrier(parties: int) -> Barrier:
    """Give a point at which so many processes or threads wait for one another."""
    return CONTEXT.Barrier(parties, timeout=MEETING_SECONDS)


def start(function: Callable[..., Any], *arguments: Any) -> Child:
    """Run a module's function in a process of its own."""
    ours, theirs = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_answer, args=(theirs, function, arguments), daemon=True)
    process.start()
    theirs.close()
    return Child(process, ours)


@contextlib.contextmanager
def together(*calls: Sequence[Any]) -> Iterator[list[Child]]:
    """Run several functions, each in a process of its own; those that still run at the end are killed."""
    children = [start(*call) for call in calls]
    try:
        yield children
    finally:
        for child in children:
            child.kill()


def results(*calls: Sequence[Any]) -> list[Any]:
    """Run several functions at once, each in a process of its own, and give what they return, in order."""
    with together(*calls) as children:
        return [child.result() for child in children]


def sent(pipe: Connection) -> list[Any]:
    """Give everything that a process sent over a pipe until it ended."""
    found: list[Any] = []
    with contextlib.suppress(EOFError):
        while True:
            found.append(pipe.recv())
    return found


def _answer(pipe: Connection, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
    try:
        pipe.send((True, function(*arguments)))
    except BaseException:
        pipe.send((False, traceback.format_exc()))
        raise SystemExit(1) from None
