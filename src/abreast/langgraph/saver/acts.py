"""Calls of the saver as a series of acts, which are done the sync or the async way."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from abreast.database import Database

T = TypeVar("T")
_MUCH = 256 * 1024
"""So many bytes are serialized in a thread, lest they hold up the event loop."""


class Act(NamedTuple):
    """
    A transaction, or work without one.

    Attributes:
        database: Where the transaction is; None for work without one.
        how: `"run"` writes, `"read"` reads one snapshot.
        step: What is called: with the connection first, if there is one.
        size: About how many bytes it serializes or reads.
    """

    database: Database | None
    how: Literal["run", "read"]
    step: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    size: int = 0


def run(database: Database, step: Callable[..., Any], *arguments: Any) -> Act:
    """Write in a transaction that may be repeated."""
    return Act(database, "run", step, arguments)


def read(database: Database, step: Callable[..., Any], *arguments: Any) -> Act:
    """Read one snapshot."""
    return Act(database, "read", step, arguments)


def work(step: Callable[..., Any], *arguments: Any, size: int) -> Act:
    """Work without a connection: nobody holds one while bytes are made into objects."""
    return Act(None, "run", step, arguments, size)


def done(acts: Generator[Act, Any, T]) -> T:
    """Do all acts; gives what they end with."""
    try:
        act = next(acts)
        while True:
            act = acts.send(_one(act))
    except StopIteration as end:
        return cast("T", end.value)


async def adone(acts: Generator[Act, Any, T]) -> T:
    """Async twin of `done`."""
    result: Any = None
    while True:
        try:
            act = acts.send(result)
        except StopIteration as end:
            return cast("T", end.value)
        result = await _aone(act)


def _one(act: Act) -> Any:
    if act.database is None:
        return act.step(*act.arguments)
    call = act.database.run if act.how == "run" else act.database.read
    return call(act.step, *act.arguments)


async def _aone(act: Act) -> Any:
    if act.database is None:
        return await asyncio.to_thread(act.step, *act.arguments) if act.size > _MUCH else act.step(*act.arguments)
    call = act.database.arun if act.how == "run" else act.database.aread
    return await call(act.step, *act.arguments)
