"""The writers of a race: each a thread or task with its own way of writing."""

import asyncio
import contextvars
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, delete, event, insert, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.util import await_only

from abreast import Actor, WorkspaceLog
from tests.concurrency.product import METADATA, W
from tests.concurrency.race.programme import Log, Programme, RolledBack, Step, Transaction

KINDS = ("own", "own later", "own mutation", "rc connection", "rr connection", "rc session", "rr session", "two blocks")
ISOLATION = {"rc": "READ COMMITTED", "rr": "REPEATABLE READ"}
MOST_TRIES = 200

_BEFORE_COMMIT: contextvars.ContextVar[Transaction | None] = contextvars.ContextVar("before_commit", default=None)


def count_errors(errors: Counter[str]) -> None:
    """Count the errors of all statements of this process, also those that abreast answers by trying again."""

    @event.listens_for(Engine, "handle_error")
    def on_error(context: Any) -> None:
        error = context.original_exception
        name = getattr(error, "sqlstate", None) or getattr(error, "sqlite_errorname", None)
        errors[name or type(error).__name__] += 1


def hold_commits() -> None:
    """Hold the transactions of this process open before their COMMIT, or break them off, as the programme says."""

    @event.listens_for(Engine, "commit")
    def before_commit(connection: Connection) -> None:
        transaction = _BEFORE_COMMIT.get()
        if transaction is None:
            return
        if transaction.hold:
            _pause(transaction.hold, is_async=connection.dialect.is_async)
        if transaction.rolled_back:
            raise RolledBack


def _pause(seconds: float, *, is_async: bool) -> None:
    if is_async:
        await_only(asyncio.sleep(seconds))
    else:
        time.sleep(seconds)


def application_url(url: str, *, is_async: bool) -> str:
    """Give the URL that an application of its own would use."""
    return url.replace("sqlite://", "sqlite+aiosqlite://") if is_async else url


def prepare_application(engine: Engine) -> None:
    """Let an application's SQLite take the write lock when it begins; other databases need nothing."""
    if engine.dialect.name != "sqlite":
        return

    @event.listens_for(engine, "connect")
    def on_connect(dbapi_connection: Any, _record: object) -> None:
        dbapi_connection.isolation_level = None
        dbapi_connection.execute("PRAGMA busy_timeout=300000")
        dbapi_connection.execute("PRAGMA synchronous=NORMAL")
        dbapi_connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


class Writer:
    """What sync and async writers have in common."""

    def __init__(self, log: WorkspaceLog | None, kind: str, programme: Programme, changes: int) -> None:
        self.log = log
        self.kind = kind
        self.programme = programme
        self.wanted = changes
        self.done = Log(kind)
        self.actor = Actor.user(f"writer {programme.writer}")

    def options(self, engine: Engine | AsyncEngine) -> dict[str, Any]:
        """Give the execution options of the writer's connections."""
        level = ISOLATION.get(self.kind[:2])
        return {"isolation_level": level} if level and engine.dialect.name == "postgresql" else {}

    def mutation_id(self, transaction: Transaction) -> str | None:
        """Give the idempotency key, for the writer that uses one."""
        if self.kind != "own mutation":
            return None
        return f"{self.programme.writer}.{transaction.number}"

    def blocks(self, transaction: Transaction) -> list[Sequence[Step]]:
        """Cut a transaction into the blocks that are written one after the other."""
        steps = transaction.steps
        half = len(steps) // 2 if self.kind == "two blocks" else 0
        return [block for block in (steps[:half], steps[half:]) if block]

    def given_up(self, transaction: Transaction, tries: int, error: DBAPIError) -> None:
        """Note a transaction that the database broke off; it is written again."""
        self.done.retried += 1
        if tries == MOST_TRIES:
            raise RuntimeError(f"{self.kind}: {transaction} failed {tries} times") from error

    def kept(self, transaction: Transaction, results: list[Any]) -> None:
        """Note an acknowledged commit."""
        self.programme.committed(transaction)
        self.done.keep(transaction, results)

    @property
    def is_done(self) -> bool:
        """Say whether the writer has committed as many changes as it should."""
        return self.done.changes >= self.wanted


def fill(write: Any, steps: Sequence[Step]) -> None:
    """Put a block's changes into a write."""
    for step in steps:
        expected = "any" if step.expected is None else step.expected
        if step.operation == "insert":
            parent = {"item_id": step.item_id} if step.item_id else {}
            write.insert(step.entity, {"id": step.row_id, "title": step.token, **parent})
        elif step.operation == "update":
            write.update(step.entity, step.row_id, {"title": step.token}, expected_version=expected)
        else:
            write.delete(step.entity, step.row_id, expected_version=expected)


def apply_plainly(connection: Connection, steps: Sequence[Step]) -> None:
    """Make the same changes of the rows without abreast."""
    for step in steps:
        table = METADATA.tables[step.entity]
        own = {"item_id": step.item_id} if step.item_id else {"workspace_id": W, "version": 1}
        raised = {"version": table.c.version + 1} if step.entity == "item" else {}
        statement = {
            "insert": insert(table).values(id=step.row_id, title=step.token, **own),
            "update": update(table).where(table.c.id == step.row_id).values(title=step.token, **raised),
            "delete": delete(table).where(table.c.id == step.row_id),
        }[step.operation]
        if connection.execute(statement).rowcount != 1 and step.operation != "insert":
            raise RuntimeError(f"{step} met no row")


class SyncWriter(Writer):
    """A writer in a thread."""

    def __init__(self, url: str, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.engine = create_engine(url)
        prepare_application(self.engine)
        self.engine = self.engine.execution_options(**self.options(self.engine))

    def run(self) -> Log:
        """Write until enough is committed."""
        for transaction in self.programme.transactions():
            _BEFORE_COMMIT.set(transaction)
            self._once(transaction)
            if self.is_done:
                break
        self.engine.dispose()
        return self.done

    def _once(self, transaction: Transaction) -> None:
        for tries in range(1, MOST_TRIES + 1):
            try:
                self.kept(transaction, self._send(transaction))
            except RolledBack:
                self.done.rolled_back += 1
            except DBAPIError as error:
                self.given_up(transaction, tries, error)
                continue
            return

    def _send(self, transaction: Transaction) -> list[Any]:
        if self.log is None:
            with self.engine.begin() as connection:
                apply_plainly(connection, transaction.steps)
            return []
        if self.kind.startswith("own"):
            return self._own(transaction)
        if self.kind.endswith("session"):
            with Session(self.engine) as session, session.begin():
                return self._within(transaction, session)
        with self.engine.begin() as connection:
            return self._within(transaction, connection)

    def _own(self, transaction: Transaction) -> list[Any]:
        number = "later" if self.kind == "own later" else "now"
        mutation_id = self.mutation_id(transaction)
        with self.log.write(W, actor=self.actor, mutation_id=mutation_id, number=number) as write:
            fill(write, transaction.steps)
        return list(write.results)

    def _within(self, transaction: Transaction, caller: Connection | Session) -> list[Any]:
        results: list[Any] = []
        for block in self.blocks(transaction):
            with self.log.write(W, actor=self.actor, within=caller) as write:
                fill(write, block)
            results += write.results
        return results


class AsyncWriter(Writer):
    """A writer in a task."""

    def __init__(self, url: str, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.engine = create_async_engine(application_url(url, is_async=True))
        prepare_application(self.engine.sync_engine)
        self.engine = self.engine.execution_options(**self.options(self.engine))

    async def run(self) -> Log:
        """Write until enough is committed."""
        for transaction in self.programme.transactions():
            _BEFORE_COMMIT.set(transaction)
            await self._once(transaction)
            if self.is_done:
                break
        await self.engine.dispose()
        return self.done

    async def _once(self, transaction: Transaction) -> None:
        for tries in range(1, MOST_TRIES + 1):
            try:
                self.kept(transaction, await self._send(transaction))
            except RolledBack:
                self.done.rolled_back += 1
            except DBAPIError as error:
                self.given_up(transaction, tries, error)
                continue
            return

    async def _send(self, transaction: Transaction) -> list[Any]:
        if self.kind.startswith("own"):
            return await self._own(transaction)
        if self.kind.endswith("session"):
            async with AsyncSession(self.engine) as session, session.begin():
                return await self._within(transaction, session)
        async with self.engine.begin() as connection:
            return await self._within(transaction, connection)

    async def _own(self, transaction: Transaction) -> list[Any]:
        number = "later" if self.kind == "own later" else "now"
        mutation_id = self.mutation_id(transaction)
        async with self.log.awrite(W, actor=self.actor, mutation_id=mutation_id, number=number) as write:
            fill(write, transaction.steps)
        return list(write.results)

    async def _within(self, transaction: Transaction, caller: AsyncConnection | AsyncSession) -> list[Any]:
        results: list[Any] = []
        for block in self.blocks(transaction):
            async with self.log.awrite(W, actor=self.actor, within=caller) as write:
                fill(write, block)
            results += write.results
        return results
