"""I2, I6: a row that is inserted again goes on counting, whoever deleted it and when."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, event
from sqlalchemy.exc import DBAPIError

from abreast import Entity
from abreast.errors import Conflict
from tests.contract.client import Client
from tests.contract.product import OTHER_USER
from tests.servers.shared import POSTGRESQL

metadata = MetaData()
counted = Table(
    "counted",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("title", String(40)),
    Column("version", Integer, nullable=False),
)
plain = Table(
    "plain",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("title", String(40)),
)

ON_POSTGRESQL = pytest.mark.parametrize(
    "backend", [pytest.param(kind, marks=pytest.mark.external) for kind in POSTGRESQL], indirect=True
)
IN_BOTH_WAYS = pytest.mark.parametrize("table", [counted, plain], ids=["column", "kept"])
"""Where a writer waits for nobody, as with one writer at a time, none of this can happen."""


@pytest.fixture
def client(make_client: Callable[..., Client]) -> Client:
    """Give a log of rows with a version column and of rows without one."""
    return make_client(metadata, Entity(counted, expose=["title"]), Entity(plain, expose=["title"]))


@contextlib.contextmanager
def before_insert(client: Client, table: Table, act: Callable[[], Any]) -> Iterator[None]:
    """Do something between the plan of an insert and the statement."""
    engines = client._place.engines()
    left = [act]

    def hook(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(f"INSERT INTO {table.name}") and left:
            left.pop()()

    for engine in engines:
        event.listen(engine, "before_cursor_execute", hook)
    try:
        yield
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", hook)
    assert not left


def delete_elsewhere(client: Client, table: Table) -> None:
    """Delete a row by the log in a transaction of its own, from a connection past the client."""
    with client.engine().begin() as connection, client.log.write("w1", actor=OTHER_USER, within=connection) as write:
        write.delete(table, "m1", expected_version="any")


def put(client: Client, table: Table) -> None:
    """Put a row past the log."""
    version = {"version": 1} if table is counted else {}
    client.put(table, {"id": "m1", "workspace_id": "w1", "title": "first", **version})


def told(client: Client) -> list[tuple[int | None, str, int]]:
    """List a workspace's events: revision, operation, version."""
    return [(event.revision, event.operation, event.version) for event in client.changes()]


@ON_POSTGRESQL
@IN_BOTH_WAYS
def test_an_insert_that_waited_for_a_deletion_counts_on(client, table):
    """A row deleted between an insert's plan and its statement gives no version twice, nor a wrong order. I2 I6"""
    put(client, table)
    client.open_thread()
    with before_insert(client, table, lambda: delete_elsewhere(client, table)):
        result = client.insert(table, {"id": "m1", "title": "second"})
    assert [(1, "delete", 2), (2, "insert", 3)] == told(client)
    assert 3 == result.version == client.update(table, "m1", {"title": "third"}, 3).version - 1
    batch = client.read_batch()
    assert (3, "third") == (batch.cursor_after.revision, batch.current[table.name, "m1"].values["title"])


@ON_POSTGRESQL
def test_a_recorded_row_that_is_deleted_meanwhile_counts_on(client):
    """So does a row whose insert was recorded too. I2 I6"""
    client.insert(counted, {"id": "m1", "title": "first"})
    with before_insert(client, counted, lambda: delete_elsewhere(client, counted)):
        client.insert(counted, {"id": "m1", "title": "second"})
    assert [(1, "insert", 1), (2, "delete", 2), (3, "insert", 3)] == told(client)
    assert [(3,)] == client.rows("SELECT version FROM counted")


@ON_POSTGRESQL
@IN_BOTH_WAYS
def test_further_changes_of_the_block_count_on_too(client, table):
    """What a block does to its row after such an insert begins where that ended; the receipt says the same. I6 I7"""
    put(client, table)
    for replayed in (False, True):
        hook = contextlib.nullcontext()
        if not replayed:
            client.number("w1")
            hook = before_insert(client, table, lambda: delete_elsewhere(client, table))
        with hook, client.write(mutation_id="k1") as write:
            write.insert(table, {"id": "m1", "title": "second"})
            write.update(table, "m1", {"title": "third"}, expected_version="any")
            write.update(table, "m1", {"title": "third"}, expected_version="any")
            write.delete(table, "m1", expected_version="any")
        assert [(3, replayed), (4, replayed), (4, replayed), (5, replayed)] == [
            (result.version, result.replayed) for result in write.results
        ]
    assert [2, 3, 4, 5] == [version for _, _, version in told(client)]


@ON_POSTGRESQL
@IN_BOTH_WAYS
@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
@pytest.mark.parametrize("known", [True, False], ids=["deleted since", "made and deleted since"])
def test_a_transaction_that_sees_an_old_state_inserts_nothing(client, table, level, known):
    """In a caller's transaction older than a deletion the insert is refused as one to be run again. I1 I6"""
    if known:
        put(client, table)
    with client.own("connection") as own:
        own.execution_options(isolation_level=level)
        own.exec_driver_sql("SELECT 1 FROM counted")
        if not known:
            put(client, table)
        delete_elsewhere(client, table)
        with pytest.raises(DBAPIError) as raised, client.write(within=own.raw) as write:
            write.insert(table, {"id": "m1", "title": "second"})
        assert "40001" == raised.value.orig.sqlstate
        own.rollback()
        with client.write(within=own.raw) as write:
            write.insert(table, {"id": "m1", "title": "second"})
        own.commit()
    assert [(1, "delete", 2), (2, "insert", 3)] == told(client)


@ON_POSTGRESQL
@IN_BOTH_WAYS
@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_row_deleted_past_the_log_is_a_conflict_there(client, table, level):
    """Such a transaction sees the row that it inserts and the one that was deleted: that is said, and undone. I1"""
    put(client, table)
    with client.own("connection") as own:
        own.execution_options(isolation_level=level)
        own.exec_driver_sql("SELECT 1 FROM counted")
        client.rows(f"DELETE FROM {table.name}")
        with pytest.raises(Conflict, match="run it again"), client.write(within=own.raw) as write:
            write.insert(table, {"id": "m1", "title": "second"})
        own.commit()
    assert ([], []) == (client.rows(f"SELECT id FROM {table.name}"), client.recorded())


@IN_BOTH_WAYS
def test_an_ordinary_insert_sends_no_statement_for_this(client, table):
    """What guards a version travels in the statement that reads the row back. I6"""
    client.insert(table, {"id": "m0"})
    with client.statements() as sent:
        client.insert(table, {"id": "m1"})
    spoken = [statement for statement in sent if f" {table.name}" in statement]
    assert 2 == len(spoken)
    assert spoken[0].startswith("INSERT")
    assert spoken[1].startswith("SELECT")


@IN_BOTH_WAYS
def test_an_insert_in_a_callers_transaction_leaves_the_same(client, table):
    """At the usual level a caller's transaction writes what one of ours does. I1"""
    with client.own("connection") as own:
        with client.write(within=own.raw) as write:
            write.insert(table, {"id": "m1", "title": "first"})
        own.commit()
    client.delete(table, "m1", 1)
    client.insert(table, {"id": "m1", "title": "second"})
    assert [(1, "insert", 1), (2, "delete", 2), (3, "insert", 3)] == told(client)
