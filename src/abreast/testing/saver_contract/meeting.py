"""Calls that are made at once, and begin at the same checkpoint."""

from __future__ import annotations

import threading
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    from abreast.testing.saver_contract.replica import Replica

_PARTY: Final = "__saver_contract_party"
"""Key in a configuration's `configurable`: it reaches every call of the saver, and no metadata."""
_SECONDS: Final = 60


class Meeting:
    """
    A point at which runs wait for each other: their first load.

    Who has ended is not waited for: a run may be refused before it loads.
    """

    def __init__(self, parties: int) -> None:
        self._parties = parties
        self._here: set[int] = set()
        self._changed = threading.Condition()

    def attend(self, party: int, call: Callable[[Mapping[str, Any]], Any]) -> Any:
        """Make a call with what its configuration has to name."""
        try:
            return call({_PARTY: party})
        finally:
            self._come(party)

    @contextmanager
    def at_loads_of(self, saver: Any) -> Generator[None]:
        """Let the loads of a saver wait once they have read."""
        plain, aplain = saver.get_tuple, saver.aget_tuple

        def get_tuple(config: Any) -> Any:
            found = plain(config)
            self._wait(config)
            return found

        async def aget_tuple(config: Any) -> Any:
            found = await aplain(config)
            # It holds up its own loop, on which nobody else is.
            self._wait(config)
            return found

        saver.get_tuple, saver.aget_tuple = get_tuple, aget_tuple
        try:
            yield
        finally:
            del saver.get_tuple, saver.aget_tuple

    def _wait(self, config: Mapping[str, Any]) -> None:
        party = config["configurable"].get(_PARTY)
        if party is None or party in self._here:
            return
        self._come(party)
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._here) >= self._parties, _SECONDS):
                raise TimeoutError(f"{self._parties - len(self._here)} runs have not loaded within {_SECONDS} s")

    def _come(self, party: int) -> None:
        with self._changed:
            self._here.add(party)
            self._changed.notify_all()


def race(replicas: Iterable[Replica], *calls: Callable[[Mapping[str, Any]], Any]) -> list[Any]:
    """Make calls that all load before one of them stores; gives what they return or raise."""
    meeting = Meeting(len(calls))
    with ExitStack() as stack:
        for saver in {id(replica.saver): replica.saver for replica in replicas}.values():
            stack.enter_context(meeting.at_loads_of(saver))
        return together(*(partial(meeting.attend, party, call) for party, call in enumerate(calls)))


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Make calls in threads of their own; gives what they return or raise."""
    ends: list[Any] = [None] * len(calls)

    def make(place: int) -> None:
        try:
            ends[place] = calls[place]()
        except Exception as error:  # noqa: BLE001 - whoever loses a race is asked for his error
            ends[place] = error

    threads = [threading.Thread(target=make, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ends
