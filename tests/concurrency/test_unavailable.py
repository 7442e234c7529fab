"""What callers are told when a database is locked, read-only, absent, or named wrongly."""

import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import make_url

from abreast import AbreastError, Database
from abreast.errors import DatabaseUnavailable, InvalidDatabase
from tests.concurrency import children
from tests.concurrency.backends import ON_SQLITE
from tests.concurrency.product import ITEM, USER, W, add_items, log_of, stored_revisions

LOCK_TIMEOUT = 0.3
SECRET = "pa55word-of-nobody"
WAY_OUT = r"check that it runs and is reachable, then try again: a write with a mutation_id is safe to repeat"


def hold_the_lock(path, holding, release):
    """Keep a SQLite file locked from another process until told to let go."""
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute("BEGIN IMMEDIATE")
        holding.set()
        release.wait(60)
        connection.execute("ROLLBACK")
    connection.close()


@pytest.fixture
def locked(product_url):
    """Keep the file locked by another process; gives a function that lets go."""
    holding, release = children.CONTEXT.Event(), children.CONTEXT.Event()
    path = make_url(product_url).database

    def lock():
        child = children.start(hold_the_lock, path, holding, release)
        assert holding.wait(60)

        def let_go():
            release.set()
            child.result()

        return let_go

    yield lock
    release.set()


@ON_SQLITE
def test_file_locked_by_another_process(open_database, application, locked):
    """After the lock time-out, once, the caller is told that the file is locked; nothing is stored."""
    log = log_of(open_database(lock_timeout=LOCK_TIMEOUT))
    add_items(log, "before")
    let_go = locked()
    began = time.monotonic()
    with pytest.raises(DatabaseUnavailable, match=r"SQLITE_BUSY: database is locked\); end the transaction"):
        add_items(log, "meanwhile")
    assert LOCK_TIMEOUT <= time.monotonic() - began < 5 * LOCK_TIMEOUT
    assert [1] == stored_revisions(application)
    assert 1 == log.snapshot(W).head
    let_go()
    add_items(log, "afterwards")
    assert [1, 2] == stored_revisions(application)


@ON_SQLITE
async def test_file_locked_for_an_async_call(open_database, application, locked):
    """So is the caller of an async call, and no connection stays in use. I1"""
    database = open_database(lock_timeout=LOCK_TIMEOUT)
    log = log_of(database)
    add_items(log, "before")
    let_go = locked()
    with pytest.raises(DatabaseUnavailable, match="SQLITE_BUSY: database is locked"):
        async with log.awrite(W, actor=USER) as write:
            write.insert(ITEM, {"id": "meanwhile"})
    let_go()
    async with log.awrite(W, actor=USER) as write:
        write.insert(ITEM, {"id": "afterwards"})
    assert [1, 2] == stored_revisions(application)
    assert 0 == database._engines.of_loop().sync_engine.pool.checkedout()
    await database.aclose()


@ON_SQLITE
def test_shorter_lock_is_waited_for(open_database, locked):
    """A lock that ends before the time-out only delays."""
    log = log_of(open_database(lock_timeout=20))
    let_go = locked()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(add_items, log, "row")
        let_go()
        waiting.result()
    assert ["row"] == [event.entity_id for event in log.changes(W)]


@ON_SQLITE
def test_read_only_file(product_url, log):
    """What only reads works on a read-only file; a write is refused in the database's words, nothing is stored."""
    add_items(log, "row")
    log.open_thread(W, "t1")
    path = make_url(product_url).database
    with Database.open(f"sqlite:///file:{path}?mode=ro&uri=true") as database:
        reading = log_of(database)
        assert 1 == reading.snapshot(W).head
        assert () == reading.read_batch(W, "t1").lines
        with pytest.raises(DatabaseUnavailable, match="SQLITE_READONLY: attempt to write a readonly database"):
            add_items(reading, "new")
        with pytest.raises(DatabaseUnavailable, match="SQLITE_READONLY"):
            reading.open_thread(W, "t2")
    assert 1 == log.snapshot(W).head


def test_folder_that_is_not_there(tmp_path):
    """A file that cannot be made is named as such; nothing is made in its place."""
    with Database.open(f"sqlite:///{tmp_path / 'nowhere' / 'app.db'}") as database:
        with pytest.raises(DatabaseUnavailable, match=r"nowhere/app.db .*unable to open database file"):
            database.upgrade()
    assert [] == list(tmp_path.iterdir())


def test_file_that_is_no_database(tmp_path):
    """A file of something else is refused by an error of abreast's, and left as it is."""
    path = tmp_path / "notes.txt"
    path.write_text("buy milk\n" * 200)
    with Database.open(f"sqlite:///{path}") as database:
        with pytest.raises(AbreastError, match="SQLITE_NOTADB: file is not a database"):
            database.upgrade()
    assert path.read_text() == "buy milk\n" * 200


@pytest.mark.parametrize(
    ("url", "driver", "told"),
    [
        ("sqlite:///app.db", "aiosqlite", r"its driver 'aiosqlite' is not installed; pip install 'abreast\[sqlite\]'"),
        (
            f"postgresql://u:{SECRET}@localhost/app",
            "psycopg",
            r"its driver 'psycopg' is not installed; pip install 'abreast\[postgresql\]'",
        ),
    ],
)
async def test_driver_that_is_not_installed(monkeypatch, url, driver, told):
    """The package to install is named, the password is not."""
    monkeypatch.setitem(sys.modules, driver, None)
    database = Database.open(url)
    with pytest.raises(InvalidDatabase, match=told) as caught:
        await database.acheck()
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://u:{SECRET}@host:port/app",
        f"postgres//u:{SECRET}@host/app",
        f"redis://u:{SECRET}@host/0",
        f"u:{SECRET}@host",
        "",
        "app.db",
        "sqlite://",
        "sqlite:///:memory:",
    ],
)
def test_url_that_cannot_be_used(url):
    """A wrong URL is refused when it is given, with an example or the reason, without its password."""
    with pytest.raises(InvalidDatabase, match="; .+") as caught:
        Database.open(url)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
async def test_nobody_listens(driver):
    """A server that does not answer is named without its password, by each driver."""
    database = Database.open(f"postgresql+{driver}://u:{SECRET}@127.0.0.1:1/app")
    with pytest.raises(DatabaseUnavailable, match=rf"u:\*\*\*@127.0.0.1:1/app .*{WAY_OUT}") as caught:
        await database.acheck()
    assert SECRET not in f"{caught.value} {caught.value.__cause__}"


@pytest.mark.external
async def test_server_that_refuses(private_postgresql):
    """A wrong password, too many connections and an unknown database are told, in words without the password."""
    server = private_postgresql
    with server.connect() as connection:
        connection.execute(f"CREATE ROLE app LOGIN PASSWORD '{SECRET}' CONNECTION LIMIT 1")
    rules = server.data / "pg_hba.conf"
    rules.write_text(f"host all app 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
    with server.connect() as connection:
        connection.execute("SELECT pg_reload_conf()")
    right = make_url(server.url()).set(username="app", password=SECRET)
    wrong = right.set(password=f"{SECRET}-no")
    await assert_refused(wrong, "password authentication failed")
    await assert_refused(right.set(database="nowhere"), "nowhere")
    with Database.open(right.render_as_string(hide_password=False)) as database:
        with database._engines.sync().connect():
            await assert_refused(right, "too many connections|53300")


async def assert_refused(url, reason):
    """See to it that sync and async calls of both drivers tell the reason and not the password."""
    for driver in ("psycopg", "asyncpg"):
        text = url.set(drivername=f"postgresql+{driver}").render_as_string(hide_password=False)
        database = Database.open(text)
        if driver == "psycopg":
            with pytest.raises(DatabaseUnavailable, match=reason) as caught:
                database.check()
            assert SECRET not in f"{caught.value} {caught.value.__context__!r}"
        with pytest.raises(DatabaseUnavailable, match=reason) as caught:
            await database.acheck()
        assert SECRET not in f"{caught.value} {caught.value.__context__!r}"
        await database.aclose()
