"""I5: a snapshot and the events after it give the live rows at every later point."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from abreast import Actor
from tests.concurrency.product import ITEM, W, add_items, log_of

ALL = 10_000
POINTS, EVENTS = 25, 150
ROWS = 12


class Replica:
    """The rows of a snapshot, brought forward by events."""

    def __init__(self, snapshot, *, exact=False):
        self.exact = exact
        self.revision = snapshot.head
        self.rows = {
            (row.entity_type, row.entity_id): (row.version, row.values)
            for entity in snapshot.entities
            for row in entity.rows
        }
        self.gone = {}

    def follow(self, events):
        """Apply events in order; those that the snapshot's rows were ahead of change nothing."""
        for event in events:
            assert event.revision == self.revision + 1
            self.revision = event.revision
            row = event.entity_type, event.entity_id
            version, values = self.rows.get(row, (self.gone.get(row, 0), {}))
            if event.version <= version:
                continue
            # A row that was deleted before the snapshot goes on counting; in a snapshot that is ahead of its
            # revision a row may be gone whose last events are still to come.
            unknown = version == 0 and (event.operation == "insert" or not self.exact)
            assert event.version == version + 1 or unknown
            if event.operation == "delete":
                self.gone[row] = event.version
                self.rows.pop(row, None)
            else:
                self.rows[row] = event.version, {**values, **event.after}


class Writers:
    """Threads that insert, edit and delete rows of their own until they are told to stop."""

    def __init__(self, log, application, ways):
        self.log = log
        self.application = application
        self.ways = ways
        self.stop = threading.Event()

    def run(self, number):
        """Write in a thread's own way."""
        chance = random.Random(number)
        way = self.ways[number % len(self.ways)]
        versions = {}
        while not self.stop.is_set():
            item_id = f"{number}.{chance.randrange(ROWS)}"
            deleting = item_id in versions and chance.random() < 0.2
            if way == "caller":
                with self.application.begin() as caller:
                    self.change(versions, item_id, deleting, within=caller)
            else:
                self.change(versions, item_id, deleting, number=way)

    def change(self, versions, item_id, deleting, **how):
        """Make one change."""
        with self.log.write(W, actor=Actor.system("writer"), **how) as write:
            if item_id not in versions:
                write.insert(ITEM, {"id": item_id, "title": "made", "place": "here"})
            elif deleting:
                write.delete(ITEM, item_id, expected_version=versions[item_id])
            else:
                title = f"after {versions[item_id]}"
                write.update(ITEM, item_id, {"title": title}, expected_version=versions[item_id])
        versions[item_id] = write.results[0].version
        if deleting:
            del versions[item_id]


@pytest.mark.parametrize("ways", [("now",), ("now", "later", "caller")], ids=["numbered", "mixed"])
def test_w26_events_replayed_on_a_snapshot(open_database, application, ways):
    """While writers run, none is missing and none comes twice; the end is the same. I5"""
    log = log_of(open_database(pool_size=6, lock_timeout=60), limit=ALL)
    add_items(log, "first")
    writers = Writers(log, application, ways)
    with ThreadPoolExecutor(3) as threads:
        running = [threads.submit(writers.run, number) for number in range(3)]
        try:
            replica = Replica(log.snapshot(W), exact=ways == ("now",))
            points = 0
            while points < POINTS or replica.revision < EVENTS:
                points += 1
                log.number(W)
                live = Replica(log.snapshot(W))
                replica.follow(log.changes(W, after=replica.revision, limit=ALL)[: live.revision - replica.revision])
                assert replica.revision == live.revision
                if ways == ("now",):
                    assert replica.rows == live.rows
                else:
                    assert_not_behind(replica, live)
        finally:
            writers.stop.set()
        for done in running:
            done.result()
    log.number(W)
    replica.follow(log.changes(W, after=replica.revision, limit=ALL))
    assert replica.rows == Replica(log.snapshot(W)).rows


def assert_not_behind(replica, live):
    """A live row is the replayed one, or newer: its event is recorded and not numbered yet."""
    for row, (version, values) in replica.rows.items():
        if row in live.rows and live.rows[row][0] == version:
            assert values == live.rows[row][1]
        elif row in live.rows:
            assert live.rows[row][0] > version
