"""I1, I4 and I7 when the database server is killed and comes back."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from abreast import Actor, Database
from abreast.errors import DatabaseUnavailable
from tests.concurrency.product import ITEM, W, log_of, make_tables
from tests.concurrency.watching import until

ACTOR = Actor.system("importer")
KILLS = 3
WRITES_BETWEEN = 60
PAUSE = 0.05


class Traffic:
    """Writers and readers that go on whatever happens, and what they were told."""

    def __init__(self, url):
        self.url = url
        self.stop = threading.Event()
        self.written = threading.Event()
        self.lock = threading.Lock()
        self.acknowledged = []
        self.doubtful = []
        self.delivered = {}
        self.refusals = []

    def acknowledge(self, item_id):
        """Note a write whose success was reported."""
        with self.lock:
            self.acknowledged.append(item_id)

    def refuse(self, error):
        """Note what a caller was told."""
        with self.lock:
            self.refusals.append(str(error))

    def ids(self, writer):
        """Give the rows one writer is to insert."""
        number = 0
        while not self.stop.is_set():
            number += 1
            yield f"{writer}-{number}"

    def under_mutation_ids(self, writer):
        """Insert rows; what fails is sent again under its mutation id."""
        with Database.open(self.url) as database:
            log = log_of(database)
            for item_id in self.ids(writer):
                self.until_done(lambda item_id=item_id: insert(log, item_id, mutation_id=item_id))
                self.acknowledge(item_id)

    def without_mutation_ids(self, writer):
        """Insert rows; what fails is given up."""
        with Database.open(self.url) as database:
            log = log_of(database)
            for item_id in self.ids(writer):
                try:
                    insert(log, item_id)
                except DatabaseUnavailable as error:
                    self.refuse(error)
                    self.doubtful.append(item_id)
                    time.sleep(PAUSE)
                else:
                    self.acknowledge(item_id)

    def in_own_transactions(self, writer):
        """Insert rows in transactions of an engine of one's own; what fails is sent again."""
        engine = create_engine(self.url)
        with Database.open(self.url) as database:
            log = log_of(database)

            def attempt(item_id):
                with engine.begin() as caller:
                    insert(log, item_id, mutation_id=item_id, within=caller)

            for item_id in self.ids(writer):
                self.until_done(lambda item_id=item_id: attempt(item_id))
                self.acknowledge(item_id)
        engine.dispose()

    def in_tasks(self):
        """Insert rows by async calls through both drivers."""

        async def both():
            await asyncio.gather(self.in_task("psycopg"), self.in_task("asyncpg"))

        asyncio.run(both())

    async def in_task(self, driver):
        """Insert rows by async calls; what fails is sent again under its mutation id."""
        async with Database.open(self.url.replace("psycopg", driver)) as database:
            log = log_of(database)
            for item_id in self.ids(driver):
                done = False
                while not done:
                    try:
                        async with log.awrite(W, actor=ACTOR, mutation_id=item_id) as write:
                            write.insert(ITEM, {"id": item_id, "title": "new"})
                        done = True
                    except DatabaseUnavailable as error:
                        self.refuse(error)
                        await asyncio.sleep(PAUSE)
                self.acknowledge(item_id)

    def reader(self, thread_id):
        """Read and confirm until every writer has ended and all is read; each step is repeated until it is done."""
        given = self.delivered[thread_id] = []
        with Database.open(self.url) as database:
            log = log_of(database)
            while True:
                was_written = self.written.is_set()
                batch = self.until_done(lambda: log.read_batch(W, thread_id, limit=1_000))
                self.until_done(lambda batch=batch: log.confirm(batch))
                given += [line.entity_id for line in batch.lines]
                if was_written and not batch.event_count:
                    return

    def until_done(self, call):
        """Call until it succeeds; what a caller of abreast's own transactions is told is noted."""
        while True:
            try:
                return call()
            except DatabaseUnavailable as error:
                self.refuse(error)
            except DBAPIError:
                pass
            time.sleep(PAUSE)


def insert(log, item_id, **how):
    """Insert one row."""
    with log.write(W, actor=ACTOR, **how) as write:
        write.insert(ITEM, {"id": item_id, "title": "new"})


@pytest.mark.timeout(300)
def test_killed_server(private_postgresql):
    """Nothing acknowledged is lost, nothing comes twice or is missed, and everybody goes on. I1 I4 I7"""
    server = private_postgresql
    url = server.url(server.create_database())
    with Database.open(url) as database:
        database.upgrade()
        make_tables(database)
        log_of(database).open_workspace(W)
        for thread_id in ("t1", "t2"):
            log_of(database).open_thread(W, thread_id)
    traffic = Traffic(url)
    with ThreadPoolExecutor(7) as threads:
        writers = [
            threads.submit(traffic.under_mutation_ids, "a"),
            threads.submit(traffic.without_mutation_ids, "b"),
            threads.submit(traffic.in_own_transactions, "c"),
            threads.submit(traffic.in_tasks),
        ]
        readers = [threads.submit(traffic.reader, thread_id) for thread_id in ("t1", "t2")]
        try:
            for _ in range(KILLS):
                kill_and_restart(server, traffic)
            go_on(traffic)
        finally:
            traffic.stop.set()
            wait(writers)
            traffic.written.set()
        for done in (*writers, *readers):
            done.result()
    assert_nothing_lost(url, traffic)


def go_on(traffic):
    """Wait until some more writes are acknowledged."""
    before = len(traffic.acknowledged)
    until(lambda: len(traffic.acknowledged) >= before + WRITES_BETWEEN)


def kill_and_restart(server, traffic):
    """Kill the server in the midst of writes, and start it when somebody has been refused."""
    go_on(traffic)
    refused = len(traffic.refusals)
    server.kill()
    until(lambda: len(traffic.refusals) > refused)
    server.start()


def assert_nothing_lost(url, traffic):
    """Compare what everybody was told with what is there."""
    engine = create_engine(url)
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT id FROM item")).scalars().all()
        order = "SELECT entity_id, revision FROM abreast_workspace_event ORDER BY revision"
        events = connection.execute(text(order)).all()
    engine.dispose()
    recorded = [item_id for item_id, _ in events]
    assert list(range(1, len(events) + 1)) == [revision for _, revision in events]
    assert sorted(rows) == sorted(recorded)
    assert set() == set(traffic.acknowledged) - set(rows)
    assert set() == set(rows) - set(traffic.acknowledged) - set(traffic.doubtful)
    assert [recorded, recorded] == list(traffic.delivered.values())
    assert traffic.refusals
    assert [] == [told for told in traffic.refusals if "a write with a mutation_id is safe to repeat" not in told]
