"""Which transactions are run again after an error, and when."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import TimeoutError as PoolTimeout

from abreast.errors import DatabaseUnavailable
from abreast.model.backoff import backoff

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection
    from sqlalchemy.exc import DBAPIError

    from abreast.sql.dialects import Dialect

_ATTEMPTS, _FIRST_DELAY, _LONGEST_DELAY = 6, 0.02, 1.0


class Attempts:
    """Decide after a driver error whether the transaction is run again, and when."""

    def __init__(self, name: str, dialect: Dialect, *, read: bool = False, repeatable: bool = True) -> None:
        self.name = name
        self.dialect = dialect
        self.read = read
        self.repeatable = repeatable
        self.committing = False
        self._delays = backoff(_ATTEMPTS, first=_FIRST_DELAY, most=_LONGEST_DELAY, jitter=random.random)

    @property
    def options(self) -> Mapping[str, Any]:
        """The execution options of the connection."""
        return self.dialect.read_options if self.read else self.dialect.write_options

    def begin(self, connection: Connection) -> None:
        """Send what must come first in the transaction."""
        if self.read:
            self.dialect.begin_snapshot(connection)

    def delay_after(self, error: DBAPIError | PoolTimeout) -> float:
        """Give the seconds to wait, or raise what the caller gets to see."""
        if isinstance(error, PoolTimeout):
            raise self._unavailable("no connection of the pool became free") from None
        if not self.dialect.is_unavailable(error):
            raise error
        if self.committing and error.connection_invalidated and not self.repeatable:
            raise self._unavailable("the connection was lost during COMMIT: it may have taken effect") from None
        delay = next(self._delays, None) if self.dialect.is_transient(error) else None
        if delay is None:
            raise self._unavailable(self.dialect.describe(error)[0]) from None
        return delay

    def _unavailable(self, reason: str) -> DatabaseUnavailable:
        return DatabaseUnavailable(self.name, reason)


class AttemptsAlone(Attempts):
    """
    Attempts whose statements each commit by themselves, in the server.

    A process that stands still between two of them holds no lock.
    """

    @property
    def options(self) -> Mapping[str, Any]:
        """The execution options of the connection."""
        return self.dialect.alone_options
