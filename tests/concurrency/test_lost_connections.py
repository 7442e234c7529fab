"""I1 and I7 where a connection is cut, and what is said where there is none."""

import pytest

from abreast import Actor, Database
from abreast.errors import DatabaseUnavailable
from tests.concurrency.backends import ON_POSTGRESQL
from tests.concurrency.product import ITEM, W, add_items, log_of, stored_revisions
from tests.concurrency.proxy import Cut, proxy_to

USER = Actor.user("u1")
COMMITS = [Cut.BEFORE_COMMIT, Cut.AFTER_COMMIT]


@pytest.fixture
def proxy(product_url):
    """Give a way to the database that can be cut."""
    with proxy_to(product_url) as way:
        yield way


@pytest.fixture
def far_log(proxy, product_url):
    """Give a log that goes this way, with a connection that has been used."""
    with Database.open(proxy.url(product_url)) as database:
        log = log_of(database)
        add_items(log, "row")
        yield log


def edit(log, **how):
    """Change the row."""
    with log.write(W, actor=USER, **how) as write:
        write.update(ITEM, "row", {"title": "edited"}, expected_version=1)
    return write.results[0]


async def aedit(log, **how):
    """Change the row by async calls."""
    async with log.awrite(W, actor=USER, **how) as write:
        write.update(ITEM, "row", {"title": "edited"}, expected_version=1)
    return write.results[0]


def state(log, application):
    """Give the row's version and the stored revisions."""
    with application.connect() as connection:
        version = connection.exec_driver_sql("SELECT version FROM item WHERE id = 'row'").scalar_one()
    return version, stored_revisions(application)


@ON_POSTGRESQL
@pytest.mark.parametrize("cut", COMMITS)
def test_unheard_commit_under_a_mutation_id(far_log, proxy, application, cut):
    """A write under a mutation id is sent again by itself and takes effect once. I7"""
    proxy.cut = cut
    result = edit(far_log, mutation_id="k")
    assert 1 == proxy.cuts
    assert (2, 2) == (result.version, result.revision)
    assert result.replayed is (cut is Cut.AFTER_COMMIT)
    assert (2, [1, 2]) == state(far_log, application)


@ON_POSTGRESQL
@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
@pytest.mark.parametrize("cut", COMMITS)
async def test_unheard_commit_of_an_async_call(product_url, log, proxy, application, cut, driver):
    """So is that of an async call, by either driver. I7"""
    add_items(log, "row")
    url = proxy.url(product_url).replace("psycopg", driver)
    async with Database.open(url) as database:
        far_log = log_of(database)
        await far_log.aopen_thread(W, "t1")
        proxy.cut = cut
        result = await aedit(far_log, mutation_id="k")
        assert (1, 2, 2) == (proxy.cuts, result.version, result.revision)
        proxy.cut = cut
        batch = await far_log.aread_batch(W, "t1")
        await far_log.aconfirm(batch)
        assert 2 == proxy.cuts
        assert () == (await far_log.aread_batch(W, "t1")).lines
    assert (2, [1, 2]) == state(log, application)


@ON_POSTGRESQL
@pytest.mark.parametrize("cut", COMMITS)
def test_unheard_commit_without_a_mutation_id(far_log, proxy, application, cut):
    """Without one it is not sent again; the caller is told that it may have taken effect. I7"""
    proxy.cut = cut
    with pytest.raises(DatabaseUnavailable, match="lost during COMMIT: it may have taken effect"):
        edit(far_log)
    expected = (2, [1, 2]) if cut is Cut.AFTER_COMMIT else (1, [1])
    assert expected == state(far_log, application)


@ON_POSTGRESQL
@pytest.mark.parametrize("at", range(1, 8))
def test_cut_within_a_write(far_log, proxy, application, at):
    """A connection lost before the COMMIT costs nothing: the write is sent again by itself. I1 I7"""
    from sqlalchemy import event

    statements = iter(range(1, 1_000))

    def cut_at(*_):
        if next(statements) == at:
            proxy.cut = Cut.NOW

    event.listen(far_log.database._engines.sync(), "before_cursor_execute", cut_at)
    assert 2 == edit(far_log).version
    assert 1 == proxy.cuts
    assert (2, [1, 2]) == state(far_log, application)


@ON_POSTGRESQL
@pytest.mark.parametrize("cut", COMMITS)
def test_unheard_commit_of_a_cursor(far_log, proxy, cut):
    """Confirming, opening and numbering are sent again by themselves. I3"""
    proxy.cut = cut
    far_log.open_thread(W, "t1")
    edit(far_log, number="later")
    proxy.cut = cut
    batch = far_log.read_batch(W, "t1")
    assert [2] == [line.last_revision for line in batch.lines]
    proxy.cut = cut
    far_log.confirm(batch)
    assert 3 == proxy.cuts
    assert () == far_log.read_batch(W, "t1").lines


@ON_POSTGRESQL
@pytest.mark.parametrize("cut", COMMITS)
def test_unheard_upgrade(empty_database_url, cut):
    """An upgrade whose COMMIT is not answered is complete or not there, and is sent again by itself."""
    with proxy_to(empty_database_url) as way:
        way.cut = cut
        with Database.open(way.url(empty_database_url)) as database:
            database.upgrade()
            database.check()
        assert 1 == way.cuts


@ON_POSTGRESQL
def test_server_that_is_not_there_yet(product_url, far_log, proxy):
    """Nobody answers: the caller is told what to do, and the next call after the server has come works."""
    add_items(far_log, "before")
    proxy.target, there = ("127.0.0.1", 1), proxy.target
    with Database.open(proxy.url(product_url)) as database:
        log = log_of(database)
        for call in (database.check, lambda: add_items(log, "new"), lambda: log.snapshot(W)):
            with pytest.raises(DatabaseUnavailable, match=r"check that it runs and is reachable, then try again"):
                call()
        proxy.target = there
        add_items(log, "new")
        assert 3 == log.snapshot(W).head
    assert 3 == far_log.snapshot(W).head
