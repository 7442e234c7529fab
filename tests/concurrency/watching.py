"""Hooks into the statements of a process: wait for a lock to be waited for, stop before a commit."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine, event, text

PATIENCE = 30.0


def until(condition: Callable[[], object]) -> None:
    """Return when a condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"did not happen within {PATIENCE} s")
        time.sleep(0.005)


def until_somebody_waits(engine: Engine) -> None:
    """Return when a session of the database waits for a lock; PostgreSQL only."""
    asked = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )

    def waits() -> bool:
        with engine.connect() as connection:
            return connection.scalar(asked) > 0

    until(waits)


@dataclass
class Gate:
    """Where a thread waits before its COMMIT until it is let through."""

    reached: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)

    def stop(self, _connection: Connection) -> None:
        """Say that the commit is reached, and wait."""
        self.reached.set()
        if not self.opened.wait(PATIENCE):
            raise TimeoutError(f"nobody opened the gate within {PATIENCE} s")


@contextlib.contextmanager
def gate_before_commit(engine: Engine) -> Iterator[Gate]:
    """Stop the commits of an engine."""
    gate = Gate()
    event.listen(engine, "commit", gate.stop)
    try:
        yield gate
    finally:
        gate.opened.set()
        event.remove(engine, "commit", gate.stop)
