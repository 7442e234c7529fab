"""The order in which waiting events get their revisions."""

import random

from abreast.operations.number import Waiting, in_order


def waiting(event_id, row="m1", version=1, operation="update"):
    """Give an event that waits."""
    return Waiting(event_id, "move", row, version, operation)


def test_events_are_ordered_by_id():
    """Ids are ordered by time, whatever order the database gives them in."""
    assert ["a", "b", "c"] == in_order([waiting("c", "m3"), waiting("a", "m1"), waiting("b", "m2")])


def test_a_rows_events_take_its_places_by_version():
    """Writers' clocks differ: within a row versions decide, and other rows keep their places."""
    events = [
        waiting("a", "m1", 3),
        waiting("b", "m2", 1),
        waiting("c", "m1", 2),
        waiting("d", "m2", 2),
        waiting("e", "m1", 1),
    ]
    assert ["e", "b", "c", "d", "a"] == in_order(events)


def test_rows_of_other_entities_are_other_rows():
    """The same id in another table is not the same row."""
    events = [Waiting("a", "move", "1", 2, "update"), Waiting("b", "item", "1", 1, "update")]
    assert ["a", "b"] == in_order(events)


def test_a_deletion_with_a_late_id_comes_before_the_next_insertion():
    """I2: a row that is inserted again goes on counting, so versions decide even where clocks say otherwise."""
    events = [
        waiting("a", version=3, operation="insert"),
        waiting("b", version=1, operation="insert"),
        waiting("c", version=2, operation="delete"),
    ]
    assert ["b", "c", "a"] == in_order(events)


def test_equal_versions_keep_the_order_of_ids():
    """Moves between workspaces may bring a version twice."""
    assert ["a", "b"] == in_order([waiting("b", version=2), waiting("a", version=2)])


def test_nothing_waits():
    """No events have no order."""
    assert [] == in_order([])


def test_every_event_gets_one_place_whatever_the_order():
    """The result does not depend on how the database sorted, and holds each event once."""
    chance = random.Random(7)
    events = [waiting(f"{place:03}", f"m{chance.randrange(5)}", chance.randrange(9)) for place in range(100)]
    expected = in_order(events)
    for _ in range(5):
        chance.shuffle(events)
        assert expected == in_order(events)
    assert sorted(expected) == sorted(event.event_id for event in events)
