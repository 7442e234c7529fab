"""Count the transactions that a database is given, and tell those opened to read from those opened to write."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from sqlalchemy import Engine, event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from abreast import Database

Kind = Literal["read", "write"]

BACKGROUND: Final = "abreast-heartbeat"
"""Thread whose beats come with the time that passes, not with what a run does."""


@dataclass(slots=True)
class Transaction:
    """
    One transaction, from its begin to its end.

    Attributes:
        kind: What it was opened for: a reading one is refused every write by the database, or takes no lock.
        statements: What was sent in it.
        committed: Whether it was, and not rolled back; False while it is open.
    """

    kind: Kind
    statements: list[str] = field(default_factory=list)
    committed: bool = False

    def touches(self, table: str) -> bool:
        """Say whether it speaks of a table."""
        return any(re.search(rf"\b{table}\b", statement) for statement in self.statements)


class Transactions(list[Transaction]):
    """
    Transactions in the order in which they began.

    Args:
        database: Says by which options it opens one to read.
    """

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._reading = database.dialect.read_options.items()
        self._running: dict[Connection, Transaction] = {}

    @property
    def kinds(self) -> list[Kind]:
        """Tell the reading from the writing ones; one that sent nothing is none of the server's."""
        return [transaction.kind for transaction in self if transaction.statements]

    def begin(self, connection: Connection) -> None:
        """Note that a transaction has begun; the beats that renew leases are left out."""
        if threading.current_thread().name != BACKGROUND and connection not in self._running:
            options = connection.get_execution_options().items()
            self._running[connection] = Transaction("read" if self._reading <= options else "write")
            self.append(self._running[connection])

    def send(self, connection: Connection, _cursor: Any, statement: str, *_: Any) -> None:
        """Note a statement; SQLite's BEGIN is one, and can come before the event of that name."""
        self.begin(connection)
        if connection in self._running:
            self._running[connection].statements.append(statement)

    def commit(self, connection: Connection) -> None:
        """Note that a transaction has taken effect."""
        if connection in self._running:
            self._running.pop(connection).committed = True

    def roll_back(self, connection: Connection) -> None:
        """Note that a transaction has taken none."""
        self._running.pop(connection, None)


@contextmanager
def counted(database: Database) -> Iterator[Transactions]:
    """Collect the transactions of this process for as long as the block lasts, sync and async ones."""
    found = Transactions(database)
    listeners = {
        "begin": found.begin,
        "before_cursor_execute": found.send,
        "commit": found.commit,
        "rollback": found.roll_back,
    }
    for name, listener in listeners.items():
        event.listen(Engine, name, listener)
    try:
        yield found
    finally:
        for name, listener in listeners.items():
            event.remove(Engine, name, listener)
