"""Which transactions are run again after an error, and when."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from abreast.errors import AccessDenied, DatabaseBusy, DatabaseUnavailable, WriteRefused
from abreast.model.backoff import backoff
from abreast.sql.dialects import rights_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection

    from abreast.sql.dialects import Dialect

P = ParamSpec("P")
T = TypeVar("T")

_ATTEMPTS, _FIRST_DELAY, _LONGEST_DELAY = 6, 0.02, 1.0


class Attempts:
    """Decide after a driver error whether the transaction is run again, and when."""

    def __init__(self, name: str, dialect: Dialect, *, read: bool = False, repeatable: bool = True) -> None:
        self.name = name
        self.dialect = dialect
        self.read = read
        self.repeatable = repeatable
        self.begun = self.committing = False
        self._holders: list[str] = []
        self._delays = backoff(_ATTEMPTS, first=_FIRST_DELAY, most=_LONGEST_DELAY, jitter=random.random)

    @property
    def options(self) -> Mapping[str, Any]:
        """The execution options of the connection."""
        return self.dialect.read_options if self.read else self.dialect.write_options

    def begin(self, connection: Connection) -> None:
        """Send what must come first in the transaction."""
        self.begun = True
        if self.read:
            self.dialect.begin_snapshot(connection)

    def execute(
        self,
        connection: Connection,
        step: Callable[Concatenate[Connection, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run a step; where it waits in vain for a lock, find out who may hold it, as whoever holds it goes on."""
        try:
            return step(connection, *args, **kwargs)
        except DBAPIError as error:
            if self.dialect.is_locked(error) and not error.connection_invalidated:
                connection.rollback()
                self._holders = self.dialect.holders(connection.connection)
            raise

    def after(self, error: DBAPIError | PoolTimeout | OSError) -> float | Exception:
        """
        Give the seconds to wait, or what the caller gets to see.

        asyncpg raises an OSError of the system's own where nobody answers; after the connection it is the step's.

        It is to be raised where the driver's error is not handled any more: chained to it, the error would hold
        the driver's text, in which values of hidden fields can stand.
        """
        if isinstance(error, PoolTimeout):
            return self._unavailable("no connection of the pool became free")
        if isinstance(error, OSError):
            return error if self.begun else next(self._delays, self._unavailable(f"{type(error).__name__}: {error}"))
        if self.committing and error.connection_invalidated and not self.repeatable:
            return self._unavailable("the connection was lost during COMMIT: it may have taken effect")
        delay = next(self._delays, None) if self.dialect.is_transient(error) else None
        return self._told(error) if delay is None else delay

    def _told(self, error: DBAPIError) -> Exception:
        reason, constraint = self.dialect.describe(error)
        if self.dialect.is_locked(error):
            held = f"; it may be held by {' or '.join(self._holders)}" if self._holders else ""
            return DatabaseBusy(self.name, reason + held)
        if not self.begun:
            # Refused before there was a row: these words speak of hosts, users and files.
            words = str(error.orig).partition("\n")[0]
            return self._unavailable(reason if words in reason else f"{reason}: {words}")
        if self.dialect.is_unavailable(error):
            return self._unavailable(reason)
        denied = self.dialect.denied(error)
        if denied is not None:
            return AccessDenied(self.name, denied, rights_of(error.statement))
        return WriteRefused("a row", reason, constraint) if self.committing else error

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
