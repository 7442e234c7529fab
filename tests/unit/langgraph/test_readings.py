"""What is kept of a run in the process, and which run it belongs to."""

from types import SimpleNamespace
from typing import Any

import pytest

from abreast.langgraph.readings import Reading, Readings, RunKey

RUN: RunKey = (1, "", "w1", "t1")


def reading(turn: str = "u1", *, count: int = 2, last_id: str | None = None) -> Reading:
    """Make a reading; what it read does not matter here."""
    return Reading(object(), turn, SimpleNamespace(), "block", count, last_id)  # type: ignore[arg-type]


def message(name: str, role: str = "user") -> dict[str, Any]:
    """Make a message with an id."""
    return {"id": name, "role": role, "content": ""}


def test_kept_for_its_run_and_turn_alone():
    """Another run, also of the same thread, and another turn read for themselves."""
    readings, one = Readings(), reading()
    assert one is readings.keep(RUN, one, instead_of=None)
    assert one is readings.get(RUN, "u1")
    assert [None, None] == [readings.get(RUN, "u2"), readings.get((2, *RUN[1:]), "u1")]


def test_first_of_two_counts():
    """Nodes side by side that both read go on with one reading."""
    readings, first, second = Readings(), reading(), reading()
    readings.keep(RUN, first, instead_of=None)
    assert first is readings.keep(RUN, second, instead_of=None)
    assert second is readings.keep(RUN, second, instead_of=first)


def test_outside_of_a_run_nothing_is_kept():
    """Without a run there is nothing that could be frozen."""
    readings, one = Readings(), reading()
    assert one is readings.keep(None, one, instead_of=None)
    assert readings.get(None, "u1") is None


def test_bounded():
    """A process that runs for years keeps the newest runs alone."""
    readings = Readings()
    for number in range(300):
        readings.keep((number, *RUN[1:]), reading(), instead_of=None)
    assert [False, True, True] == [readings.get((number, *RUN[1:]), "u1") is not None for number in (43, 44, 299)]


def test_drop():
    """Rows of a thread that has finished are not kept."""
    readings = Readings()
    readings.keep(RUN, reading(), instead_of=None)
    readings.keep((1, "", "w1", "t2"), reading(), instead_of=None)
    readings.drop("t1")
    assert [False, True] == [readings.get(run, "u1") is not None for run in (RUN, (1, "", "w1", "t2"))]


@pytest.mark.parametrize(
    ("one", "names", "expected"),
    [
        (reading(last_id="b"), "abcd", 2),
        (reading(last_id="b"), "bcd", 1),
        (reading(last_id="x"), "abcd", 2),
        (reading(), "abcd", 2),
        (reading(count=9), "ab", 2),
    ],
)
def test_known_messages(one: Reading, names: str, expected: int):
    """Messages that came later are told from those that were there, also where old ones were removed."""
    assert expected == one.known([message(name) for name in names])


def test_later_tools():
    """A tool that answered before the reading did not write after it."""
    messages = [message("a", "tool"), message("b"), message("c", "assistant")]
    assert not reading(last_id="b").precedes_tools(messages)
    assert reading(last_id="b").precedes_tools([*messages, message("d", "tool")])
