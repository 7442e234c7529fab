"""S22: changes on which run after run fails do not hold their thread up for ever."""

import contextlib
from typing import Any

import pytest

from abreast.operations.leases import withdraw
from abreast.operations.runs import LOOKED_AT
from abreast.runs.retries import FAILURES
from tests.contract.agents import Talk, begin
from tests.contract.bound import World
from tests.contract.client import Client, Place
from tests.contract.product import OTHER_USER, Move


@pytest.fixture
def talk(place: Place, client: Client) -> Talk:
    """Give a conversation that has not been told of changes of eight rows."""
    talk = begin(place, client)
    with talk.client.write(actor=OTHER_USER) as write:
        for number in range(8):
            write.insert(Move, {"id": f"n{number}", "stage": "new"})
    return talk


def fails(talk: Talk, times: int = FAILURES, kind: type[Exception] = ValueError) -> None:
    """Let runs fail."""
    for _ in range(times):
        with pytest.raises(kind):
            talk.ask("When?", kind("told"))


def told(talk: Talk) -> tuple[list[int], str]:
    """Say which rows the model was told of one by one, and how it was told."""
    changes = talk.model.block().partition("CHANGES")[2]
    return [number for number in range(8) if f"added move n{number}" in changes], changes


def rows(talk: Talk) -> list[Any]:
    """Count how runs ended."""
    return talk.client.rows("SELECT outcome, count(*) FROM abreast_run GROUP BY outcome ORDER BY outcome")


def test_s22_failing_batch(talk: Talk, caplog: pytest.LogCaptureFixture):
    """S22 I3 I4: after three failures half is given, the operator is told, and the rest comes next."""
    fails(talk)
    assert list(range(8)) == told(talk)[0]
    assert "" == caplog.text
    talk.ask("And now?")
    assert list(range(4)) == told(talk)[0]
    assert "thread 't1' have failed 3 times" in caplog.text
    assert (5, [("failed", 3), ("succeeded", 2)]) == (talk.cursor(), rows(talk))
    talk.ask("And now?")
    assert (list(range(4, 8)), 9) == (told(talk)[0], talk.cursor())


def test_s22_batch_that_fails_for_ever(talk: Talk, caplog: pytest.LogCaptureFixture):
    """S22 I4: after six failures the rest is told in counts beside today's rows, and is delivered."""
    fails(talk, 2 * FAILURES)
    assert list(range(4)) == told(talk)[0]
    talk.ask("And now?")
    listed, changes = told(talk)
    assert [0] == listed
    assert "7" in changes
    assert all(f"move n{number} (version 1)" in talk.model.block() for number in range(8))
    assert (9, [("failed", 6), ("succeeded", 2)]) == (talk.cursor(), rows(talk))
    caplog.clear()
    talk.change(stage="booked")
    talk.ask("And now?")
    assert "booked" in told(talk)[1]
    assert "" == caplog.text


def test_one_change_stays(talk: Talk):
    """I4: a batch of one line cannot be made smaller, and is given as it is, however often runs fail."""
    talk.ask("And now?")
    talk.change(stage="booked")
    fails(talk, 2 * FAILURES)
    talk.ask("And now?")
    assert "booked" in told(talk)[1]
    assert 10 == talk.cursor()


def test_s22_outages_do_not_count(talk: Talk, caplog: pytest.LogCaptureFixture):
    """S22 I4: however long a provider is away, its thread is given the same changes, and failures stay counted."""
    fails(talk, 2 * FAILURES, ConnectionError)
    fails(talk, FAILURES - 1)
    fails(talk, LOOKED_AT, TimeoutError)
    assert "" == caplog.text
    assert list(range(8)) == told(talk)[0]
    fails(talk, 1)
    talk.ask("And now?")
    assert list(range(4)) == told(talk)[0]
    assert [("failed", 3), ("succeeded", 2), ("unavailable", 2 * FAILURES + LOOKED_AT)] == rows(talk)


def test_s22_endings_on_purpose_do_not_count(talk: Talk, caplog: pytest.LogCaptureFixture):
    """S22 I4: neither do runs that somebody ended, and those that noticed that they had lost their thread."""
    runs = talk.agent.runs
    for kind in (GeneratorExit, SystemExit, KeyboardInterrupt) if talk.place.runner is None else ():
        with pytest.raises(kind):
            talk.ask("When?", kind())
    for outcome in ("interrupted", "stopped", "lost", "unavailable"):
        runs.log.database.run(runs._steps.end, talk.wait(runs.enter, runs.aenter, "t1", "w1"), outcome)
    talk.ask("And now?")
    assert (list(range(8)), "") == (told(talk)[0], caplog.text)


def test_s22_refused_answers_and_killed_runs_count(talk: Talk):
    """S22 I4: the changes may be why an answer was refused, or why a process ended without a word."""
    runs = talk.agent.runs
    talk.build(accept=lambda _state, _runtime: False)
    talk.ask("And now?")
    talk.ask("And now?")
    run = talk.wait(runs.enter, runs.aenter, "t1", "w1")
    runs.log.database.run(withdraw, runs.log.database.tables, *run.key)
    assert ("running", 1) in rows(talk)
    talk.build()
    talk.ask("And now?")
    assert list(range(4)) == told(talk)[0]


def test_s22_graph_made_by_hand(place: Place, client: Client, caplog: pytest.LogCaptureFixture):
    """S22 I3 I4: a bound graph made by hand is given less, as an agent is, and goes on from there."""
    world = World(place, client)
    with world.client.write(actor=OTHER_USER) as write:
        for number in range(7):
            write.insert(Move, {"id": f"n{number}", "stage": "new"})
    graph, lines = world.bound(), []
    for failure in (*[ValueError("told")] * FAILURES, None, *[ValueError("told")] * 2 * FAILURES, None):
        world.model.before = lambda failure=failure: raised(failure)
        with contextlib.suppress(ValueError):
            world.run(graph, {"messages": [("user", "And now?")]})
        lines.append(world.model.block().partition("CHANGES")[2].count("added move n"))
    half = [7] * FAILURES + [3]
    assert [*half, *[4] * FAILURES, *[2] * FAILURES, 1] == lines
    assert world.client.head() == world.standing().cursor
    assert "thread 't1' have failed 3 times" in caplog.text


def raised(failure: Exception | None) -> None:
    """Fail, or not."""
    if failure is not None:
        raise failure
