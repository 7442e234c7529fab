"""What works on a server that only reads, and what it says where more is needed."""

import pytest

from abreast import Database
from abreast.errors import DatabaseUnavailable
from tests.concurrency.product import W, add_items, log_of, make_tables


@pytest.mark.external
@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
async def test_hot_standby(private_postgresql, driver):
    """Rows and changes are read as long as nothing waits for a number; else the primary is asked for. I4 I5"""
    server = private_postgresql
    with Database.open(server.url()) as primary:
        primary.upgrade()
        make_tables(primary)
        log = log_of(primary)
        log.open_workspace(W)
        log.open_thread(W, "t1")
        add_items(log, "row")
    server.stop()
    (server.data / "standby.signal").touch()
    server.start()
    async with Database.open(server.url().replace("psycopg", driver)) as database:
        standby = log_of(database)
        for _ in range(2):
            batch = await standby.aread_batch(W, "t1")
            assert ["row"] == [line.entity_id for line in batch.lines]
            with pytest.raises(DatabaseUnavailable, match="25006: the server is read-only .*connect to the primary"):
                await standby.aread_batch(W, "new thread")
            with pytest.raises(DatabaseUnavailable, match="25006: the server is read-only"):
                await standby.aconfirm(batch)
        assert 1 == (await standby.asnapshot(W)).head
    if driver == "psycopg":
        with Database.open(server.url()) as database:
            assert 1 == log_of(database).read_batch(W, "t1").cursor_after.revision
            with pytest.raises(DatabaseUnavailable, match="25006: the server is read-only"):
                add_items(log_of(database), "new")
            with pytest.raises(DatabaseUnavailable, match="25006: the server is read-only"):
                database.upgrade()


@pytest.mark.external
@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
async def test_statement_that_takes_too_long(private_postgresql, driver):
    """The time limit is told, of reads and writes, and nobody is asked to check values."""
    server = private_postgresql
    with Database.open(server.url()) as primary:
        primary.upgrade()
        make_tables(primary)
        add_items(log_of(primary), "row")
    with server.connect() as connection:
        connection.execute("ALTER SYSTEM SET statement_timeout = '300ms'")
        connection.execute("SELECT pg_reload_conf()")
    async with Database.open(server.url().replace("psycopg", driver)) as database:
        log = log_of(database)
        await database.acheck()
        with server.connect() as holder, holder.transaction():
            holder.execute("LOCK TABLE item IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(DatabaseUnavailable, match="57014: the statement ran longer than statement_timeout"):
                await log.asnapshot(W)
            with pytest.raises(DatabaseUnavailable, match="57014: the statement ran longer than statement_timeout"):
                await log.aread_batch(W, "t1")
