"""Whole agents in several processes over one database and one store of checkpoints: stopped, killed, at once."""

import contextlib
import json
import os
import signal
import sqlite3
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver

from abreast import Database, WorkspaceLog
from abreast.errors import ThreadBusy
from abreast.langchain import create_synced_agent
from tests.concurrency.children import CONTEXT, barrier, together
from tests.concurrency.fuses import die
from tests.concurrency.product import W, add_items, log_of
from tests.concurrency.test_lease import between_beats, cursor, outcomes, refused, standing, stopped, title, wake, write
from tests.concurrency.watching import until
from tests.contract.agents import Script

THREAD: Any = {"configurable": {"thread_id": "t1"}}
WHO = {"workspace_id": W, "user_id": "u1"}
LEASE_SECONDS = 4.0


@pytest.fixture
def log(database: Database) -> WorkspaceLog:
    """Give a log with one row, and a thread that was opened before the row was changed."""
    made = log_of(database)
    add_items(made, "i1")
    made.open_thread(W, "t1")
    write(made, "changed")
    return made


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Give the file of the checkpoints."""
    return str(tmp_path / "checkpoints.sqlite")


@contextlib.contextmanager
def agent_of(log: WorkspaceLog, store: str, *answers: Any, **options: Any) -> Iterator[tuple[Any, Script]]:
    """Make an agent with a scripted model."""
    with contextlib.closing(sqlite3.connect(store, check_same_thread=False, timeout=30)) as connection:
        model = Script(answers=list(answers))
        options = {"lease_seconds": 1.0, **options}
        yield create_synced_agent(model, log=log, checkpointer=SqliteSaver(connection), **options), model


def ask(agent: Any, text: str | None = "When?") -> Any:
    """Ask, or go on where there is nothing to ask; gives the messages."""
    value = None if text is None else {"messages": [("user", text)]}
    return agent.invoke(value, THREAD, context=WHO)["messages"]


def retitle(title_: str, version: int = 2) -> AIMessage:
    """Give a call that changes the row."""
    call = {"id": "i1", "expected_version": version, "changes": {"title": title_}}
    return AIMessage("", tool_calls=[{"name": "update_item", "args": call, "id": "call_0"}])


# --- I8: an agent that stands still ----------------------------------------------------------------------------------


def stands_still_in_its_model(url: str, store: str, changes: bool) -> str:
    """Run an agent whose process is stopped while its model thinks, which then writes, or answers."""
    log = log_of(Database.open(url))

    def think(_messages: Any) -> AIMessage:
        with between_beats(log):
            os.kill(os.getpid(), signal.SIGSTOP)
        return retitle("late") if changes else AIMessage("late")

    with agent_of(log, store, think) as (agent, _):
        return refused(ask, agent)


@pytest.mark.parametrize("changes", [True, False], ids=["writes", "answers"])
def test_woken_agent(log: WorkspaceLog, product_url: str, store: str, changes: bool):
    """C01 I3 I8: an agent stopped past its limit and taken over commits no tool write and moves no cursor."""
    with stopped(stands_still_in_its_model, product_url, store, changes) as child:
        with agent_of(log, store, AIMessage("in time"), on_busy="queue", busy_timeout=30) as (agent, model):
            ask(agent, "And now?")
            assert "changed" in model.block().partition("CHANGES")[2]
        assert (2, "changed") == (cursor(log), title(log))
        write(log, "meanwhile")
        assert "LeaseLost" == wake(child)
    assert (2, "meanwhile", ["lost", "succeeded"]) == (cursor(log), title(log), outcomes(log))
    assert ["user", "user", "user"] == [event.actor.type for event in log.changes(W)]
    with agent_of(log, store) as (agent, model):
        ask(agent)
        assert "meanwhile" in model.block().partition("CHANGES")[2]


@pytest.mark.parametrize("changes", [True, False], ids=["writes", "answers"])
def test_agent_that_nobody_took_over(log: WorkspaceLog, product_url: str, store: str, changes: bool):
    """C01b I8: one whose lease ran out and was not taken over goes on, writes, and counts."""
    with stopped(stands_still_in_its_model, product_url, store, changes) as child:
        until(lambda: not standing(log).valid)
        assert "" == wake(child)
    assert ["succeeded"] == outcomes(log)
    assert (("late", 3) if changes else ("changed", 2)) == (title(log), cursor(log))


# --- I7: killed between row and checkpoint ----------------------------------------------------------------------------


class Dying(AgentMiddleware):
    """Kills the process once a tool has written, before its result is stored."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        """Carry the call out, and die."""
        handler(request)
        die()


def dies_in_its_tool(url: str, store: str) -> None:
    """Run an agent that is killed in its tool."""
    with agent_of(log_of(Database.open(url)), store, retitle("by the agent"), middleware=[Dying()]) as (agent, _):
        ask(agent)


def test_w06_c04_killed_in_the_tool(log: WorkspaceLog, product_url: str, store: str):
    """W06 I7 I4: a new process that goes on enters the tool again, changes nothing, and gets the recorded result."""
    with together((dies_in_its_tool, product_url, store)) as (child,):
        assert child.died()
    assert ("by the agent", 1) == (title(log), cursor(log))
    with agent_of(log, store, on_busy="queue", busy_timeout=30) as (agent, model):
        result = ask(agent, None)[-2]
        assert "was not carried out again" in result.content
        assert "success" == result.status
        assert "changed" in model.block().partition("CHANGES")[2]
    assert ["insert", "update", "update"] == [event.operation for event in log.changes(W)]
    assert (3, ["lost", "succeeded"]) == (cursor(log), outcomes(log))


# --- C03: two hosts ---------------------------------------------------------------------------------------------------


def serves(url: str, store: str, ports: Any, meet: Any) -> None:
    """Be a host: answer a question over HTTP, 200 with what the agent says, 409 while somebody else runs the thread."""
    log = log_of(Database.open(url))

    def think(messages: Any) -> AIMessage:
        if messages[-1].content == "together":
            meet.wait()
        if messages[-1].content == "endless":
            threading.Event().wait()
        return AIMessage("fine")

    class Host(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = self.rfile.read(int(self.headers["Content-Length"])).decode()
            with agent_of(log, store, think, lease_seconds=LEASE_SECONDS) as (agent, _):
                try:
                    status, body = 200, str(ask(agent, question)[-1].content)
                except ThreadBusy as error:
                    status, body = 409, str(error)
                    if question == "together":
                        meet.wait()
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Host)
    ports.send(server.server_address[1])
    server.serve_forever()


def post(port: int, question: str) -> int:
    """Ask a host, and give the status."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}", question.encode(), timeout=60) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def test_c03_two_hosts(log: WorkspaceLog, product_url: str, store: str):
    """C03 I8: of two starts at one moment one gets 200 and one 409; a host that dies holds the thread for its limit."""
    with contextlib.ExitStack() as stack:
        clients = stack.enter_context(ThreadPoolExecutor(2))
        meet, ports, hosts = barrier(2), [], []
        for _ in range(2):
            ours, theirs = CONTEXT.Pipe(duplex=False)
            hosts.append(stack.enter_context(together((serves, product_url, store, theirs, meet)))[0])
            ports.append(ours.recv())
        assert [200, 409] == sorted(clients.map(post, ports, ["together"] * 2))
        assert ["succeeded"] == outcomes(log)
        waiting = clients.submit(post, ports[0], "endless")
        until(lambda: standing(log).valid)
        assert 409 == post(ports[1], "And now?")
        hosts[0].kill()
        assert 0 == waiting.result()
        assert 409 == post(ports[1], "And now?")
        until(lambda: not standing(log).valid)
        assert 200 == post(ports[1], "And now?")
    assert ["succeeded", "lost", "succeeded"] == outcomes(log)
