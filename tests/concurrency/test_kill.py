"""I1, I2, I4 and I7 when a process is killed in the midst of its work."""

from itertools import count

import pytest
from sqlalchemy import create_engine, text

from abreast import Actor, Database
from tests.concurrency import children
from tests.concurrency.backends import ON_POSTGRESQL
from tests.concurrency.fuses import IN_FLIGHT, Fuse
from tests.concurrency.product import ITEM, PART, W, add_items, log_of, stored_revisions
from tests.concurrency.race.writers import prepare_application

AGENT = Actor.agent("assistant")


def under_fuse(url, at, task, *arguments):
    """Do something with the log in a process that dies at its `at`-th step; gives what it gave if it lives."""
    with Database.open(url) as database:
        log = log_of(database)
        database.check()
        Fuse(database._engines.sync(), at)
        return task(log, *arguments)


def write_once(log, row, **how):
    """Write a row and a part of it under a mutation id made of the row's."""
    with log.write(W, actor=AGENT, mutation_id=f"mutation {row}", **how) as write:
        write.update(ITEM, row, {"title": "edited"}, expected_version=1)
        write.insert(PART, {"id": f"part {row}", "item_id": row, "title": "new"})
    return [(result.version, result.event_id) for result in write.results], write.replayed


def write_once_numbered(log, row, number):
    """Write in a transaction of the log's own, numbered now or later."""
    return write_once(log, row, number=number)


def stored(engine, row):
    """Count past the library what a write of `write_once` leaves: row, part, events, receipts."""
    counts = f"""
        SELECT (SELECT count(*) FROM item WHERE id = '{row}' AND version = 2 AND title = 'edited'),
            (SELECT count(*) FROM part WHERE id = 'part {row}'),
            (SELECT count(*) FROM abreast_entity_version WHERE entity_id = 'part {row}' AND version = 1),
            (SELECT count(*) FROM abreast_workspace_event WHERE mutation_id = 'mutation {row}'),
            (SELECT count(*) FROM abreast_mutation WHERE mutation_id = 'mutation {row}')
    """
    with engine.connect() as connection:
        return tuple(connection.execute(text(counts)).one())


NOTHING, EVERYTHING = (0, 0, 0, 0, 0), (1, 1, 1, 2, 1)


@pytest.mark.parametrize("number", ["now", "later"])
def test_killed_at_any_step_of_a_write(product_url, log, application, number):
    """All of a write is stored or nothing; repeated by another process it took effect once. I1 I7"""
    found = []
    for at in count(1):
        row = f"row {at}"
        add_items(log, row)
        child = children.start(under_fuse, product_url, at, write_once_numbered, row, number)
        died = child.died()
        found.append(stored(application, row))
        results, replayed = write_once(log, row, number=number)
        assert EVERYTHING == stored(application, row)
        assert replayed is (found[-1] == EVERYTHING)
        assert [2, 1] == [version for version, _ in results]
        if not died:
            assert results == child.result()[0]
            break
    assert {NOTHING, EVERYTHING} == set(found)
    assert found == sorted(found)
    assert found.count(EVERYTHING) == 2
    assert len(found) > 12
    log.number(W)
    events = log.changes(W, limit=1_000)
    assert list(range(1, 3 * len(found) + 1)) == [event.revision for event in events]


@ON_POSTGRESQL
def test_killed_while_the_commit_is_on_its_way(product_url, log, application):
    """Nobody knows whether a COMMIT that was sent took effect; repeated, the write took effect once. I7"""
    for attempt in range(5):
        row = f"row {attempt}"
        add_items(log, row)
        assert children.start(under_fuse, product_url, IN_FLIGHT, write_once, row).died()
        write_once(log, row)
        assert EVERYTHING == stored(application, row)


def within(url, at, row):
    """Write in a transaction of one's own, in a process that dies at a step of it."""
    engine = create_engine(url)
    prepare_application(engine)
    with Database.open(url) as database:
        log = log_of(database)
        database.check()
        Fuse(engine, at)
        with engine.begin() as caller:
            write_once(log, row, within=caller)
    engine.dispose()


def test_killed_at_any_step_of_a_callers_transaction(product_url, log, application):
    """Row and event go with the caller's transaction, whenever its process dies. I1 I7"""
    found = []
    for at in count(1):
        row = f"row {at}"
        add_items(log, row)
        died = children.start(within, product_url, at, row).died()
        found.append(stored(application, row))
        _, replayed = write_once(log, row)
        assert EVERYTHING == stored(application, row)
        assert replayed is (found[-1] == EVERYTHING)
        if not died:
            break
    assert {NOTHING, EVERYTHING} == set(found)
    assert 2 == found.count(EVERYTHING)


def number_waiting(log):
    """Number what waits."""
    log.number(W)


def test_killed_at_any_step_of_numbering(product_url, log, application):
    """Revisions stay gap-free, and everything is delivered once it is numbered by somebody else. I2 I4"""
    log.open_workspace(W)
    log.open_thread(W, "t1")
    made = []
    for at in count(1):
        for place in range(3):
            made.append(f"row {at}.{place}")
            with log.write(W, actor=AGENT, number="later") as write:
                write.insert(ITEM, {"id": made[-1], "title": "new"})
        died = children.start(under_fuse, product_url, at, number_waiting).died()
        given = stored_revisions(application)
        before, after = list(range(1, len(made) - 2)), list(range(1, len(made) + 1))
        assert given in ([*before, None, None, None], after)
        batch = log.read_batch(W, "t1", limit=1_000)
        assert made[batch.since.revision :] == [line.entity_id for line in batch.lines]
        if not died:
            break
        if at % 2:
            log.confirm(batch)
    assert len(made) > 3 * 6


def read_and_confirm(log, told):
    """Read, say what was given, and confirm."""
    batch = log.read_batch(W, "t1")
    told.send([line.entity_id for line in batch.lines])
    log.confirm(batch)


def test_killed_between_reading_and_confirming(product_url, log):
    """What a process was given and did not confirm is given again; what it confirmed had been given. I3 I4"""
    add_items(log, "row 0")
    log.open_thread(W, "t1")
    outcomes = set()
    for at in count(1):
        with log.write(W, actor=AGENT, number="later") as write:
            write.insert(ITEM, {"id": f"row {at}", "title": "new"})
        ours, theirs = children.CONTEXT.Pipe(duplex=False)
        child = children.start(under_fuse, product_url, at, read_and_confirm, theirs)
        theirs.close()
        died = child.died()
        told = [item_id for batch in children.sent(ours) for item_id in batch]
        again = [line.entity_id for line in log.read_batch(W, "t1").lines]
        assert f"row {at}" in told + again
        assert again == [] or again[-1] == f"row {at}"
        outcomes.add((told == [], again == []))
        log.confirm(log.read_batch(W, "t1"))
        if not died:
            break
    assert {(True, False), (False, False), (False, True)} == outcomes
