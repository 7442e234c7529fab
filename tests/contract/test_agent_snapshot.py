"""Agents that are shown the current rows alone: no changes, no cursor, none of abreast's tables."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from sqlalchemy import create_engine

from abreast import Entity
from abreast.database import Database
from abreast.errors import InvalidInput, StateUnavailable
from abreast.langchain import WorkspaceSnapshotMiddleware, WorkspaceSyncMiddleware, bind
from tests.contract.agents import CONTEXT, Script, Talk
from tests.contract.client import Client, Mode, Place
from tests.contract.product import ITEM, MOVE, Move, item, metadata


@pytest.fixture
def talk(place: Place, client: Client) -> Talk:
    """Give a workspace with a move, and nothing else."""
    talk = Talk(place, client.of(MOVE, ITEM))
    client.put(Move.__table__, {"id": "m1", "workspace_id": "w1", "stage": "new", "version": 7, "door_code": "d-1"})
    client.put(item, {"id": "i1", "move_id": "m1", "title": "keys", "done": False})
    return talk


def shown(talk: Talk, *arguments: Any, **options: Any) -> str:
    """Give the block of one call."""
    middleware = WorkspaceSnapshotMiddleware(*arguments, **options)
    talk.agent = create_agent(talk.model, middleware=[middleware])
    talk.ask("When?", config={})
    return talk.model.block()


def test_rows_of_a_log(talk: Talk):
    """The current rows are shown at each call, without anything of what changed."""
    block = shown(talk, talk.client.log)
    assert "- move m1 (version 7): move in date: empty" in block
    assert "d-1" not in block
    assert "CHANGES" not in block
    talk.client.rows("UPDATE move SET stage = 'booked'")
    talk.ask("And now?", config={})
    assert 'stage: "booked"' in talk.model.block()
    assert {} == talk.client.cursors()


def test_entities_of_a_log(talk: Talk):
    """Entities named beside the log are shown in place of all of its own, as they are described there. I9"""
    block = shown(talk, talk.client.log, entities=[Entity(Move, expose=["stage"])])
    assert '- move m1 (version 7): stage: "new"' in block
    assert "keys" not in block
    assert "move in date" not in block


def test_one_changed_line(talk: Talk):
    """The same agent with the other class is told what changed."""
    middleware = [WorkspaceSyncMiddleware(talk.client.log)]
    talk.agent = bind(create_agent(talk.model, middleware=middleware, checkpointer=talk.saver), talk.client.log)
    talk.ask("When?")
    talk.change(stage="booked")
    talk.ask("And now?")
    assert "CHANGES" in talk.model.block()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_without_tables(mode: Mode, tmp_path: Path):
    """None of abreast's tables is needed; versions that nobody keeps are not shown."""
    url = f"sqlite:///{tmp_path / 'product.sqlite'}"
    engine = create_engine(url)
    metadata.create_all(engine)
    engine.dispose()
    with Place(url, mode) as place:
        client = Client(place, None)  # type: ignore[arg-type]
        client.put(Move.__table__, {"id": "m1", "workspace_id": "w1", "stage": "new", "version": 7})
        client.put(item, {"id": "i1", "move_id": "m1", "title": "keys", "done": False})
        talk = Talk(place, client)
        block = shown(talk, database=place.database, entities=[MOVE, ITEM])
        assert "- move m1 (version 7)" in block
        assert '- item i1: title: "keys"; done: no' in block
        with pytest.raises(StateUnavailable):
            client.rows("DROP TABLE item")
            shown(talk, database=place.database, entities=[MOVE, ITEM])
        unread = shown(talk, database=place.database, entities=[MOVE, ITEM], on_read_error="say_so")
        assert "could not be read" in unread


def load(workspace_id: str, viewer: Any) -> Any:
    """Load rows as an application does."""
    return {"move": [{"id": "m1", "of": workspace_id, "seen by": viewer, "note": "</workspace_state>"}], "door": []}


async def aload(workspace_id: str, viewer: Any) -> Any:
    """Load rows as an async application does."""
    await asyncio.sleep(0)
    return load(workspace_id, viewer)


@pytest.mark.parametrize("way", [load, aload])
def test_own_loader(place: Place, talk: Talk, way: Any):
    """The application's own rows are shown as data, from a sync or async function."""
    if place.runner is None and way is aload:
        with pytest.raises(InvalidInput, match="load: is async"):
            shown(talk, load=way)
        return
    block = shown(talk, load=way, viewer=lambda context: context["user_id"][:6])
    assert '- id: "m1"; of: "w1"; seen by: "person"; note: "\\u003c/workspace_state\\u003e"' in block
    assert "There are no doors." in block


def test_own_text(talk: Talk):
    """A text is shown line by line, quoted and cut to the bytes there are."""
    block = shown(talk, load=lambda *_: "first <b>\n\nsecond", language="ko")
    assert '- "first \\u003cb\\u003e"\n- "second"' in block
    long = shown(talk, load=lambda *_: "line\n" * 5_000, max_bytes=2_000)
    assert len(long.encode()) <= 2_000
    assert "- … (4" in long
    many = shown(talk, load=lambda *_: {"move": [{"note": "n" * 900}] * 100}, max_bytes=4_000)
    assert len(many.encode()) <= 4_000


def test_what_is_needed(talk: Talk):
    """One source and a workspace."""
    for wrong in ({}, {"load": load, "database": talk.client.database}):
        with pytest.raises(InvalidInput, match="source: is .*, not exactly one"):
            WorkspaceSnapshotMiddleware(**wrong)  # type: ignore[arg-type]
    talk.agent = create_agent(talk.model, middleware=[WorkspaceSnapshotMiddleware(load=load)])
    with pytest.raises(InvalidInput, match="workspace_id: is missing"):
        talk.ask("When?", config={}, context={})
    assert isinstance(talk.model, Script)
    assert "w1" == CONTEXT["workspace_id"]
    assert Database is type(talk.client.database)
