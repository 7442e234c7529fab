"""Finish a transaction whose caller is cancelled meanwhile."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

T = TypeVar("T")


async def lasting(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """
    Await something to its end, and only then be cancelled.

    What takes or gives back a lease must not stop halfway: nobody would know whether it took effect. It is made anew
    once if it was cancelled itself, as at the end of an event loop.
    """
    cancelled: asyncio.CancelledError | None = None
    task = asyncio.ensure_future(make())
    again = True
    while True:
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
            continue
        if not (task.cancelled() and again):
            break
        task, again = asyncio.ensure_future(make()), False
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # has been looked at: the cancellation is what the caller gets to see
        raise cancelled
    return task.result()
