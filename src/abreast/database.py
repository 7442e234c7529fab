"""Run operations in transactions, sync or async: the only module that knows the difference."""

from __future__ import annotations

import asyncio
import atexit
import random
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from abreast.errors import DatabaseUnavailable, InvalidDatabase, SyncCallOnAsyncDatabase
from abreast.model.backoff import backoff
from abreast.sql.dialects import dialect_named
from abreast.sql.tables import DEFAULT_PREFIX, Tables, define_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import URL, Connection, Engine
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")

_ATTEMPTS, _FIRST_DELAY, _LONGEST_DELAY = 6, 0.02, 1.0


class _Attempts:
    """Decide after a driver error whether the transaction is run again, and when."""

    def __init__(self, database: Database, *, read: bool = False, repeatable: bool = True) -> None:
        self.database = database
        self.read = read
        self.repeatable = repeatable
        self.committing = False
        self._delays = backoff(_ATTEMPTS, first=_FIRST_DELAY, most=_LONGEST_DELAY, jitter=random.random)

    @property
    def options(self) -> Mapping[str, Any]:
        """The execution options of the connection."""
        dialect = self.database.dialect
        return dialect.read_options if self.read else dialect.write_options

    def begin(self, connection: Connection) -> None:
        """Send what must come first in the transaction."""
        if self.read:
            self.database.dialect.begin_snapshot(connection)

    def delay_after(self, error: DBAPIError | PoolTimeout) -> float:
        """Give the seconds to wait, or raise what the caller gets to see."""
        if isinstance(error, PoolTimeout):
            raise self._unavailable("no connection of the pool became free") from None
        dialect = self.database.dialect
        if not dialect.is_unavailable(error):
            raise error
        if self.committing and error.connection_invalidated and not self.repeatable:
            raise self._unavailable("the connection was lost during COMMIT: it may have taken effect") from None
        delay = next(self._delays, None) if dialect.is_transient(error) else None
        if delay is None:
            raise self._unavailable(dialect.describe(error)[0]) from None
        return delay

    def _unavailable(self, reason: str) -> DatabaseUnavailable:
        return DatabaseUnavailable(self.database.name, reason)


class Database:
    """
    One database, for sync and async calls alike.

    It owns its connections: nothing of the application's engines, pools or isolation levels is touched.
    Transactions that the database rolled back for a passing reason are run again, at most 6 times.

    Attributes:
        name: The URL without its password.
        tables: abreast's own tables in it.

    Example:
        >>> with Database.temporary() as database:
        ...     database.upgrade()
    """

    def __init__(
        self, urls: tuple[URL | None, URL | None], prefix: str, lock_timeout: float | None, options: Mapping[str, Any]
    ) -> None:
        """Keep the settings; `open` is the way in."""
        self._sync_url, self._async_url = urls
        url = self._sync_url or self._async_url
        assert url is not None
        self.name = url.render_as_string(hide_password=True)
        self.dialect = dialect_named(url.get_backend_name())
        self.tables: Tables = define_tables(prefix)
        self._lock_timeout = lock_timeout
        self._options = dict(options)
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._async_engines: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncEngine] = WeakKeyDictionary()
        self._folder: Path | None = None
        self._checked = False

    @classmethod
    def open(
        cls, url: str, *, prefix: str = DEFAULT_PREFIX, lock_timeout: float | None = 10.0, **engine_options: Any
    ) -> Database:
        """
        Name a database; nothing is connected yet.

        Args:
            url: SQLAlchemy URL. `sqlite:///app.db`, `postgresql+psycopg://…`; the driver may be left out.
            prefix: What the names of abreast's tables begin with.
            lock_timeout: Seconds a write waits for a row that somebody else holds; None: as the server says.
                It is a setting of the session: behind a pooler in transaction mode pass None.
            engine_options: Passed on to SQLAlchemy's `create_engine` (`pool_size`, `connect_args` …).

        Raises:
            InvalidDatabase: The URL cannot be read, is in memory, or names a database abreast does not know.
        """
        try:
            parsed = make_url(url)
            backend = parsed.get_backend_name()
        except (ArgumentError, NoSuchModuleError, ValueError):
            raise InvalidDatabase(
                repr(url).partition("@")[0].partition("//")[0], "is not a database URL", "write it like sqlite:///app.db"
            ) from None
        return cls(dialect_named(backend).urls(parsed), prefix, lock_timeout, engine_options)

    @classmethod
    def temporary(cls, *, prefix: str = DEFAULT_PREFIX) -> Database:
        """Make a SQLite file that is removed by `close` or at exit."""
        folder = Path(tempfile.mkdtemp(prefix="abreast-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        database = cls.open(f"sqlite:///{folder / 'abreast.db'}", prefix=prefix)
        database._folder = folder  # noqa: SLF001 - its own class
        return database

    def run(self, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """
        Run a step that may be repeated even if its COMMIT succeeded unheard.

        Raises:
            DatabaseUnavailable: The database was away or stayed busy.
            SyncCallOnAsyncDatabase: The URL names an async driver.
        """
        return self._run(_Attempts(self), self._on_checked, step, *args, **kwargs)

    def run_once(self, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a step that is not repeated once its COMMIT may have taken effect; raises as `run`."""
        return self._run(_Attempts(self, repeatable=False), self._on_checked, step, *args, **kwargs)

    def read(self, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a step on one read-only snapshot; raises as `run`."""
        return self._run(_Attempts(self, read=True), self._on_checked, step, *args, **kwargs)

    async def arun(self, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Async twin of `run`."""
        return await self._arun(_Attempts(self), self._on_checked, step, *args, **kwargs)

    async def arun_once(
        self, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Async twin of `run_once`."""
        return await self._arun(_Attempts(self, repeatable=False), self._on_checked, step, *args, **kwargs)

    async def aread(self, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Async twin of `read`."""
        return await self._arun(_Attempts(self, read=True), self._on_checked, step, *args, **kwargs)

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
        self, read: Callable[[Connection, bool, A], T | None], prepare: Callable[[Connection, A], bool], argument: A, /
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
        self, read: Callable[[Connection, bool, A], T | None], prepare: Callable[[Connection, A], bool], argument: A, /
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
        """Run a step in the caller's transaction: nothing is begun, repeated or committed."""
        if isinstance(transaction, Session):
            transaction.flush()
            transaction = transaction.connection()
        return self._on_checked(transaction, step, *args, **kwargs)

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
        return await transaction.run_sync(self._on_checked, step, *args, **kwargs)

    def upgrade(self) -> None:
        """Create abreast's tables or bring them up to date; safe to call at every start, from many processes."""
        self._run(_Attempts(self), self._upgrade)

    async def aupgrade(self) -> None:
        """Async twin of `upgrade`."""
        await self._arun(_Attempts(self), self._upgrade)

    def plan(self) -> list[str]:
        """List the migrations that `upgrade` would run."""
        return self._run(_Attempts(self), self._plan)

    async def aplan(self) -> list[str]:
        """Async twin of `plan`."""
        return await self._arun(_Attempts(self), self._plan)

    def check(self) -> None:
        """
        Make sure that abreast's tables fit this code; every first call of a process does it by itself.

        Raises:
            SchemaMissing: There are none, or not all of them.
            SchemaTooOld: A migration has not run yet.
            SchemaTooNew: They were made by newer code.
        """
        self._run(_Attempts(self), self._check)

    async def acheck(self) -> None:
        """Async twin of `check`."""
        await self._arun(_Attempts(self), self._check)

    def close(self) -> None:
        """Close the connections of sync calls, and remove a temporary database."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None
        self._remove()

    async def aclose(self) -> None:
        """Close the connections of this event loop's calls and those of sync calls."""
        engine = self._async_engines.pop(asyncio.get_running_loop(), None)
        if engine is not None:
            await engine.dispose()
        self.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Database:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"Database({self.name!r})"

    def _upgrade(self, connection: Connection) -> None:
        from abreast.sql import migrator  # noqa: PLC0415 - loads Alembic, which most processes never need

        migrator.upgrade(connection, self.tables)

    def _plan(self, connection: Connection) -> list[str]:
        from abreast.sql import migrator  # noqa: PLC0415 - as above

        return migrator.plan(connection, self.tables)

    def _check(self, connection: Connection) -> None:
        from abreast.sql import migrator  # noqa: PLC0415 - as above

        migrator.check(connection, self.tables)
        self._checked = True

    def _on_checked(
        self, connection: Connection, step: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if not self._checked:
            self._check(connection)
        return step(connection, *args, **kwargs)

    def _run(
        self,
        attempts: _Attempts,
        step: Callable[Concatenate[Connection, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        engine = self._sync_engine()
        while True:
            attempts.committing = False
            try:
                with engine.execution_options(**attempts.options).begin() as connection:
                    attempts.begin(connection)
                    result = step(connection, *args, **kwargs)
                    attempts.committing = True
                return result
            except (DBAPIError, PoolTimeout) as error:
                delay = attempts.delay_after(error)
            time.sleep(delay)

    async def _arun(
        self,
        attempts: _Attempts,
        step: Callable[Concatenate[Connection, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        engine = self._async_engine()
        while True:
            attempts.committing = False
            try:
                async with engine.execution_options(**attempts.options).begin() as connection:
                    await connection.run_sync(attempts.begin)
                    result = await connection.run_sync(step, *args, **kwargs)
                    attempts.committing = True
                return result
            except (DBAPIError, PoolTimeout) as error:
                delay = attempts.delay_after(error)
            await asyncio.sleep(delay)

    def _sync_engine(self) -> Engine:
        if self._sync_url is None:
            raise SyncCallOnAsyncDatabase(f"call the method with an `a` before its name, or open {self.name} with psycopg")
        with self._lock:
            if self._engine is None:
                self._engine = self._made(create_engine, self._sync_url)
                self.dialect.prepare(self._engine, lock_timeout=self._lock_timeout)
            return self._engine

    def _async_engine(self) -> AsyncEngine:
        if self._async_url is None:
            raise SyncCallOnAsyncDatabase(f"call the method without the `a`, or open {self.name} with psycopg")
        loop = asyncio.get_running_loop()
        with self._lock:
            engine = self._async_engines.get(loop)
            if engine is None:
                engine = self._async_engines[loop] = self._made(create_async_engine, self._async_url)
                self.dialect.prepare(engine.sync_engine, lock_timeout=self._lock_timeout)
            return engine

    def _made(self, create: Callable[..., T], url: URL) -> T:
        try:
            return create(url, hide_parameters=True, **self._options)
        except ModuleNotFoundError as error:
            extra = {"mariadb": "mysql"}.get(url.get_backend_name(), url.get_backend_name())
            raise InvalidDatabase(
                self.name, f"its driver {error.name!r} is not installed", f"pip install 'abreast[{extra}]'"
            ) from None

    def _remove(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _given(result: T | None) -> T:
    if result is None:
        raise AssertionError("a prepared read gave nothing")
    return result
