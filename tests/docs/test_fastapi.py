"""The service of the FastAPI page where something goes wrong: what its caller is told, and what is left behind."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from abreast.runs import Runs
from tests.docs.pages import ROOT, Page, namespace

CONFIG: Any = {"configurable": {"thread_id": "t1"}}
MESSAGES = "/workspaces/w1/threads/t1/messages"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Give the names of the page, with its service running and one move in it."""
    testclient = pytest.importorskip("fastapi.testclient")
    monkeypatch.chdir(tmp_path)
    found = Page(ROOT / "docs" / "fastapi.md")
    with namespace(found.document, {}):
        *blocks, _all_of_it, _shown = found.document
        for block in blocks:
            block.evaluate()
        names = SimpleNamespace(**found.document.namespace)
        with testclient.TestClient(names.app, headers={"user-id": "u1"}) as client:
            client.post("/workspaces/w1/moves", json={"id": "m1", "move_in_date": "2026-09-28"})
            names.client = client
            yield names


def ask(page: Any) -> Any:
    """Ask the agent."""
    return page.client.post(MESSAGES, params={"question": "When?"})


def sent(response: Any) -> list[tuple[str, dict[str, Any]]]:
    """Read a stream of events."""
    parts = (part.split("\n") for part in response.text.strip().split("\n\n"))
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in parts]


def cursor(page: Any) -> int:
    """Say where the thread stands in the database."""
    return page.log.open_thread("w1", "t1").revision


def test_a_conflict_of_checkpoints(page: Any, monkeypatch: pytest.MonkeyPatch):
    """I10: of two notes at once the second is refused, and the first is there."""
    ask(page)
    saver, others = page.agent.checkpointer, ["first"]
    load = saver.aget_tuple

    async def loaded(config: Any) -> Any:
        found = await load(config)
        while others:
            page.agent.update_state(CONFIG, {"messages": [("user", others.pop())]})
        return found

    monkeypatch.setattr(saver, "aget_tuple", loaded)
    refused = page.client.post("/threads/t1/notes", params={"note": "second"})
    assert (409, "CheckpointConflict") == (refused.status_code, refused.json()["error"])
    assert "first" == page.agent.get_state(CONFIG).values["messages"][-1].content
    assert 204 == page.client.post("/threads/t1/notes", params={"note": "second"}).status_code


def test_a_state_that_cannot_be_read(page: Any):
    """I4: a 503 before anything is streamed; the next answer knows what changed meanwhile."""
    ask(page)
    page.client.put("/workspaces/w1/moves/m1", json={"move_in_date": "2026-09-30", "version": 1})
    page.log.database.run(lambda connection: connection.execute(text("ALTER TABLE move RENAME TO away")))
    refused = ask(page)
    assert (503, "StateUnavailable") == (refused.status_code, refused.json()["error"])
    page.log.database.run(lambda connection: connection.execute(text("ALTER TABLE away RENAME TO move")))
    assert (1, 200, 2) == (cursor(page), ask(page).status_code, cursor(page))


def test_a_failure_behind_the_first_part(page: Any):
    """I8: a run that is taken over in the middle of its answer tells it as an event, and confirms nothing."""
    ask(page)
    page.client.put("/workspaces/w1/moves/m1", json={"move_in_date": "2026-09-30", "version": 1})
    later = Runs(page.log)

    def taken_over() -> Iterator[str]:
        steal = text("UPDATE abreast_thread_lease SET expires_at = 1")
        page.log.database.run(lambda connection: connection.execute(steal))
        later.enter("t1", "w1")
        yield "On September 30."

    page.model.messages = taken_over()
    events = sent(ask(page))
    assert ("token", "On") == (events[0][0], events[0][1]["text"])
    assert ("error", 409, "LeaseLost") == (events[-1][0], events[-1][1]["status"], events[-1][1]["error"])
    assert 1 == cursor(page)
