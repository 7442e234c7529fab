"""I1 when async calls are cancelled: nothing of theirs keeps the next writer waiting."""

import asyncio
import gc
import warnings

import pytest
from sqlalchemy import make_url
from sqlalchemy.exc import SAWarning

from abreast import Actor, Database
from tests.concurrency.backends import ON_ASYNC_DRIVERS
from tests.concurrency.product import ITEM, W, add_items, log_of
from tests.concurrency.test_cancelled import at_every_wait

USER = Actor.user("u1")


@pytest.fixture
async def far_log(product_url, driver):
    """Give a log of async calls that is not helped by the garbage collector."""
    url = make_url(product_url).set(drivername=driver).render_as_string(hide_password=False)
    gc.disable()
    async with Database.open(url) as database:
        yield log_of(database)
    gc.enable()
    with warnings.catch_warnings():
        warnings.simplefilter("error", SAWarning)
        gc.collect()


async def edit(log):
    """Change the row."""
    async with log.awrite(W, actor=USER) as write:
        write.update(ITEM, "row", {"title": "edited"}, expected_version="any")


@pytest.fixture
def check(open_database):
    """Give a function with which another writer, in a thread, gets the lock at once."""
    other = log_of(open_database(lock_timeout=1))
    add_items(other, "row")

    def write():
        with other.write(W, actor=USER) as block:
            block.update(ITEM, "row", {"place": "other"}, expected_version="any")

    async def in_thread(_=None):
        await asyncio.to_thread(write)

    return in_thread


@ON_ASYNC_DRIVERS
async def test_cancelled_at_each_wait(far_log, check):
    """After a cancel at each wait the next writer goes on at once."""
    assert await at_every_wait(lambda _: edit(far_log), check) >= 5


@ON_ASYNC_DRIVERS
@pytest.mark.parametrize("cancels", [1, 2])
async def test_cancelled_at_each_moment(far_log, check, cancels):
    """After a cancel at any moment, and after a second one on its heels, the next writer goes on at once."""
    await edit(far_log)
    for ticks in range(80):
        task = asyncio.create_task(edit(far_log))
        for _ in range(ticks // 2):
            await asyncio.sleep(0.0005 if ticks % 2 else 0)
        for _ in range(cancels):
            task.cancel()
            await asyncio.sleep(0)
        await asyncio.wait({task})
        assert task.cancelled() or task.exception() is None
        await check()
    await far_log.database._endings.settled()
    assert 0 == far_log.database._engines.of_loop().sync_engine.pool.checkedout()
