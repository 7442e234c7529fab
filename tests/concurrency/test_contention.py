"""I6 and I7 where many write the same: one wins, the others are told, and nobody's change is lost."""

import logging
import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import create_engine, event, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from abreast import Database
from abreast.errors import MutationReused, StaleWrite
from abreast.workspace_log import write as writes
from tests.concurrency import children
from tests.concurrency.backends import ON_POSTGRESQL
from tests.concurrency.product import ITEM, PART, USER, W, add_items, log_of
from tests.concurrency.race.writers import count_errors, prepare_application

PROCESSES = 5


def row_of(database, item_id="row"):
    """Read one row past the library."""
    with database._engines.sync().connect() as connection:
        return connection.execute(select(ITEM).where(ITEM.c.id == item_id)).one()


def patch(url, field, barrier):
    """Read the row, wait for the others, and patch one field at the version that was read."""
    with Database.open(url) as database:
        log = log_of(database)
        version = row_of(database).version
        barrier.wait()
        with log.write(W, actor=USER) as write:
            write.update(ITEM, "row", {field: f"new {field}"}, expected_version=version, merge="fields")
        return write.results[0].version


def test_w16_patches_of_different_fields(product_url, log):
    """Two processes patch different fields of one version at once: both are kept. I6"""
    add_items(log, "row")
    for place in range(2, 6):
        with log.write(W, actor=USER) as write:
            write.update(ITEM, "row", {"title": f"edit {place}"}, expected_version=place - 1)
    barrier = children.barrier(2)
    versions = children.results(*((patch, product_url, field, barrier) for field in ("title", "place")))
    row = row_of(log.database)
    assert [6, 7] == sorted(versions)
    assert (7, "new title", "new place") == (row.version, row.title, row.place)


def append(url, workers, barrier):
    """Add an item to a list by each of some threads, on the version each has read; conflicts are tried again."""

    def add(worker):
        conflicts = 0
        first = True
        while True:
            row = row_of(database)
            if first:
                barrier.wait()
            first = False
            try:
                with log.write(W, actor=USER) as write:
                    title = f"{row.title} {worker}"
                    write.update(ITEM, "row", {"title": title}, expected_version=row.version)
            except StaleWrite as conflict:
                assert conflict.actual == "another" or conflict.actual > row.version
                conflicts += 1
            else:
                return conflicts

    with Database.open(url, pool_size=len(workers)) as database, ThreadPoolExecutor(len(workers)) as threads:
        log = log_of(database)
        return sum(threads.map(add, workers))


def test_w16_twenty_add_to_one_list(product_url, log):
    """Twenty workers that have read the same version each add one item: twenty items, losers try again. I6"""
    add_items(log, "row")
    barrier = children.barrier(20)
    shares = [range(first, 20, 4) for first in range(4)]
    conflicts = children.results(*((append, product_url, share, barrier) for share in shares))
    row = row_of(log.database)
    assert {str(worker) for worker in range(20)} == set(row.title.split()) - {"row", "as", "made"}
    assert 21 == row.version == len(log.changes(W))
    assert sum(conflicts) >= 19


def test_w17_conflicts_are_not_errors(open_database, caplog):
    """A thousand racing patches write no line to the error log, and each loser is told. I6"""
    log = log_of(open_database(pool_size=8))
    add_items(log, "row")
    seen = Counter()
    lock = threading.Lock()

    def patch_often(worker):
        for attempt in range(125):
            version = row_of(log.database).version
            try:
                with log.write(W, actor=USER) as write:
                    write.update(ITEM, "row", {"title": f"{worker}.{attempt}"}, expected_version=version)
                won = True
            except StaleWrite:
                won = False
            with lock:
                seen[won] += 1

    with caplog.at_level(logging.INFO), ThreadPoolExecutor(8) as threads:
        list(threads.map(patch_often, range(8)))
    assert [] == [record for record in caplog.records if record.levelno >= logging.WARNING or record.exc_info]
    assert 1000 == seen[True] + seen[False]
    assert seen[False] > 0
    assert 1 + seen[True] == row_of(log.database).version == len(log.changes(W, limit=2_000))


MUTATIONS = {
    "update": lambda write: write.update(ITEM, "update", {"title": "once"}, expected_version=1),
    "update any": lambda write: write.update(ITEM, "update any", {"title": "once"}, expected_version="any"),
    "insert": lambda write: write.insert(ITEM, {"id": "inserted", "title": "once"}),
    "delete": lambda write: write.delete(ITEM, "delete", expected_version=1),
    "several": lambda write: (
        write.insert(ITEM, {"id": "new", "title": "once"}),
        write.insert(PART, {"id": "p1", "item_id": "new", "title": "once"}),
        write.update(ITEM, "several", {"title": "once"}, expected_version="any"),
    ),
}


def mutate(url, how, barrier):
    """Send each mutation at the same moment as others; what it gave, and whether it was a repetition."""
    engine = create_engine(url)
    prepare_application(engine)
    answers = {}
    with Database.open(url) as database:
        log = log_of(database)
        for name, fill in MUTATIONS.items():
            barrier.wait()
            results = send(log, engine, how, name, fill)
            said = [(result.entity_id, result.version, result.event_id) for result in results]
            answers[name] = said, {result.replayed for result in results}
    engine.dispose()
    return answers


def send(log, engine, how, name, fill):
    """Write once under a mutation id, in a transaction of the log's or the caller's own."""
    if how == "own":
        return sent(log, name, fill)
    if how == "connection":
        with engine.begin() as caller:
            return sent(log, name, fill, within=caller)
    with Session(engine) as caller, caller.begin():
        return sent(log, name, fill, within=caller)


def sent(log, mutation_id, fill, **how):
    """Write and give the results."""
    with log.write(W, actor=USER, mutation_id=mutation_id, **how) as write:
        fill(write)
    return write.results


@pytest.mark.parametrize("how", ["own", "connection", "session"])
def test_one_mutation_from_many(product_url, log, how):
    """Processes that send one mutation at once get one result; it takes effect once. I7"""
    add_items(log, *MUTATIONS)
    barrier = children.barrier(PROCESSES)
    answers = children.results(*[(mutate, product_url, how, barrier)] * PROCESSES)
    effects = []
    for name in MUTATIONS:
        results = [answer[name][0] for answer in answers]
        replayed = [answer[name][1] for answer in answers]
        assert [results[0]] * PROCESSES == results
        assert (1, PROCESSES - 1) == (replayed.count({False}), replayed.count({True}))
        effects += [event_id for _, _, event_id in results[0]]
    log.number(W)
    assert set(effects) == {event.event_id for event in log.changes(W, after=len(MUTATIONS))}


def insert_as(url, payload, barrier):
    """Insert a row of one's own under an id that others use too; says whether it was refused."""
    with Database.open(url) as database:
        log = log_of(database)
        barrier.wait()
        try:
            sent(log, "k", lambda write: write.insert(ITEM, {"id": payload, "title": payload}))
        except MutationReused:
            return "refused"
        return payload


def test_one_mutation_id_with_many_payloads(product_url, log):
    """Of processes that use one id for different writes one takes effect; the others are refused. I7"""
    barrier = children.barrier(PROCESSES)
    calls = [(insert_as, product_url, f"payload {place}", barrier) for place in range(PROCESSES)]
    answers = children.results(*calls)
    assert PROCESSES - 1 == answers.count("refused")
    assert {event.entity_id for event in log.changes(W)} == set(answers) - {"refused"}


@ON_POSTGRESQL
def test_rows_in_opposite_orders(open_database):
    """Two writes that take the same rows in opposite orders deadlock; one is sent again by itself. I1"""
    log = log_of(open_database())
    add_items(log, "a", "b")
    both_hold_one = threading.Barrier(2, timeout=60)
    seen = Counter()

    @event.listens_for(log.database._engines.sync(), "after_cursor_execute")
    def meet(connection, _cursor, statement, *_):
        holding = connection.info.setdefault("rows locked", [])
        holding.append("UPDATE OF item" in statement)
        if holding[-1] and sum(holding) == 1 and seen["met"] < 2:
            seen["met"] += 1
            both_hold_one.wait()

    @event.listens_for(log.database._engines.sync(), "handle_error")
    def note(context):
        seen[context.original_exception.sqlstate] += 1

    def edit_both(order):
        with log.write(W, actor=USER) as write:
            for item_id in order:
                write.update(ITEM, item_id, {"title": f"edit of {order}"}, expected_version="any")
        return [result.version for result in write.results]

    with ThreadPoolExecutor(2) as threads:
        versions = list(threads.map(edit_both, ("ab", "ba")))
    assert {"met": 2, "40P01": 1} == seen
    assert [[2, 2], [3, 3]] == sorted(versions)
    assert list(range(1, 7)) == [change.revision for change in log.changes(W)]


TRANSACTIONS = 40


def write_in_two_workspaces(url, worker, how, seed, plant, barrier):
    """Write rows of nobody else in two workspaces, in random order, many times; count the errors."""
    errors = Counter()
    count_errors(errors)
    if plant:
        number_at_once()
    engine = create_engine(url)
    prepare_application(engine)
    if engine.dialect.name == "postgresql" and how != "own":
        engine = engine.execution_options(isolation_level=how)
    chance = random.Random(seed + worker)
    done = 0
    with Database.open(url, pool_size=1) as database:
        log = log_of(database)
        barrier.wait()
        for version in range(1, TRANSACTIONS + 1):
            order = chance.sample(["w1", "w2"], 2)
            if plant and errors:
                break
            done += write_both(log, None if how == "own" else engine, worker, version, order)
    engine.dispose()
    return done, errors


def write_both(log, engine, worker, version, order):
    """Change one row of each workspace in one transaction; says whether the database let it be."""
    try:
        if engine is None:
            with log.write(order[0], actor=USER) as write:
                for workspace_id in order:
                    edit(write, worker, version, workspace_id)
            return True
        with engine.begin() as caller:
            for workspace_id in order:
                with log.write(workspace_id, actor=USER, within=caller) as write:
                    edit(write, worker, version, workspace_id)
    except DBAPIError:
        return False
    return True


def edit(write, worker, version, workspace_id):
    """Change a worker's own row of a workspace."""
    item_id, title = f"{workspace_id} {worker}", f"edit {version}"
    expected = version if version == 1 else "any"
    write.update(ITEM, item_id, {"title": title}, expected_version=expected, workspace_id=workspace_id)


def number_at_once():
    """Plant what the design avoids: a counter row that is raised in the caller's transaction."""
    recorded = writes._Block._record

    def record_and_number(block, connection):
        results = recorded(block, connection)
        context = block._delivery.steps.write_context(connection)
        for workspace_id in block._request().workspaces:
            writes.number.number(connection, context.tables, workspace_id, new_epoch=context.new_epoch)
        return results

    writes._Block._record = record_and_number


def two_workspaces(product_url, log, how, plant=False):
    """Let processes write in two workspaces at once; how many transactions were committed, and the errors."""
    for workspace_id in ("w1", "w2"):
        items = [f"{workspace_id} {worker}" for worker in range(PROCESSES)]
        add_items(log, *items, workspace_id=workspace_id)
    barrier = children.barrier(PROCESSES)
    calls = [(write_in_two_workspaces, product_url, worker, how, 33, plant, barrier) for worker in range(PROCESSES)]
    answers = children.results(*calls)
    return sum(done for done, _ in answers), sum((errors for _, errors in answers), Counter())


@pytest.mark.parametrize("how", ["own", "READ COMMITTED", "REPEATABLE READ"])
def test_w33_two_workspaces_in_random_order(product_url, log, how):
    """Transactions over two workspaces, in any order and at any level, meet no deadlock. I2"""
    done, errors = two_workspaces(product_url, log, how)
    assert ({}, PROCESSES * TRANSACTIONS) == (dict(errors), done)
    for workspace_id in ("w1", "w2"):
        log.number(workspace_id)
        events = log.changes(workspace_id, limit=2_000)
        assert list(range(1, PROCESSES * (TRANSACTIONS + 1) + 1)) == [event.revision for event in events]


@ON_POSTGRESQL
@pytest.mark.parametrize("how", ["READ COMMITTED", "REPEATABLE READ"])
def test_w33_can_fail(product_url, log, how):
    """With a counter row in the callers' transactions the same writers meet deadlocks or lost snapshots."""
    _, errors = two_workspaces(product_url, log, how, plant=True)
    assert errors.keys() & {"40P01", "40001"}
