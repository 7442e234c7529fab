"""I1, I6 and I7 where an application catches a refusal and commits the rest of its transaction."""

from datetime import date
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.ext.asyncio import create_async_engine

from abreast import Database, WorkspaceLog
from abreast.errors import DatabaseBusy, InvalidInput, WriteRefused
from tests.contract.product import ENTITIES, OTHER_USER, Move, item

MOVE_1 = {"id": "m1", "move_in_date": date(2026, 9, 28)}
ITEM_1 = {"id": "c1", "move_id": "m1", "title": "Boxes"}


@pytest.fixture(params=["connection", "session"])
def kind(request):
    """Use a `Connection` and a `Session` of the application."""
    return request.param


def rename_and_insert_again(client, own, **options):
    """Change a row and insert another one, which is there already and is refused."""
    with pytest.raises(WriteRefused), client.write(within=own.raw, **options) as write:
        write.update(Move, "m1", {"stage": "booked"}, expected_version=1)
        write.insert(item, ITEM_1)


def prepared(client):
    """Give a client whose move has an item."""
    client.insert(Move, MOVE_1)
    client.insert(item, ITEM_1)
    return client


def test_a_caught_refusal_leaves_nothing_of_its_block(client, kind):
    """The block is undone as a whole, what the application did before it is committed. I1"""
    prepared(client)
    with client.own(kind) as own:
        own.execute(text("UPDATE item SET done = NOT done WHERE id = 'c1'"))
        rename_and_insert_again(client, own)
        own.commit()
    assert [("new", 1)] == client.rows("SELECT stage, version FROM move")
    assert [(True,)] == [(bool(done),) for (done,) in client.rows("SELECT done FROM item")]
    assert [("move", "insert"), ("item", "insert")] == [
        (recorded.entity_type, recorded.operation) for recorded in client.recorded()
    ]


def test_a_caught_refusal_can_be_followed_by_another_block(client, kind):
    """The transaction goes on: what is written after the refusal is there with its event. I1"""
    prepared(client)
    with client.own(kind) as own:
        rename_and_insert_again(client, own)
        with client.write(within=own.raw) as write:
            write.update(Move, "m1", {"stage": "done"}, expected_version=1)
        own.commit()
    assert [("done", 2)] == client.rows("SELECT stage, version FROM move")
    assert {"stage": "done"} == client.recorded()[-1].after


def test_a_caught_refusal_has_no_receipt(client, kind):
    """Under the same mutation id the write is tried again, and not reported as done. I7"""
    prepared(client)
    with client.own(kind) as own:
        rename_and_insert_again(client, own, mutation_id="k1")
        own.commit()
    assert [] == client.rows("SELECT mutation_id FROM abreast_mutation")
    with client.own(kind) as own:
        rename_and_insert_again(client, own, mutation_id="k1")
        own.commit()


def test_nobody_writes_between_check_and_change(client, product_url, kind):
    """A row that a block of the application's transaction has checked stays as it is until the commit. I6"""
    prepared(client)
    seen = []

    @event.listens_for(Engine, "before_cursor_execute")
    def interfere(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("UPDATE item") and not seen:
            seen.append(statement)
            with Database.open(product_url, lock_timeout=0.2) as database, pytest.raises(DatabaseBusy):
                change(WorkspaceLog(database, ENTITIES))

    def change(log):
        with log.write("w1", actor=OTHER_USER) as write:
            write.update(item, "c1", {"title": "Crates"}, expected_version=1)

    try:
        with client.own(kind) as own:
            with client.write(within=own.raw) as write:
                write.update(item, "c1", {"title": "Baskets"}, expected_version=1)
            own.commit()
    finally:
        event.remove(Engine, "before_cursor_execute", interfere)
    assert seen
    assert [("Baskets",)] == client.rows("SELECT title FROM item")
    assert [("insert", 1), ("update", 2)] == [
        (recorded.operation, recorded.version) for recorded in client.recorded() if recorded.entity_type == "item"
    ]


def autocommitting(url, mode):
    """Give an engine whose driver commits each statement by itself, without SQLAlchemy's knowledge."""
    options = {"connect_args": {"isolation_level": None}}
    if mode == "sync":
        return create_engine(url, **options)
    return create_async_engine(url.replace("sqlite://", "sqlite+aiosqlite://"), **options)


def test_a_driver_in_autocommit_mode_is_noticed(client, product_url, mode):
    """Row and event would be two transactions: the block is refused before anything is written. I1"""
    if client.kind == "sqlite":
        client._place._application = autocommitting(product_url, mode)
    with client.own("connection") as own:
        if client.kind != "sqlite":
            own.execution_options(isolation_level="AUTOCOMMIT")
        with pytest.raises(InvalidInput, match="AUTOCOMMIT"), client.write(within=own.raw) as write:
            write.insert(Move, MOVE_1)
    assert [] == client.rows("SELECT id FROM move")
