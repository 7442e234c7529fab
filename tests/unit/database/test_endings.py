"""A transaction ends for sure, however often its caller is cancelled."""

import asyncio

import pytest

from abreast.database import endings
from abreast.database.endings import Endings


class Slow:
    """An engine and its only connection, which take their time and write down what they did."""

    closed = invalidated = False

    def __init__(self, failing=()):
        self.failing = failing
        self.done = []

    async def _take(self, name):
        self.done.append(f"{name} begun")
        await asyncio.sleep(0.02)
        if name in self.failing:
            raise OSError(name)
        self.done.append(name)

    async def connect(self):
        """Connect."""
        await self._take("connect")
        return self

    async def begin(self):
        """Begin."""
        await self._take("begin")
        return self

    async def commit(self):
        """Commit."""
        await self._take("commit")

    async def rollback(self):
        """Roll back."""
        await self._take("rollback")

    async def invalidate(self):
        """Drop the connection."""
        await self._take("invalidate")

    async def close(self):
        """Give the connection back."""
        await self._take("close")


async def call(ends, engine):
    """Do something in a transaction."""
    async with ends.transaction(engine):
        await asyncio.sleep(0.02)


async def until(engine, name):
    """Wait until something was done."""
    while name not in engine.done:  # noqa: ASYNC110 - looks on from outside
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("cancels", [1, 3])
@pytest.mark.parametrize(
    ("at", "last"),
    [
        ("connect begun", ["connect", "close"]),
        ("begin begun", ["invalidate", "close"]),
        ("begin", ["invalidate", "close"]),
        ("commit begun", ["commit", "close"]),
        ("close begun", ["commit", "close"]),
    ],
)
async def test_cancelled(at, last, cancels):
    """Wherever and however often: committed or dropped, and given back."""
    ends, engine = Endings(), Slow()
    task = asyncio.create_task(call(ends, engine))
    await until(engine, at)
    for _ in range(cancels):
        task.cancel()
        await asyncio.sleep(0.001)
    with pytest.raises(asyncio.CancelledError):
        await task
    if at != "connect begun":
        assert engine.done[-1] == "close"
    await ends.settled()
    assert last == [name for name in engine.done if "begun" not in name][-2:]


async def test_end_that_takes_too_long(monkeypatch):
    """The caller is let go; the end comes without him."""
    monkeypatch.setattr(endings, "_PATIENCE", 0.001)
    ends, engine = Endings(), Slow()
    task = asyncio.create_task(call(ends, engine))
    await until(engine, "commit begun")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "commit" not in engine.done
    await until(engine, "close")


async def test_errors_are_passed_on():
    """Those of the end are raised; after an error of the step they would hide it."""
    with pytest.raises(OSError, match="commit"):
        await call(Endings(), engine := Slow(failing=["commit"]))
    assert engine.done[-1] == "close"
    with pytest.raises(OSError, match="^connect$"):
        await call(Endings(), Slow(failing=["connect"]))
    with pytest.raises(ValueError, match="the step's"):
        async with Endings().transaction(Slow(failing=["close"])):
            raise ValueError("the step's")
