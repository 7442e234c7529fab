"""S22: changes on which run after run fails do not hold their thread up for ever."""

from typing import Any

import pytest

from abreast.langchain.retries import FAILURES
from tests.contract.agents import Talk, begin
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


def fails(talk: Talk, times: int = FAILURES) -> None:
    """Let runs fail."""
    for _ in range(times):
        with pytest.raises(ConnectionError):
            talk.ask("When?", ConnectionError("away"))


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
