"""I2 and I4 under load: writers with slow commits, readers that fail, and nothing is missed."""

import random
from dataclasses import replace

import pytest

from tests.concurrency.race import Outcome, Race, run
from tests.concurrency.race.check import History, problems
from tests.concurrency.race.faults import BEFORE_COMMIT

CHANGES = 1_300
"""Row changes each of the 8 writers commits, in each of the two races of a database: 20,800 events."""
SLOW = pytest.mark.timeout(600)


def told(outcome: Outcome, database: str) -> Outcome:
    """Print what became of a race."""
    print(f"{database}: {outcome}")
    return outcome


@SLOW
@pytest.mark.parametrize(("mode", "contended"), [("sync", True), ("async", False)])
def test_nothing_is_missed(backend, database_url, empty_copy, mode, contended):
    """
    Every committed event reaches every reader once it has succeeded, in order, without a gap. I2 I4

    The writers meet no error that they do not meet where the same rows are changed without abreast.
    """
    race = Race(database_url, CHANGES, mode, contended)
    with_abreast = told(run(race), backend)
    without = told(run(replace(race, url=empty_copy, mode="sync", with_abreast=False)), backend)
    assert [] == with_abreast.problems
    assert 0 == with_abreast.history.missed
    assert 0 == with_abreast.deadlocks
    assert with_abreast.changes >= 8 * CHANGES
    assert with_abreast.errors.keys() <= without.errors.keys()
    if not contended:
        assert {} == with_abreast.errors


@SLOW
def test_race_finds_numbers_taken_before_the_commit(backend, database_url):
    """A log that numbers as a sequence does is caught: the race can fail."""
    outcome = told(run(Race(database_url, 100, fault=BEFORE_COMMIT)), backend)
    assert outcome.history.missed > 0
    assert outcome.problems


@pytest.fixture(scope="module")
def history(sqlite_template, tmp_path_factory) -> History:
    """Give what a small race leaves when nothing goes wrong."""
    path = tmp_path_factory.mktemp("race") / "race.sqlite"
    path.write_bytes(sqlite_template().read_bytes())
    outcome = run(Race(f"sqlite:///{path}", 40, writers=4, readers=2, spread=1))
    assert [] == outcome.problems
    return outcome.history


def with_delivery(history, change):
    """Change one delivery of the first reader that succeeded and gave at least two events."""
    deliveries = list(history.readers[0])
    place = next(place for place, given in enumerate(deliveries) if given.confirmed and len(given.events) > 1)
    deliveries[place] = change(deliveries[place])
    return replace(history, readers=[deliveries, *history.readers[1:]])


def swapped(given):
    """Give a delivery's first two events in the wrong order."""
    (first, one), (second, other), *rest = given.events
    return replace(given, events=((first, other), (second, one), *rest))


def with_stored(history, change):
    """Change the list of stored events."""
    stored = sorted(history.stored, key=lambda event: event.revision)
    return replace(history, stored=change(stored))


def renumbered(stored):
    """Let two events that lie next to each other change places."""
    first, second = stored[40], stored[41]
    places = [replace(second, revision=first.revision), replace(first, revision=second.revision)]
    return [*stored[:40], *places, *stored[42:]]


DAMAGES = {
    "an event is not delivered": lambda history: with_delivery(
        history, lambda given: replace(given, events=given.events[1:])
    ),
    "events are delivered in another order": lambda history: with_delivery(history, swapped),
    "a delivery is skipped": lambda history: with_delivery(
        history, lambda given: replace(given, since=given.since + 1, events=given.events[1:])
    ),
    "a run that failed moves the cursor": lambda history: with_delivery(
        history, lambda given: replace(given, confirmed=False)
    ),
    "HEAD goes back": lambda history: with_delivery(history, lambda given: replace(given, head=0)),
    "a cursor is beyond": lambda history: replace(history, cursors=[history.head + 1, *history.cursors[1:]]),
    "an event is not stored": lambda history: with_stored(history, lambda stored: stored[:-1]),
    "an event is stored twice": lambda history: with_stored(history, lambda stored: [*stored, stored[-1]]),
    "an event is not numbered": lambda history: with_stored(
        history, lambda stored: [*stored[:-1], replace(stored[-1], revision=None)]
    ),
    "events are renumbered": lambda history: with_stored(history, renumbered),
    "an event tells another value": lambda history: with_stored(
        history, lambda stored: [*stored[:-1], replace(stored[-1], token="never written")]
    ),
    "a commit is lost": lambda history: replace(
        history, rows=dict(random.Random(1).sample(sorted(history.rows.items()), len(history.rows) - 1))
    ),
    "a rolled-back change is recorded": lambda history: replace(history, committed=history.committed[1:]),
}


def test_check_accepts_a_sound_history(history):
    """A race in which nothing went wrong has no problem."""
    assert [] == problems(history)


@pytest.mark.parametrize("damage", DAMAGES)
def test_check_finds(history, damage):
    """Each kind of damage to a sound history is a problem."""
    assert problems(DAMAGES[damage](history))
