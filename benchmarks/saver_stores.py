"""Conversations on SqlSaver and on LangGraph's own savers, each with a database of its own."""

from __future__ import annotations

import random
import sqlite3
import statistics
import time
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import TYPE_CHECKING, Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import _messages_delta_reducer
from psycopg import Connection
from psycopg.rows import dict_row
from sqlalchemy import create_engine, text
from typing_extensions import TypedDict

from abreast import Database
from abreast.langgraph.saver import SqlSaver
from benchmarks.servers import postgresql_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PUTS = 5
"""Puts after each load; one more ends the run."""
BRANCH = "branch:to:model"
CONFIG: Any = {"configurable": {"thread_id": "5f0c8a0e-7d0b-4b8e-9a55-0c7b7f3f9b11"}}


class DeltaState(TypedDict):
    """Messages in LangGraph's channel of differences, a snapshot every 100 updates."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=100)]


def words(count: int, chance: random.Random) -> str:
    """Make a text of so many characters that says something new each time: compression finds little in it."""
    text = ""
    while len(text) < count:
        text += "".join(chance.choices(ascii_lowercase, k=chance.randint(2, 9))) + " "
    return text[:count]


@dataclass
class Store:
    """
    One saver with its database.

    Attributes:
        size: Gives the bytes on disk.
        times: Milliseconds by what was measured, on the wall and of the process's own work.
    """

    name: str
    saver: Any
    size: Callable[[], int]
    state: type[Any] = MessagesState
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    chance: random.Random = field(default_factory=lambda: random.Random(20260912))

    def __post_init__(self) -> None:
        """Build the conversation's graph."""
        builder = StateGraph(self.state).add_node("model", lambda _state: {"messages": [self._answer()]})
        self.graph = builder.add_edge(START, "model").compile(checkpointer=self.saver)

    def _question(self) -> HumanMessage:
        return HumanMessage(words(120, self.chance))

    def _answer(self, **options: Any) -> AIMessage:
        return AIMessage(words(400, self.chance), **options)

    def talk(self, turns: int) -> None:
        """Run turns."""
        for _ in range(turns):
            self._timed("turn", self.graph.invoke, {"messages": [self._question()]}, CONFIG, durability="sync")

    def look(self, times: int) -> None:
        """Load the state as a graph does, whatever its channels are."""
        for _ in range(times):
            self._timed("state", self.graph.get_state, CONFIG)

    def fill(self, turns: int) -> None:
        """Store a conversation at once."""
        messages = [kind for _ in range(turns) for kind in (self._question(), self._answer())]
        if messages:
            self.graph.update_state(CONFIG, {"messages": messages}, as_node="model")

    def round(self) -> None:
        """Load, put a few times as within a run, and once as at its end; no graph runs beside."""
        found = self._timed("load", self.saver.get_tuple, CONFIG)
        config, checkpoint = found.config, found.checkpoint
        messages, versions = checkpoint["channel_values"]["messages"], dict(checkpoint["channel_versions"])
        for number in range(PUTS + 1):
            ends = number == PUTS
            messages = [*messages, self._answer(id=str(uuid6()))]
            new = {name: self.saver.get_next_version(versions.get(name), None) for name in ("messages", BRANCH)}
            versions |= new
            values = {"messages": messages, **({} if ends else {BRANCH: None})}
            made = {**checkpoint, "id": str(uuid6()), "channel_values": values, "channel_versions": dict(versions)}
            metadata = {"source": "loop", "step": number, "parents": {}}
            config = self._timed("put at the end" if ends else "put", self.saver.put, config, made, metadata, new)

    def _timed(self, name: str, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        result = method(*arguments, **options)
        self.times[name].append((time.perf_counter() - wall) * 1_000)
        self.times[f"{name} (cpu)"].append((time.process_time() - cpu) * 1_000)
        return result

    def medians(self) -> dict[str, float]:
        """Give the medians of what was measured, and forget it."""
        found = {name: statistics.median(self.times[name]) for name in sorted(self.times)}
        self.times.clear()
        return found


def file_size(path: Path) -> int:
    """Give the bytes of a SQLite file without its log."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path.stat().st_size


def relation_size(url: str, names: str) -> int:
    """Give the bytes of tables with their indexes and what is stored beside them, after a vacuum."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("VACUUM"))
        statement = text(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relname ~ :names"
        )
        found = int(connection.scalar(statement, {"names": names}) or 0)
    engine.dispose()
    return found


def tables_size(path: Path, before: int) -> int:
    """Give the bytes of the checkpoint tables in a SQLite file: what it has grown by, and the pages they began with."""
    with sqlite3.connect(path) as connection:
        statement = "SELECT count(*) FROM sqlite_master WHERE tbl_name LIKE 'abreast_checkpoint%'"
        (pages,), (page,) = connection.execute(statement).fetchone(), connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    return file_size(path) - before + pages * page


@contextmanager
def own_store(kind: str, folder: Path) -> Iterator[Store]:
    """Give an SqlSaver on a new database."""
    with ExitStack() as stack:
        path = folder / f"own{time.monotonic_ns()}.sqlite"
        url = f"sqlite:///{path}" if kind == "sqlite" else stack.enter_context(postgresql_url(kind))
        assert url is not None
        database = stack.enter_context(Database.open(url))
        database.upgrade()
        if kind == "sqlite":
            before = file_size(path)
            yield Store("SqlSaver", SqlSaver(database), lambda: tables_size(path, before))
        else:
            yield Store("SqlSaver", SqlSaver(database), lambda: relation_size(url, "^abreast_checkpoint"))


@contextmanager
def official_store(kind: str, folder: Path, state: type[Any] = MessagesState) -> Iterator[Store]:
    """Give LangGraph's saver on a new database."""
    with ExitStack() as stack:
        if kind == "sqlite":
            path = folder / f"official{time.monotonic_ns()}.sqlite"
            connection: Any = sqlite3.connect(path, check_same_thread=False)
            stack.callback(connection.close)
            saver: Any = SqliteSaver(connection)
            saver.setup()
            yield Store("SqliteSaver", saver, lambda: file_size(path), state)
            return
        url = stack.enter_context(postgresql_url(kind))
        assert url is not None
        plain = url.replace("postgresql+psycopg", "postgresql")
        pg: Any = stack.enter_context(
            Connection.connect(plain, autocommit=True, prepare_threshold=0, row_factory=dict_row)
        )
        saver = PostgresSaver(pg)
        saver.setup()
        yield Store("PostgresSaver", saver, lambda: relation_size(url, "^checkpoint"), state)
