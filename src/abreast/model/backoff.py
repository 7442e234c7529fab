"""How long to wait between attempts: a pure iterator of delays, nobody sleeps here."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def backoff(attempts: int, *, first: float, most: float, jitter: Callable[[], float]) -> Iterator[float]:
    """
    Yield the delays in seconds before attempt 2, 3 … `attempts`.

    Delays double from `first` to at most `most` and are each multiplied by `jitter()`, which gives 0 to 1
    ("full jitter", https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).

    Example:
        >>> list(backoff(4, first=0.1, most=0.3, jitter=lambda: 1.0))
        [0.1, 0.2, 0.3]
    """
    delay = first
    for _ in range(attempts - 1):
        yield min(delay, most) * jitter()
        delay *= 2


def polling(timeout: float, *, now: Callable[[], float]) -> Iterator[float]:
    """
    Yield the seconds to wait between looks at something, a twentieth of what has passed, until `timeout`.

    Example:
        >>> clock = iter([0.0, 0.1, 4.0, 11.0])
        >>> list(polling(10, now=lambda: next(clock)))
        [0.05, 0.2]
    """
    began = now()
    while (passed := now() - began) < timeout:
        yield min(max(0.05, passed / 20), 0.5, timeout - passed)
