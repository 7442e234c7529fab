"""What was delivered knows whether the graph has finished since."""

from typing import Any

from abreast.langgraph.ambient import RunNames
from abreast.langgraph.deliveries import Deliveries

NOTE: dict[str, Any] = {"cursor": {}, "turn": "u1", "run": "r1"}
OTHER: dict[str, Any] = {"cursor": {}, "turn": "u2", "run": "r2"}


def channel(**notes: dict[str, Any]) -> Deliveries:
    """Make a channel with notes by scope."""
    made = Deliveries(dict)
    made.update([notes])
    return made


def test_steps_of_a_run_leave_it_open():
    """Steps that deliver nothing, and a stored and loaded channel, leave a note as it was."""
    one = channel(a=NOTE)
    assert one.update([]) is False
    loaded = Deliveries(dict).from_checkpoint(one.checkpoint())
    assert {"a": NOTE} == loaded.get() == loaded.copy().get()
    assert {} == Deliveries(dict).from_checkpoint(object()).get()


def test_ended_from_the_next_step_on():
    """A deferred node sees the note as it was; what runs after another step sees that the graph has finished."""
    one = channel(a=NOTE)
    assert one.finish() is True
    assert one.finish() is False
    assert "now" == one.get()["a"]["ended"]
    assert one.update([]) is True
    assert "before" == one.get()["a"]["ended"]
    assert [False, False] == [one.finish(), one.update([])]


def test_new_note_is_open():
    """A new delivery replaces an ended one, of its own scope alone."""
    one = channel(a=NOTE, b=NOTE)
    one.finish()
    one.update([{"a": OTHER}])
    assert {"a": OTHER, "b": {**NOTE, "ended": "before"}} == one.get()


def test_notes_of_a_nested_graph():
    """A nested graph's end is not this one's, and what had ended before it is not open again behind it."""
    one = channel()
    one.update([{"a": {**NOTE, "ended": "now"}, "b": {**NOTE, "ended": "before"}}])
    assert {"a": NOTE, "b": {**NOTE, "ended": "before"}} == one.get()


def test_names_of_runs():
    """A run keeps its name, and no two have the same one, however many there were."""
    names, runs = RunNames(), [object() for _ in range(5_000)]
    given = [names.of(run) for run in runs]
    assert 5_000 == len(set(given))
    assert [given[-1], False] == [names.of(runs[-1]), names.of(runs[0]) in given]
