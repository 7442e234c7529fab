"""Measure what a run of a bound agent costs: transactions, and CPU time beside the same agent without abreast."""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import sys
import time
from collections import defaultdict
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field as Attribute
from sqlalchemy import Column, Integer, MetaData, String, Table, create_engine, make_url, text

from abreast import Actor, Database, Entity, WorkspaceLog
from abreast.langchain import WorkspaceContext, WorkspaceSyncMiddleware, bind
from benchmarks.bare import Bare, sent
from benchmarks.counting import counted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from sqlalchemy import Connection, Engine

    from benchmarks.bare import Statement

ROWS: Final = 100
LINES: Final = 50
RUNS: Final = 60
A_FEW: Final = 15
CALLS: Final = (1, 4)
BUDGET_MS: Final = 2.0
PROMISED: Final = ["write", "read", "write"]
"""The lease, the read in front of the first model call, and the end that confirms and gives the lease back."""
AFTER_A_TOOL: Final = ["read"]
"""In front of a further call, once a tool that may have written has answered: look for own writes."""
WORKSPACE: Final = "w1"
CONTEXT: Final[Any] = {"workspace_id": WORKSPACE}

metadata = MetaData()
task = Table(
    "bench_task",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("workspace_id", String(40), nullable=False),
    Column("title", String(80), nullable=False),
    Column("due", String(10), nullable=False),
    Column("state", String(20), nullable=False),
    Column("version", Integer, nullable=False),
)
TASK: Final = Entity(task, expose=["title", "due", "state"], title="title", label="task")


class Scripted(BaseChatModel):
    """A model that calls a tool until it has been asked often enough, then answers."""

    calls: int = 1
    asked: list[int] = Attribute(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        """Take tools."""
        return self

    def _generate(self, _messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.asked.append(1)
        done = len(self.asked) % self.calls == 0
        calls: Any = [] if done else [{"name": "look", "args": {}, "id": f"call_{len(self.asked)}"}]
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Noon." if done else "", tool_calls=calls))])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return self._generate(messages)


@tool
def look() -> str:
    """Look at the clock."""
    return "noon"


class Timed(WorkspaceSyncMiddleware):
    """
    The middleware, noting the CPU time that each model call spends in it, without the model's own.

    Attributes:
        listens: Whether it notes the statements too, which takes time of its own.
        sent: The statements of each call it has listened to.
    """

    def __init__(self, log: WorkspaceLog) -> None:
        super().__init__(log)
        self.spent: list[float] = []
        self.listens = False
        self.sent: list[list[Statement]] = []

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Call the model with the current state."""
        with self._noting() as besides:

            def timed(given: Any) -> Any:
                began = time.process_time()
                try:
                    return handler(given)
                finally:
                    besides.append(time.process_time() - began)

            return super().wrap_model_call(request, timed)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """Async twin of `wrap_model_call`."""
        with self._noting() as besides:

            async def timed(given: Any) -> Any:
                began = time.process_time()
                try:
                    return await handler(given)
                finally:
                    besides.append(time.process_time() - began)

            return await super().awrap_model_call(request, timed)

    @contextmanager
    def _noting(self) -> Iterator[list[float]]:
        besides: list[float] = []
        nothing: list[Statement] = []
        with sent() if self.listens else nullcontext(nothing) as statements:
            began = time.process_time()
            yield besides
            self.spent.append(time.process_time() - began - sum(besides))
        if self.listens:
            self.sent.append(statements)


@dataclass
class Bench:
    """
    A workspace and two agents that are the same but for abreast.

    Attributes:
        url: Where the workspace is.
        calls: How often the model is called in each run.
        runner: Runs async calls; None for sync ones.
    """

    log: WorkspaceLog
    url: str
    calls: int
    runner: asyncio.Runner | None
    turn: int = 0
    spent: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        """Make the agents."""
        self.timed = Timed(self.log)
        make: Callable[..., Any] = create_agent
        options: dict[str, Any] = {"tools": [look], "context_schema": WorkspaceContext}
        self.plain = make(Scripted(calls=self.calls), checkpointer=InMemorySaver(), **options)
        synced = make(Scripted(calls=self.calls), checkpointer=InMemorySaver(), middleware=[self.timed], **options)
        self.synced = bind(synced, self.log)

    def measure(self, runs: int) -> None:
        """
        Run both agents by turns in threads that have begun, and send the statements of the model calls alone.

        Each synced run has changes to tell that nobody has read before.
        """
        bare, statements = Bare(self.log.database, self.url, self.runner), self.statements()
        gc.collect()
        gc.freeze()  # What is there already is not looked through between the runs.
        gc.disable()
        try:
            for number in range(runs):
                self._measure_one(f"{self.calls}-{self.mode}-{number}", bare, statements)
        finally:
            gc.enable()
            gc.unfreeze()
            bare.close()

    def _measure_one(self, thread_id: str, bare: Bare, statements: Sequence[Sequence[Statement]]) -> None:
        self.ask(self.plain, thread_id)
        self.ask(self.synced, thread_id)
        change(self.log)
        self.timed.spent.clear()
        gc.collect()
        self.spent["plain"].append(self.ask(self.plain, thread_id))
        self.spent["synced"].append(self.ask(self.synced, thread_id))
        first, *further = self.timed.spent
        self.spent["first"].append(first)
        self.spent["further"] += further
        for place, of_one_call in enumerate(statements):
            self.spent["database, further" if place else "database, first"].append(bare.send(of_one_call))

    def statements(self) -> list[list[Statement]]:
        """Give what each model call of a run sends."""
        thread_id = f"{self.calls}-{self.mode}-heard"
        self.ask(self.synced, thread_id)
        change(self.log)
        self.timed.listens = True
        self.ask(self.synced, thread_id)
        self.timed.listens = False
        return self.timed.sent

    def transactions(self) -> list[str]:
        """Count the transactions of one run in a thread that has begun."""
        thread_id = f"{self.calls}-{self.mode}-counted"
        self.ask(self.synced, thread_id)
        change(self.log)
        with counted(self.log.database) as found:
            self.ask(self.synced, thread_id)
        return list(found.kinds)

    @property
    def mode(self) -> str:
        """Say how the agents are called."""
        return "sync" if self.runner is None else "async"

    def ask(self, agent: Any, thread_id: str) -> float:
        """Run an agent once in a thread, and give the CPU seconds."""
        config = {"configurable": {"thread_id": thread_id}}
        value = {"messages": [("user", "What time is it?")]}
        began = time.process_time()
        if self.runner is None:
            agent.invoke(value, config, context=CONTEXT)
        else:
            waiting: Awaitable[Any] = agent.ainvoke(value, config, context=CONTEXT)
            self.runner.run(_awaited(waiting))
        return time.process_time() - began


async def _awaited(waiting: Awaitable[Any]) -> Any:
    return await waiting


def change(log: WorkspaceLog) -> None:
    """Change so many rows, each in one field, as a person would."""
    with log.write(WORKSPACE, actor=Actor.user("u1")) as write:
        for number in range(LINES):
            state = f"state {time.monotonic_ns() % 1_000_000}"
            write.update(TASK.name, number, {"state": state}, expected_version="any")


@contextmanager
def workspace(url: str | None) -> Iterator[WorkspaceLog]:
    """Make a workspace of `ROWS` rows in a new database."""
    with Database.open(url) if url else Database.temporary() as database:
        database.upgrade()
        database.run(_create_tables)
        log = WorkspaceLog(database, entities=[TASK])
        with log.write(WORKSPACE, actor=Actor.user("u1")) as write:
            for number in range(ROWS):
                row = {"id": number, "title": f"Pack box {number}", "due": "2026-09-28", "state": "open"}
                write.insert(TASK.name, row)
        yield log


def _create_tables(connection: Connection) -> None:
    metadata.create_all(connection)


def milliseconds(seconds: Sequence[float]) -> float:
    """Give the median."""
    return statistics.median(seconds) * 1_000


def show_cost(bench: Bench) -> None:
    """Print what the runs of one kind cost."""
    plain, synced = milliseconds(bench.spent["plain"]), milliseconds(bench.spent["synced"])
    told = [f"{figure:.2f}" for figure in (plain, synced, synced / plain)]
    for call in ("first", "further"):
        whole, database = bench.spent[call], bench.spent[f"database, {call}"]
        told += [f"{figure:.2f}" for figure in parts(whole, database)] if whole else [""] * 3
    verdicts = zip(
        ("first call", "own part"), parts(bench.spent["first"], bench.spent["database, first"])[::2], strict=True
    )
    verdict = ", ".join(f"{name} {'within' if spent <= BUDGET_MS else 'above'}" for name, spent in verdicts)
    print(f"  {bench.mode:<6}{bench.calls:>6}{''.join(f'{figure:>10}' for figure in told)}  {verdict} {BUDGET_MS:g} ms")


def parts(whole: Sequence[float], database: Sequence[float]) -> tuple[float, float, float]:
    """Give what a model call takes, what its statements alone take, and the rest."""
    call, statements = milliseconds(whole), milliseconds(database)
    return call, statements, call - statements


COLUMNS: Final = ("without", "with", "ratio", *("call", "database", "own") * 2)
"""
A run without and with abreast; then the middleware's part in the first model call and in each further one: the whole,
what its statements take when they are sent alone, and the rest, which is abreast's own.
"""


def show_transactions(bench: Bench) -> int:
    """Print the transactions of one run; 1 if they are not what is promised, else 0."""
    kinds = bench.transactions()
    expected = [*PROMISED[:2], *AFTER_A_TOOL * (bench.calls - 1), *PROMISED[2:]]
    print(f"  {bench.mode:<6}{bench.calls} calls: {len(kinds)} transactions: {', '.join(kinds)}")
    if kinds != expected:
        print(f"  WRONG  expected {', '.join(expected)}")
    return int(kinds != expected)


def measure(url: str | None, runs: int) -> int:
    """Measure on one database; counts what was wrong."""
    wrong = 0
    with workspace(url) as log, asyncio.Runner() as runner:
        place = url or log.database.name
        benches = [Bench(log, place, calls, how) for how in (None, runner) for calls in CALLS]
        for bench in benches:
            wrong += show_transactions(bench)
        print(f"\n  CPU time, ms, medians of {runs} runs")
        print(f"  {'':42}{'first call':>30}{'further call':>30}")
        print(f"  {'':6}{'calls':>6}{''.join(f'{name:>10}' for name in COLUMNS)}")
        for bench in benches:
            bench.measure(runs)
            show_cost(bench)
        runner.run(log.database.aclose())
    return wrong


def on_server(url: str) -> float:
    """
    Give the transactions of one run as PostgreSQL itself has counted them.

    What connecting and the first check of the tables take is the same for few runs as for many.
    """
    few, many = 10, 30
    server = create_engine(make_url(url).set(database="postgres"), isolation_level="AUTOCOMMIT")
    spent = {}
    for runs in (1, few, many):  # the first begins the thread, which takes more
        before = _settled(server, url)
        with Database.open(url) as database:
            bench = Bench(WorkspaceLog(database, entities=[TASK]), url, 1, None)
            for _ in range(runs):
                bench.ask(bench.synced, "on the server")
        spent[runs] = _settled(server, url) - before
    server.dispose()
    return (spent[many] - spent[few]) / (many - few)


def _settled(server: Engine, url: str) -> int:
    """Read how many transactions a database has seen, once nobody adds to them: backends tell theirs as they end."""
    wanted = text("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = :name")
    with server.connect() as connection:
        seen = [-1, connection.execute(wanted, {"name": make_url(url).database}).scalar_one()]
        while seen[-1] != seen[-2]:
            time.sleep(1)
            seen.append(connection.execute(wanted, {"name": make_url(url).database}).scalar_one())
    return int(seen[-1])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as a script: 0 when the transactions are those that are promised; CPU time is printed, not judged."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks agents", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{A_FEW} runs of each kind, not {RUNS}")
    parser.add_argument("--database", metavar="URL", help="where to run; a temporary SQLite file if left out")
    options = parser.parse_args(arguments)
    print(f"{ROWS} rows, {LINES} lines of changes; a tool that writes nothing between two calls of the model")
    wrong = measure(options.database, A_FEW if options.quick else RUNS)
    if options.database and make_url(options.database).get_backend_name() == "postgresql":
        told = on_server(options.database)
        print(f"\n  the server itself counts {told:g} transactions a run of one call")
        wrong += told != len(PROMISED)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
