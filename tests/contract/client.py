"""One way to call a log, sync or async, so that one test body serves both."""

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Literal, Self

from sqlalchemy import Engine, create_engine, event, insert, select, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from abreast import Batch, Cursor, Database, Entity, Event, WorkspaceLog
from abreast.model.write import WriteResult
from abreast.operations.record import event_of, select_events
from abreast.workspace_log import AsyncWrite, Write
from tests.contract.product import ENTITIES, USER

Mode = Literal["sync", "async"]
Own = Literal["connection", "session"]


class Client:
    """
    A log whose methods are plain calls, whether they run as such or as their async twins on an event loop.

    Attributes:
        database: Where everything is.
        log: The log itself.
    """

    def __init__(self, place: "Place", log: WorkspaceLog) -> None:
        self._place = place
        self.database = place.database
        self.log = log

    def of(self, *entities: Entity) -> "Client":
        """Give a log of other entities in the same database."""
        return Client(self._place, WorkspaceLog(self.database, entities))

    @property
    def mode(self) -> Mode:
        """Say how calls run."""
        return "sync" if self._place.runner is None else "async"

    @property
    def kind(self) -> str:
        """Name the kind of database."""
        return self._place.past.dialect.name

    def write(self, workspace_id: str = "w1", **options: Any) -> "Write | Block":
        """Begin a block, `log.write` or `log.awrite`."""
        options = {"actor": USER, **options}
        if self._place.runner is None:
            return self.log.write(workspace_id, **options)
        return Block(self.log.awrite(workspace_id, **options), self._place.runner)

    def insert(self, entity: Any, fields: dict[str, Any], workspace_id: str = "w1", **options: Any) -> WriteResult:
        """Insert one row in a block of its own."""
        with self.write(workspace_id, **options) as write:
            write.insert(entity, fields)
        return write.results[0]

    def update(
        self,
        entity: Any,
        key: Any,
        fields: dict[str, Any],
        expected_version: Any = "any",
        workspace_id: str = "w1",
        merge: Any = None,
        **options: Any,
    ) -> WriteResult:
        """Update one row in a block of its own."""
        with self.write(workspace_id, **options) as write:
            write.update(entity, key, fields, expected_version=expected_version, merge=merge)
        return write.results[0]

    def delete(
        self,
        entity: Any,
        key: Any,
        expected_version: Any = "any",
        workspace_id: str = "w1",
        **options: Any,
    ) -> WriteResult:
        """Delete one row in a block of its own."""
        with self.write(workspace_id, **options) as write:
            write.delete(entity, key, expected_version=expected_version)
        return write.results[0]

    def read_batch(self, workspace_id: str = "w1", thread_id: str = "t1", **options: Any) -> Batch:
        """Call `log.read_batch`."""
        return self._call("read_batch", workspace_id, thread_id, **options)

    def open_thread(self, workspace_id: str = "w1", thread_id: str = "t1", **options: Any) -> Cursor:
        """Call `log.open_thread`."""
        return self._call("open_thread", workspace_id, thread_id, **options)

    def changes(self, workspace_id: str = "w1", **options: Any) -> list[Event]:
        """Call `log.changes`."""
        return self._call("changes", workspace_id, **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Call any other method of the log."""
        return lambda *arguments, **options: self._call(name, *arguments, **options)

    def _call(self, name: str, *arguments: Any, **options: Any) -> Any:
        if self._place.runner is None:
            return getattr(self.log, name)(*arguments, **options)
        return self._place.runner.run(getattr(self.log, f"a{name}")(*arguments, **options))

    def within(self, transaction: "OwnTransaction", step: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call `database.within`."""
        if self._place.runner is None:
            return self.database.within(transaction.raw, step, *args, **kwargs)
        return self._place.runner.run(self.database.awithin(transaction.raw, step, *args, **kwargs))

    @contextlib.contextmanager
    def own(self, kind: Own) -> "Iterator[OwnTransaction]":
        """Open a `Connection` or `Session` of the application, or the async ones."""
        transaction = self._place.begin(kind)
        try:
            yield transaction
        finally:
            transaction.close()

    def rows(self, statement: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Run SQL past the library."""
        with self._place.past.begin() as connection:
            result = connection.execute(text(statement), parameters)
            return [tuple(row) for row in result] if result.returns_rows else []

    def put(self, table: Any, *rows: dict[str, Any]) -> None:
        """Insert rows past the library."""
        with self._place.past.begin() as connection:
            connection.execute(insert(table), list(rows))

    def engine(self) -> Engine:
        """Give the engine of what happens past the library."""
        return self._place.past

    @contextlib.contextmanager
    def statements(self) -> "Iterator[list[str]]":
        """Collect the statements that abreast sends."""
        sent: list[str] = []

        def collect(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
            sent.append(statement)

        engines = self._place.engines()
        for engine in engines:
            event.listen(engine, "before_cursor_execute", collect)
        try:
            yield sent
        finally:
            for engine in engines:
                event.remove(engine, "before_cursor_execute", collect)

    def dump(self) -> str:
        """Give everything that the log has stored."""
        with self._place.past.begin() as connection:
            tables = [each for each in self.database.tables.metadata.sorted_tables if "_checkpoint" not in each.name]
            return "\n".join(
                f"{table.name}: {dict(row._mapping)}" for table in tables for row in connection.execute(select(table))
            )

    def recorded(self, workspace_id: str = "w1") -> list[Event]:
        """List what is recorded, numbered or not, by time."""
        log = self.database.tables.workspace_event
        wanted = select_events(self.database.tables).where(log.c.workspace_id == workspace_id)
        with self._place.past.begin() as connection:
            return [event_of(row) for row in connection.execute(wanted.order_by(log.c.event_id))]

    def head(self, workspace_id: str = "w1") -> int:
        """Give a workspace's HEAD; 0 where it has no log."""
        found = self.rows("SELECT head FROM abreast_workspace WHERE workspace_id = :id", id=workspace_id)
        return found[0][0] if found else 0

    def cursors(self) -> dict[tuple[str, str], int]:
        """Give the stored cursors, by thread and scope."""
        stored = self.rows("SELECT thread_id, scope, revision FROM abreast_thread_cursor")
        return {(thread_id, scope): revision for thread_id, scope, revision in stored}


class Block:
    """An async block as a plain one."""

    def __init__(self, block: AsyncWrite, runner: asyncio.Runner) -> None:
        self._block = block
        self._runner = runner

    def __enter__(self) -> AsyncWrite:
        return self._runner.run(self._block.__aenter__())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._runner.run(self._block.__aexit__(kind, error, traceback))


class OwnTransaction:
    """
    The application's own `Connection` or `Session`, whose methods are plain calls.

    Attributes:
        raw: What is passed as `within=`.
    """

    def __init__(self, raw: Any, runner: asyncio.Runner | None) -> None:
        self.raw = raw
        self._runner = runner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Call a method and wait for it if need be."""

        def call(*arguments: Any, **options: Any) -> Any:
            result = getattr(self.raw, name)(*arguments, **options)
            return self._runner.run(_awaited(result)) if self._runner and inspect.isawaitable(result) else result

        return call

    def look(self, instance: object, attribute: str) -> Any:
        """Read an attribute of a mapped object, which may have to be loaded."""
        if self._runner is None:
            return getattr(instance, attribute)
        return self.run_sync(lambda _session: getattr(instance, attribute))


async def _awaited(result: Any) -> Any:
    return await result


class Place:
    """One database with what connects to it: abreast, the application, and the test past both."""

    def __init__(self, url: str, mode: Mode) -> None:
        self.url = url
        self.database = Database.open(url)
        self.runner = asyncio.Runner() if mode == "async" else None
        self.past = create_engine(url)
        self._application: Engine | AsyncEngine | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.past.dispose()
        if self.runner is None:
            self.database.close()
            if isinstance(self._application, Engine):
                self._application.dispose()
            return
        self.runner.run(self.database.aclose())
        if isinstance(self._application, AsyncEngine):
            self.runner.run(self._application.dispose())
        self.runner.close()

    def begin(self, kind: Own) -> OwnTransaction:
        """Open a connection or session of the application."""
        engine = self._application = self._application or self._make()
        if isinstance(engine, AsyncEngine):
            assert self.runner is not None
            raw: Any = AsyncSession(engine) if kind == "session" else engine.connect()
            if kind == "connection":
                self.runner.run(_awaited(raw))
        else:
            raw = Session(engine) if kind == "session" else engine.connect()
        return OwnTransaction(raw, self.runner)

    def engines(self) -> list[Engine]:
        """List abreast's own engines."""
        own = self.database._engines
        found = [] if own._engine is None else [own._engine]
        return [*found, *(engine.sync_engine for engine in own._of_loops.values())]

    def checked_out(self) -> dict[str, int]:
        """Count the connections that somebody still holds."""
        engines: dict[str, Any] = {f"abreast {place}": engine for place, engine in enumerate(self.engines())}
        if self._application is not None:
            engines["application"] = self._application
        return {name: engine.pool.checkedout() for name, engine in engines.items()}

    def _make(self) -> Engine | AsyncEngine:
        if self.runner is None:
            return create_engine(self.url)
        return create_async_engine(self.url.replace("sqlite://", "sqlite+aiosqlite://"))


def new_client(place: Place) -> Client:
    """Give a log of all entities."""
    return Client(place, WorkspaceLog(place.database, ENTITIES))
