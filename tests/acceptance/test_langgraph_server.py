"""LangGraph's own development server runs a bound graph: I3, I4 and I8 hold for its threads, runs and strategies."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from abreast import Actor, Database, WorkspaceLog
from tests.conftest import or_skip
from tests.contract import product
from tests.contract.product import MOVE, Move
from tests.servers.shared import ServerMissing

pytestmark = pytest.mark.timeout(300)

CONTEXT = {"workspace_id": "w1"}
SERVER = Path(sys.executable).with_name("langgraph")
ROOT = Path(__file__).parents[2]
GRAPH = """
import asyncio
import json
import os
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import interrupt

from abreast import Database, WorkspaceLog
from abreast.langgraph import CursorState, WorkspaceNodes, bind
from tests.contract.product import MOVE

log = WorkspaceLog(Database.open(os.environ["MOVES_URL"]), [MOVE])
nodes = WorkspaceNodes(log)
requests = open(os.environ["MOVES_REQUESTS"], "a")


class Context(TypedDict, total=False):
    workspace_id: str


class State(CursorState):
    messages: Annotated[list[AnyMessage], add_messages]


def note(messages):
    question = messages[-1].content
    print(json.dumps([question, [str(message.content) for message in messages]]), file=requests, flush=True)
    return question


async def answer(messages):
    question = note(messages)
    if question == "fail":
        raise ConnectionError("the provider is away")
    if question == "slow":
        await asyncio.sleep(3)
    if question == "endless":
        await asyncio.sleep(60)
    return AIMessage("answer to " + question)


def approve(state):
    return {"messages": [("user", interrupt("may I?"))]} if state["messages"][-2].content == "ask me" else {}


model = nodes.model(RunnableLambda(note, answer))
builder = StateGraph(State, context_schema=Context)
builder.add_node("model", model).add_edge(START, "model")
builder.add_node("approve", approve).add_edge("model", "approve")
builder.add_conditional_edges(
    "approve", lambda state: "again" if state["messages"][-1].type == "human" else "nominate", ["again", "nominate"]
)
builder.add_node("again", model).add_edge("again", "nominate")
builder.add_node("nominate", nodes.nominate)
graph = bind(builder.compile(), log, on_busy="queue")
"""


class Moves:
    """
    A served graph, its clients and its workspace.

    Attributes:
        client: LangGraph's client.
    """

    def __init__(self, url: str, server: str, requests: Path) -> None:
        from langgraph_sdk import get_sync_client  # noqa: PLC0415 - comes with the server

        self.client = get_sync_client(url=server)
        self._requests = requests
        self._engine = create_engine(url)
        self.log = WorkspaceLog(Database.open(url), [MOVE])

    def thread(self) -> str:
        """Begin a conversation that knows the workspace as it is."""
        thread_id = self.client.threads.create()["thread_id"]
        self.ask(thread_id, "hello")
        return thread_id

    def change(self, stage: str) -> str:
        """Change the move on a screen."""
        with self.log.write("w1", actor=Actor.user("u2")) as write:
            write.update(Move, "m1", {"stage": stage}, expected_version="any")
        return stage

    def ask(self, thread_id: str, question: str, **options: Any) -> Any:
        """Ask and wait for the answer."""
        return self.client.runs.wait(thread_id, "moves", **said(question), **options)

    def start(self, thread_id: str, question: str, **options: Any) -> str:
        """Ask and do not wait; gives the run's id once the model is asked."""
        run = self.client.runs.create(thread_id, "moves", **said(question), **options)
        until(lambda: self.questions()[-1:] == [question])
        return run["run_id"]

    def questions(self) -> list[str]:
        """List what models were asked."""
        return [json.loads(line)[0] for line in self._requests.read_text().splitlines()]

    def told(self) -> str:
        """Give the changes that a model was told last."""
        messages = json.loads(self._requests.read_text().splitlines()[-1])[1]
        (block,) = [message for message in messages if "<workspace_state" in message]
        return block.partition("CHANGES")[2]

    def cursor(self, thread_id: str) -> int:
        """Say where a conversation stands."""
        return self._one("SELECT revision FROM abreast_thread_cursor WHERE thread_id = '%s'", thread_id)

    def head(self) -> int:
        """Give HEAD."""
        return self.log.snapshot("w1").head

    def holder(self, thread_id: str) -> str:
        """Say who has a thread's lease."""
        return self._one("SELECT run_id FROM abreast_thread_lease WHERE thread_id = '%s'", thread_id)

    def outcomes(self, thread_id: str) -> list[str]:
        """List how a thread's runs ended."""
        with self._engine.connect() as connection:
            statement = "SELECT outcome FROM abreast_run WHERE thread_id = '%s' ORDER BY fence"
            return [row[0] for row in connection.exec_driver_sql(statement % thread_id)]

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()
        self.log.database.close()
        self.client.http.client.close()

    def _one(self, statement: str, thread_id: str) -> Any:
        with self._engine.connect() as connection:
            return connection.exec_driver_sql(statement % thread_id).scalar_one()


def said(question: str) -> dict[str, Any]:
    """Write a question as the client sends it."""
    return {"input": {"messages": [{"role": "user", "content": question}]}, "context": CONTEXT}


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Return when a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"did not happen within {seconds} s")
        time.sleep(0.05)


def command() -> str:
    """Find the server's program."""
    if not SERVER.exists():
        raise ServerMissing("LangGraph's server is missing: pip install 'langgraph-cli[inmem]'")
    return str(SERVER)


@pytest.fixture(scope="module")
def moves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moves]:
    """Serve a bound graph."""
    program = or_skip(command)
    folder = tmp_path_factory.mktemp("served")
    url = f"sqlite:///{folder / 'moves.sqlite'}"
    product.create(url)
    with Database.open(url) as database, WorkspaceLog(database, [MOVE]).write("w1", actor=Actor.user("u1")) as write:
        write.insert(Move, {"id": "m1", "stage": "new"})
    (folder / "moves.py").write_text(GRAPH)
    (folder / "langgraph.json").write_text(json.dumps({"dependencies": ["."], "graphs": {"moves": "./moves.py:graph"}}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "MOVES_URL": url,
        "MOVES_REQUESTS": str(folder / "requests"),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    }
    with (folder / "log").open("w") as output:
        server = subprocess.Popen(
            [program, "dev", "--no-browser", "--no-reload", "--port", str(port), "--host", "127.0.0.1"],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        until(lambda: server.poll() is not None or answers(address), 120)
        assert server.poll() is None, (folder / "log").read_text()
        opened = Moves(url, address, folder / "requests")
        yield opened
        opened.close()
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def answers(address: str) -> bool:
    """Say whether the server is up."""
    try:
        with urllib.request.urlopen(f"{address}/ok", timeout=2) as response:  # noqa: S310 - our own address
            return response.status == 200
    except OSError:
        return False


def test_success_and_failure(moves: Moves):
    """I3 I4: a served run that succeeds moves the cursor, one that fails is followed by the same changes."""
    thread_id = moves.thread()
    stage = moves.change("booked")
    with pytest.raises(Exception, match=r"the provider is away|ConnectionError"):
        moves.ask(thread_id, "fail")
    assert moves.head() == moves.cursor(thread_id) + 1
    answer = moves.ask(thread_id, "and now?")
    assert "answer to and now?" == answer["messages"][-1]["content"]
    assert stage in moves.told()
    assert moves.head() == moves.cursor(thread_id)
    assert ["succeeded", "unavailable", "succeeded"] == moves.outcomes(thread_id)


def test_interrupt_is_resumed_without_context(moves: Moves):
    """I3: the server does not keep the context; the thread's binding says which workspace it is."""
    thread_id = moves.thread()
    moves.change("asked")
    found = moves.ask(thread_id, "ask me")
    assert "__interrupt__" in found
    assert (moves.head() - 1, "") == (moves.cursor(thread_id), moves.holder(thread_id))
    stage = moves.change("packed")
    moves.client.runs.wait(thread_id, "moves", command={"resume": "yes"})
    assert stage in moves.told()
    assert moves.head() == moves.cursor(thread_id)
    assert ["succeeded", "interrupted", "succeeded"] == moves.outcomes(thread_id)


def test_streamed(moves: Moves):
    """I3: a stream that is read to its end confirms."""
    thread_id = moves.thread()
    moves.change("streamed")
    parts = list(moves.client.runs.stream(thread_id, "moves", stream_mode=["updates", "messages"], **said("when?")))
    assert "error" not in [part.event for part in parts]
    assert moves.head() == moves.cursor(thread_id)


@pytest.mark.parametrize("strategy", ["enqueue", "interrupt", "rollback"])
def test_second_message(moves: Moves, strategy: Any):
    """I3 I8: whatever the server does with a message for a busy thread, one run at a time, and nothing is missed."""
    thread_id = moves.thread()
    stage = moves.change(f"before {strategy}")
    first = moves.start(thread_id, "slow" if strategy == "enqueue" else "endless")
    answer = moves.ask(thread_id, "second", multitask_strategy=strategy)
    assert "answer to second" == answer["messages"][-1]["content"]
    assert (moves.head(), "") == (moves.cursor(thread_id), moves.holder(thread_id))
    ended = "succeeded" if strategy == "enqueue" else "stopped"
    assert ["succeeded", ended, "succeeded"] == moves.outcomes(thread_id)
    assert (stage in moves.told()) is (strategy != "enqueue")
    if strategy != "rollback":
        status = moves.client.runs.get(thread_id, first)["status"]
        assert ("success" if strategy == "enqueue" else "interrupted") == status


def test_second_message_is_rejected(moves: Moves):
    """I8: the server itself refuses; the running run is not disturbed."""
    thread_id = moves.thread()
    moves.change("rejected")
    first = moves.start(thread_id, "slow")
    with pytest.raises(Exception, match="409"):
        moves.ask(thread_id, "second", multitask_strategy="reject")
    moves.client.runs.join(thread_id, first)
    assert (moves.head(), "") == (moves.cursor(thread_id), moves.holder(thread_id))
    assert ["succeeded", "succeeded"] == moves.outcomes(thread_id)


def test_cancelled(moves: Moves):
    """I4: a run that the client cancels gives its lease back and confirms nothing."""
    thread_id = moves.thread()
    stage = moves.change("cancelled")
    run_id = moves.start(thread_id, "endless")
    moves.client.runs.cancel(thread_id, run_id, wait=True)
    until(lambda: moves.holder(thread_id) == "", 20)
    assert moves.head() == moves.cursor(thread_id) + 1
    moves.ask(thread_id, "again")
    assert stage in moves.told()
    assert ["succeeded", "stopped", "succeeded"] == moves.outcomes(thread_id)


def test_another_process_runs_the_thread(moves: Moves):
    """I8: a thread that runs in a process beside the server is waited for, and its lease is the same one."""
    from abreast.runs import Runs  # noqa: PLC0415 - beside the server

    thread_id = moves.thread()
    beside = Runs(moves.log)
    run = beside.enter(thread_id, "w1")
    waiting = moves.client.runs.create(thread_id, "moves", **said("meanwhile"))
    time.sleep(1)
    assert "meanwhile" not in moves.questions()
    beside.leave(run, "succeeded")
    moves.client.runs.join(thread_id, waiting["run_id"])
    assert ["succeeded"] * 3 == moves.outcomes(thread_id)
