"""What a benchmark takes for the database's part of a model call."""

import asyncio
import threading

import pytest

from abreast import Database
from benchmarks.bare import Bare, Statement, sent
from benchmarks.counting import BACKGROUND

STATEMENTS: list[Statement] = [("BEGIN", ()), ("SELECT ?", (7,))]


@pytest.mark.parametrize("is_async", [False, True])
def test_statements_are_sent_again(is_async: bool):
    """The same statements with the same parameters, and they alone, go to the same database."""
    with Database.temporary() as database, asyncio.Runner() as runner:
        bare = Bare(database, database.name, runner if is_async else None)
        with sent() as again:
            assert bare.send(STATEMENTS) > 0
        bare.close()
    assert STATEMENTS == again


def test_beats_are_not_heard():
    """What renews the leases comes with the time that passes, not with what a call does."""
    with Database.temporary() as database, sent() as found:
        bare = Bare(database, database.name, None)
        for name in (BACKGROUND, "another"):
            thread = threading.Thread(target=bare.send, args=[STATEMENTS], name=name)
            thread.start()
            thread.join()
        bare.close()
    assert STATEMENTS == found
