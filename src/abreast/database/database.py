"""Run operations in transactions: the only fork between sync and async."""

from __future__ import annotations

import asyncio
import copy
import time
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from abreast.database import migrating
from abreast.database.attempts import Attempts, AttemptsAlone
from abreast.database.callers import run_within
from abreast.database.endings import Endings
from abreast.database.engines import Engines, check_settings
from abreast.database.temporary import TemporaryFolder
from abreast.errors import InvalidDatabase
from abreast.sql.dialects import dialect_named
from abreast.sql.tables import DEFAULT_PREFIX, Tables, define_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from sqlalchemy import URL, Connection
    from sqlalchemy.ext.asyncio import AsyncConnection

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")


class Database:
    """
    One database, for sync and async calls alike.

    It owns its connections: nothing of the application's engines, pools or isolation levels is touched.
    Transactions that the database rolled back for a passing reason are tried up to 6 times.

    Attributes:
        name: The URL without its password.
        tables: abreast's own tables in it.

    Example:
        >>> with Database.temporary() as database:
        ...     database.upgrade()
    """

    def __init__(
        self,
        urls: tuple[URL | None, URL | None],
        prefix: str,
        lock_timeout: float | None,
        options: Mapping[str, Any],
    ) -> None:
        """Keep the settings; `open` is the way in."""
        self._engines = Engines(urls, lock_timeout, options)
        self._endings = Endings()
        self.name = self._engines.name
        self.dialect = self._engines.dialect
        self.tables: Tables = define_tables(prefix)
        self._folder: TemporaryFolder | None = None
        self._checked: set[str] = set()
        self._attempt = Attempts

    @classmethod
    def open(
        cls,
        url: str,
        *,
        prefix: str = DEFAULT_PREFIX,
        lock_timeout: float | None = 10.0,
        **engine_options: Any,
    ) -> Database:
        """
        Name a database; nothing is connected yet.

        Args:
            url: SQLAlchemy URL. `sqlite:///app.db`, `postgresql+psycopg://…`; the driver may be left out.
            prefix: What the names of abreast's tables begin with.
            lock_timeout: Seconds a write waits for a row that somebody else holds, 0.001 to 86,400; None: as the
                server says. It is a setting of the session: behind a pooler in transaction mode pass None.
            engine_options: Passed on to SQLAlchemy's `create_engine` (`pool_size`, `connect_args` …).

        Raises:
            InvalidDatabase: The URL cannot be read, is in memory, or names a database abreast does not know.
            InvalidInput: `lock_timeout` is no time, or an engine option is one that abreast sets.
        """
        check_settings(lock_timeout, engine_options)
        try:
            parsed = make_url(url)
            backend = parsed.get_backend_name()
        except (ArgumentError, NoSuchModuleError, ValueError):
            raise InvalidDatabase(
                "URL",
                "what was passed is no database URL (it is not repeated here: it can hold a password)",
                "write it like sqlite:///app.db",
            ) from None
        return cls(dialect_named(backend).urls(parsed), prefix, lock_timeout, engine_options)

    @classmethod
    def temporary(cls, *, prefix: str = DEFAULT_PREFIX) -> Database:
        """Make a SQLite file that is removed by `close` or at exit of the process that made it."""
        folder = TemporaryFolder()
        database = cls.open(f"sqlite:///{folder.path / 'abreast.db'}", prefix=prefix)
        database._folder = folder  # noqa: SLF001 - its own class
        return database

    def run(self, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """
        Run a step that may be repeated even if its COMMIT succeeded unheard.

        Raises:
            DatabaseUnavailable: The database was away or stayed busy.
            SyncCallOnAsyncDatabase: The URL names an async driver.
        """
        return self._run(self._attempts(), self._on_checked, step, *args, **kwargs)

    def run_once(self, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a step that is not repeated once its COMMIT may have taken effect; raises as `run`."""
        return self._run(self._attempts(repeatable=False), self._on_checked, step, *args, **kwargs)

    def read(self, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a step on one read-only snapshot; raises as `run`."""
        return self._run(self._attempts(read=True), self._on_checked, step, *args, **kwargs)

    async def arun(self, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Async twin of `run`."""
        return await self._arun(self._attempts(), self._on_checked, step, *args, **kwargs)

    async def arun_once(self, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Async twin of `run_once`."""
        return await self._arun(self._attempts(repeatable=False), self._on_checked, step, *args, **kwargs)

    async def aread(self, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Async twin of `read`."""
        return await self._arun(self._attempts(read=True), self._on_checked, step, *args, **kwargs)

    def run_while(self, step: Callable[Concatenate[Connection, P], bool], /, *args: P.args, **kwargs: P.kwargs) -> None:
        """Run a step in transactions of its own until it gives False; raises as `run`."""
        while self.run(step, *args, **kwargs):
            pass

    async def arun_while(
        self, step: Callable[Concatenate[Connection, P], bool], /, *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Async twin of `run_while`."""
        while await self.arun(step, *args, **kwargs):
            pass

    def read_or_prepare(
        self,
        read: Callable[[Connection, bool, A], T | None],
        prepare: Callable[[Connection, A], bool],
        argument: A,
        /,
    ) -> T:
        """
        Read a snapshot; where that gives None, write what it misses and read again; raises as `run`.

        Args:
            read: Called with False first, and with True once everything is prepared.
            prepare: Called in transactions of its own until it gives False.
        """
        result = self.read(read, False, argument)  # noqa: FBT003 - positional by contract
        if result is None:
            self.run_while(prepare, argument)
            result = self.read(read, True, argument)  # noqa: FBT003 - as above
        return _given(result)

    async def aread_or_prepare(
        self,
        read: Callable[[Connection, bool, A], T | None],
        prepare: Callable[[Connection, A], bool],
        argument: A,
        /,
    ) -> T:
        """Async twin of `read_or_prepare`."""
        result = await self.aread(read, False, argument)  # noqa: FBT003 - as above
        if result is None:
            await self.arun_while(prepare, argument)
            result = await self.aread(read, True, argument)  # noqa: FBT003 - as above
        return _given(result)

    def within(
        self,
        transaction: Connection | Session,
        step: Callable[Concatenate[Connection, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run a step in a savepoint of the caller's transaction: nothing is repeated or committed."""
        if isinstance(transaction, Session):
            transaction.flush()
            transaction = transaction.connection()
        return run_within(transaction, self._on_checked, step, *args, **kwargs)

    async def awithin(
        self,
        transaction: AsyncConnection | AsyncSession,
        step: Callable[Concatenate[Connection, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Async twin of `within`."""
        if isinstance(transaction, AsyncSession):
            await transaction.flush()
            transaction = await transaction.connection()
        if not self._checked:
            await asyncio.to_thread(migrating.load)
        return await transaction.run_sync(lambda sync: run_within(sync, self._on_checked, step, *args, **kwargs))

    def unpooled(self) -> Database:
        """Give the same database with a new connection for each call, on which each statement commits by itself."""
        twin = copy.copy(self)
        twin._engines, twin._folder, twin._attempt = self._engines.unpooled(), None, AttemptsAlone  # noqa: SLF001
        return twin

    def upgrade(self) -> None:
        """Create abreast's tables or bring them up to date; safe at every start and from many processes."""
        self._run(self._attempts(), migrating.upgrade, self.tables)

    async def aupgrade(self) -> None:
        """Async twin of `upgrade`."""
        await self._arun(self._attempts(), migrating.upgrade, self.tables)

    def plan(self) -> list[str]:
        """List the migrations that `upgrade` would run."""
        return self._run(self._attempts(), migrating.plan, self.tables)

    async def aplan(self) -> list[str]:
        """Async twin of `plan`."""
        return await self._arun(self._attempts(), migrating.plan, self.tables)

    def check(self) -> None:
        """
        Make sure that abreast's tables fit this code; every first call of a process does it by itself.

        Raises:
            SchemaMissing: There are none, or not all of them.
            SchemaTooOld: A migration has not run yet.
            SchemaTooNew: They were made by newer code.
        """
        self._run(self._attempts(read=True), self._check)

    async def acheck(self) -> None:
        """Async twin of `check`."""
        await self._arun(self._attempts(read=True), self._check)

    def close(self) -> None:
        """Close the connections of sync calls, and remove a temporary database."""
        self._engines.close()
        if self._folder is not None:
            self._folder.remove()

    async def aclose(self) -> None:
        """Close the connections of this event loop's calls and those of sync calls."""
        await self._endings.settled()
        await self._engines.aclose()
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"Database({self.name!r})"

    def _check(self, connection: Connection) -> None:
        migrating.check(connection, self.tables)
        self._checked.add(str(connection.engine.url))

    def _on_checked(
        self,
        connection: Connection,
        step: Callable[Concatenate[Connection, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        if str(connection.engine.url) not in self._checked:
            self._check(connection)
        return step(connection, *args, **kwargs)

    def _run(
        self,
        attempts: Attempts,
        step: Callable[Concatenate[Connection, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        engine = self._engines.sync(attempts.options)
        while True:
            attempts.begun = attempts.committing = False
            try:
                with engine.begin() as connection:
                    attempts.begin(connection)
                    result = attempts.execute(connection, step, *args, **kwargs)
                    attempts.committing = True
            except (DBAPIError, PoolTimeout, OSError) as error:
                outcome = attempts.after(error)
            else:
                return result
            if isinstance(outcome, Exception):
                raise outcome
            time.sleep(outcome)

    async def _arun(
        self,
        attempts: Attempts,
        step: Callable[Concatenate[Connection, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        engine = self._engines.of_loop(attempts.options)
        if not self._checked:
            await asyncio.to_thread(migrating.load)
        while True:
            attempts.begun = attempts.committing = False
            try:
                async with self._endings.transaction(engine) as connection:
                    await connection.run_sync(attempts.begin)
                    result = await connection.run_sync(attempts.execute, step, *args, **kwargs)
                    attempts.committing = True
            except (DBAPIError, PoolTimeout, OSError) as error:
                outcome = attempts.after(error)
            else:
                return result
            if isinstance(outcome, Exception):
                raise outcome
            await asyncio.sleep(outcome)

    def _attempts(self, *, read: bool = False, repeatable: bool = True) -> Attempts:
        return self._attempt(self.name, self.dialect, read=read, repeatable=repeatable)


def _given(result: T | None) -> T:
    if result is None:
        raise AssertionError("a prepared read gave nothing")
    return result
