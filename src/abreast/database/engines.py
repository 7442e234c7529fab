"""The engines of one database: one for sync calls, one for each event loop, none from a parent process."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakKeyDictionary

from sqlalchemy import NullPool, create_engine
from sqlalchemy.exc import NoSuchModuleError
from sqlalchemy.ext.asyncio import create_async_engine

from abreast.database.endings import unlock_dropped
from abreast.errors import InvalidDatabase, InvalidInput, SyncCallOnAsyncDatabase
from abreast.sql.dialects import dialect_named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import URL, Engine
    from sqlalchemy.ext.asyncio import AsyncEngine

T = TypeVar("T")


_SHORTEST, _LONGEST = 0.001, 86_400
_OWN_OPTIONS = frozenset({"hide_parameters", "logging_name"})
_LOGGER = "abreast"
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
for _name in ("sqlalchemy.engine.Engine", "sqlalchemy.engine"):
    # At DEBUG every row that is read would be logged, hidden fields too.
    logging.getLogger(f"{_name}.{_LOGGER}").addFilter(lambda record: record.levelno > logging.DEBUG)


class Engines:
    """
    Engines made when they are first needed.

    Attributes:
        name: The URL without its password.
    """

    def __init__(
        self, urls: tuple[URL | None, URL | None], lock_timeout: float | None, options: Mapping[str, Any]
    ) -> None:
        self._sync_url, self._async_url = urls
        named = [url for url in urls if url is not None]
        self.name = _without_secrets(named[0])
        self.dialect = dialect_named(named[0].get_backend_name())
        self._lock_timeout = lock_timeout
        self._options = dict(options)
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._engine: Engine | None = None
        self._of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncEngine] = WeakKeyDictionary()
        self._variants: dict[tuple[Any, ...], Any] = {}

    def sync(self, options: Mapping[str, Any] = NO_OPTIONS) -> Engine:
        """
        Give the engine of sync calls, whose connections have execution options.

        Raises:
            SyncCallOnAsyncDatabase: The URL names an async driver.
        """
        if self._sync_url is None:
            raise SyncCallOnAsyncDatabase(
                f"call the method with an `a` before its name, or open {self.name} with psycopg"
            )
        self._leave_parent()
        with self._lock:
            if self._engine is None:
                self._engine = self._made(create_engine, self._sync_url)
                self.dialect.prepare(self._engine, lock_timeout=self._lock_timeout)
            return self._variant(self._engine, options)

    def of_loop(self, options: Mapping[str, Any] = NO_OPTIONS) -> AsyncEngine:
        """
        Give the engine of the running event loop, likewise: connections of asyncpg belong to one loop.

        Raises:
            SyncCallOnAsyncDatabase: The URL names a sync driver.
        """
        if self._async_url is None:
            raise SyncCallOnAsyncDatabase(f"call the method without the `a`, or open {self.name} with psycopg")
        self._leave_parent()
        loop = asyncio.get_running_loop()
        with self._lock:
            engine = self._of_loops.get(loop)
            if engine is None:
                self._forget_closed_loops()
                engine = self._of_loops[loop] = self._made(create_async_engine, self._async_url)
                self.dialect.prepare(engine.sync_engine, lock_timeout=self._lock_timeout)
                if self.dialect.locked_when_dropped:
                    unlock_dropped(engine)
            return self._variant(engine, options)

    def unpooled(self) -> Engines:
        """Give engines of the same database that open a connection for each transaction and keep none."""
        options = {name: value for name, value in self._options.items() if "pool" not in name}
        return Engines((self._sync_url, self._async_url), self._lock_timeout, {**options, "poolclass": NullPool})

    def close(self) -> None:
        """Close the connections of sync calls."""
        self._leave_parent()
        if self._engine is not None:
            self._forget(self._engine)
            self._engine.dispose()
            self._engine = None

    async def aclose(self) -> None:
        """Close the connections of this event loop's calls."""
        self._leave_parent()
        engine = self._of_loops.pop(asyncio.get_running_loop(), None)
        if engine is not None:
            self._forget(engine)
            await engine.dispose()

    def _variant(self, engine: T, options: Mapping[str, Any]) -> T:
        """Give an engine with options; it is kept, since SQLAlchemy takes a fifth of a short transaction to make it."""
        if not options:
            return engine
        key = (id(engine), *options.items())
        if key not in self._variants:
            self._variants[key] = cast("Any", engine).execution_options(**options)
        return cast("T", self._variants[key])

    def _forget(self, engine: Engine | AsyncEngine) -> None:
        with self._lock:
            self._variants = {key: kept for key, kept in self._variants.items() if key[0] != id(engine)}

    def _forget_closed_loops(self) -> None:
        """Let go of the connections of loops that ended without `aclose`: an engine keeps its loop alive."""
        for loop in [loop for loop in self._of_loops if loop.is_closed()]:
            engine = self._of_loops.pop(loop)
            self._forget(engine)
            engine.sync_engine.dispose(close=False)

    def _leave_parent(self) -> None:
        """Let go of a parent process's connections after a fork, without closing what it still uses."""
        if self._process == os.getpid():
            return
        if self._engine is not None:
            self._engine.dispose(close=self.dialect.closes_after_fork)
        self._process, self._lock = os.getpid(), threading.RLock()
        self._engine, self._variants = None, {}
        self._of_loops = WeakKeyDictionary()

    def _made(self, create: Callable[..., T], url: URL) -> T:
        try:
            return create(url, hide_parameters=True, logging_name=_LOGGER, **self._options)
        except ModuleNotFoundError as error:
            extra = {"mariadb": "mysql"}.get(url.get_backend_name(), url.get_backend_name())
            raise InvalidDatabase(
                self.name, f"its driver {error.name!r} is not installed", f"pip install 'abreast[{extra}]'"
            ) from None
        except NoSuchModuleError:
            raise InvalidDatabase(
                self.name,
                f"there is no driver {url.drivername!r}",
                "leave the driver out, or name an installed one",
            ) from None


def check_settings(lock_timeout: object, options: Mapping[str, Any]) -> None:
    """
    Check what a database is opened with.

    Raises:
        InvalidInput: The time-out is no time, or an option is one that abreast sets.
    """
    is_time = isinstance(lock_timeout, (int, float)) and not isinstance(lock_timeout, bool)
    if lock_timeout is not None and not (is_time and _SHORTEST <= lock_timeout <= _LONGEST):  # type: ignore[operator]
        raise InvalidInput("lock_timeout", f"is {lock_timeout!r}", "pass seconds, 0.001 to 86,400, or None")
    for name in _OWN_OPTIONS.intersection(options):
        raise InvalidInput(name, "is set by abreast", "leave it out")


def _without_secrets(url: URL) -> str:
    """Write a URL without its password, wherever that stands."""
    masked = {name: "***" for name in url.query if "pass" in name.lower() or "pwd" in name.lower()}
    return url.update_query_dict(masked).render_as_string(hide_password=True)
