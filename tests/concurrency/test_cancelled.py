"""I1, I3 and I7 when async calls are cancelled: at every point where they wait."""

import asyncio
from functools import partial
from itertools import count

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

from abreast import Actor, Database
from tests.concurrency.backends import ON_ASYNC_DRIVERS, ON_ASYNC_POSTGRESQL
from tests.concurrency.product import ITEM, PART, W, add_items, log_of, stored_revisions

ACTOR = Actor.agent("assistant")
NOTHING, EVERYTHING = (0, 0, 0, 0), (1, 1, 2, 1)


class Cancelling:
    """Awaits something, and cancels the task that does so when it waits for the `at`-th time."""

    def __init__(self, awaited, at):
        self.awaited = awaited
        self.at = at

    def __await__(self):
        steps = self.awaited.__await__()
        go_on = partial(next, steps)
        for step in count(1):
            try:
                waited_for = go_on()
            except StopIteration as done:
                return done.value
            if step == self.at:
                asyncio.current_task().cancel()
            try:
                yield waited_for
                go_on = partial(steps.send, None)
            except BaseException as error:
                go_on = partial(steps.throw, error)


async def at_every_wait(call, check):
    """Cancel a call at its 1st, 2nd … wait until it ends before that; each time look at what is there."""
    for at in count(1):
        cancelled = await is_cancelled(call(at), at)
        await check(at)
        if not cancelled:
            return at
    return None


async def is_cancelled(call, at):
    """Say whether a call still waits for an `at`-th time, at which it is cancelled; it runs in a task of its own."""
    try:
        await asyncio.create_task(run(Cancelling(call, at)))
    except asyncio.CancelledError:
        return True
    return False


async def run(awaited):
    """Await."""
    return await awaited


@pytest.fixture
def url(product_url, driver):
    """Give the database's URL for an async driver."""
    return make_url(product_url).set(drivername=driver).render_as_string(hide_password=False)


@pytest.fixture
async def far_log(url):
    """Give a log of async calls; no connection stays in use at the end."""
    async with Database.open(url, lock_timeout=2.0) as database:
        await database.acheck()
        yield log_of(database)
        await settled(database)


async def settled(database):
    """See to it that no connection stays in use."""
    pool = database._engines.of_loop().sync_engine.pool
    for _ in range(200):
        if not pool.checkedout():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{pool.checkedout()} connections stay in use")


def stored(engine, row):
    """Count past the library what a write leaves: row, part, events, receipts."""
    counts = f"""
        SELECT (SELECT count(*) FROM item WHERE id = '{row}' AND version = 2),
            (SELECT count(*) FROM part WHERE id = 'part {row}'),
            (SELECT count(*) FROM abreast_workspace_event WHERE run_id = 'run {row}'),
            (SELECT count(*) FROM abreast_mutation WHERE mutation_id = 'mutation {row}')
    """
    plain = create_engine(engine.url)
    with plain.connect() as connection:
        found = tuple(connection.execute(text(counts)).one())
    plain.dispose()
    return found


async def write(log, row, **how):
    """Write a row and a part of it."""
    async with log.awrite(W, actor=ACTOR, run_id=f"run {row}", **how) as block:
        block.update(ITEM, row, {"title": "edited"}, expected_version=1)
        block.insert(PART, {"id": f"part {row}", "item_id": row, "title": "new"})
    return block.replayed


@ON_ASYNC_DRIVERS
async def test_cancelled_write(far_log, log, application):
    """A cancelled write is stored as a whole or not at all; the next call works, repeated it took effect once. I1 I7"""

    def call(at):
        add_items(log, f"row {at}")
        return write(far_log, f"row {at}", mutation_id=f"mutation row {at}")

    async def check(at):
        row = f"row {at}"
        assert stored(application, row) in (NOTHING, EVERYTHING)
        await write(far_log, row, mutation_id=f"mutation {row}")
        assert EVERYTHING == stored(application, row)

    assert await at_every_wait(call, check) > 5
    assert all(stored_revisions(application))


@ON_ASYNC_POSTGRESQL
async def test_cancelled_callers_transaction(far_log, log, application, url):
    """In a caller's session row and event go together when the task is cancelled. I1"""
    engine = create_async_engine(url)

    async def transaction(row):
        async with AsyncSession(engine) as session, session.begin():
            await write(far_log, row, mutation_id=f"mutation {row}", within=session)

    def call(at):
        add_items(log, f"row {at}")
        return transaction(f"row {at}")

    async def check(at):
        row = f"row {at}"
        assert stored(application, row) in (NOTHING, EVERYTHING)
        await transaction(row)
        assert EVERYTHING == stored(application, row)

    assert await at_every_wait(call, check) > 5
    await engine.dispose()


@ON_ASYNC_DRIVERS
async def test_cancelled_reader(far_log, log):
    """What a cancelled run was given and did not confirm is given again; what it confirmed had been given. I3 I4"""
    log.open_workspace(W)
    log.open_thread(W, "t1")
    given = []

    async def read_and_confirm():
        batch = await far_log.aread_batch(W, "t1")
        given.extend(line.entity_id for line in batch.lines)
        await far_log.aconfirm(batch)

    def call(at):
        given.clear()
        with log.write(W, actor=ACTOR, number="later") as block:
            block.insert(ITEM, {"id": f"row {at}", "title": "new"})
        return read_and_confirm()

    async def check(at):
        batch = await far_log.aread_batch(W, "t1")
        again = [line.entity_id for line in batch.lines]
        assert again in ([], [f"row {at}"])
        assert f"row {at}" in given + again
        await far_log.aconfirm(batch)

    assert await at_every_wait(call, check) > 5


@ON_ASYNC_DRIVERS
async def test_cancelled_while_it_waits_for_a_lock(far_log, log, application, url):
    """Who is cancelled while he waits for a row leaves nothing behind and keeps nobody from writing. I1"""
    add_items(log, "row")
    with application.connect() as holder:
        with log.write(W, actor=ACTOR, within=holder) as block:
            block.update(ITEM, "row", {"place": "held"}, expected_version=1)
        waiting = asyncio.create_task(write(far_log, "row"))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        holder.commit()
    assert (1, 0, 0, 0) == stored(application, "row")
    with log.write(W, actor=ACTOR) as block:
        block.update(ITEM, "row", {"title": "free"}, expected_version=2)
    assert 3 == block.results[0].version
