"""Kill a process at the n-th thing it does with its database."""

import os
import signal
from typing import Any, NoReturn

from sqlalchemy import Engine, event

IN_FLIGHT = -1
"""Instead of a number: the COMMIT is sent, and nobody waits for the answer."""


def die() -> NoReturn:
    """End this process as kill -9 does: nothing is flushed, closed or rolled back."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


class Fuse:
    """Counts before each statement and COMMIT of an engine and after the COMMIT, and kills at one of these steps."""

    def __init__(self, engine: Engine, at: int) -> None:
        self.at = at
        self.count = 0
        event.listen(engine, "before_cursor_execute", self.tick)
        self._commit = engine.dialect.do_commit
        engine.dialect.do_commit = self._on_commit

    def tick(self, *_: object) -> None:
        """Count, and kill when it is time."""
        self.count += 1
        if self.count == self.at:
            die()

    def _on_commit(self, dbapi_connection: Any) -> None:
        self.tick()
        if self.at == IN_FLIGHT:
            server = dbapi_connection.driver_connection.pgconn
            server.send_query(b"COMMIT")
            server.flush()
            die()
        self._commit(dbapi_connection)
        self.tick()
