"""Processes of a case; they start with no copy of this one's threads and locks."""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

_SECONDS: Final = 120


def _context() -> Any:
    methods = multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")


@dataclass(frozen=True, slots=True)
class Child:
    """A process, and the pipe over which it says how it ended."""

    process: BaseProcess
    pipe: Connection

    def killed(self) -> bool:
        """
        Wait for the end, and say whether it was killed.

        Raises:
            RuntimeError: It failed in another way.
        """
        error = self.error()
        if error is not None and self.process.exitcode != -signal.SIGKILL:
            raise RuntimeError(error)
        return error is not None

    def error(self) -> str | None:
        """Wait for the end, and give what was raised."""
        try:
            found = self.pipe.recv() if self.pipe.poll(_SECONDS) else f"no end within {_SECONDS} s"
        except EOFError:
            found = "killed"
        if found is not None:
            self.process.join(1)
            self.process.kill()
        self.process.join()
        self.pipe.close()
        return found if found is None or self.process.exitcode != -signal.SIGKILL else "killed"


def start(function: Callable[..., Any], *arguments: Any) -> Child:
    """Run a module's function in a process of its own."""
    context = _context()
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(theirs, function, arguments), daemon=True)
    process.start()
    theirs.close()
    return Child(process, ours)


def barrier(parties: int) -> Any:
    """Give a point at which so many processes wait for one another."""
    return _context().Barrier(parties, timeout=_SECONDS)


def _run(pipe: Connection, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
    try:
        function(*arguments)
    except BaseException:  # noqa: BLE001 - whatever it was is told to who waits
        pipe.send(traceback.format_exc())
        raise SystemExit(1) from None
    pipe.send(None)
