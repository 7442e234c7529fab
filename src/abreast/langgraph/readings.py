"""Keep what was read for a run while it runs: in the process, never in the graph's state."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import HumanMessage, SystemMessage

from abreast.langgraph.state import has_tool_results, id_of
from abreast.prompt import place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abreast.model.batch import Batch
    from abreast.prompt import Placement
    from abreast.workspace_log import WorkspaceLog

RunKey = tuple[int, str, str, str]
"""Identity of the run's object, graph, workspace and thread."""

_MOST_KEPT: Final = 256


@dataclass(frozen=True, slots=True)
class Reading:
    """
    What one run is given.

    Attributes:
        run: The run's own object; holding it keeps its identity from being given to a later run.
        turn: The turn it was read for.
        block: The batch as written once, so that every request of the run has the same bytes.
        count: How many messages there were.
        last_id: Id of the last of them: messages can be removed in mid-run.
    """

    run: object
    turn: str
    batch: Batch
    block: str
    count: int
    last_id: str | None

    @classmethod
    def of(cls, batch: Batch, block: str, messages: Sequence[Any], turn: str, *, run: object = None) -> Reading:
        """Note what was read in front of these messages."""
        return cls(run, turn, batch, block, len(messages), id_of(messages[-1]) if messages else None)

    def known(self, messages: Sequence[Any]) -> int:
        """Say how many of the messages were there when it was read."""
        if self.last_id is not None:
            for index in range(len(messages) - 1, -1, -1):
                if id_of(messages[index]) == self.last_id:
                    return index + 1
        return min(self.count, len(messages))

    def precedes_tools(self, messages: Sequence[Any]) -> bool:
        """Say whether a tool, which may have written, has answered since."""
        return has_tool_results(messages[self.known(messages) :])


def placed(messages: Sequence[Any], block: str, placement: Placement, read_at: int | None = None) -> list[Any]:
    """Put a block among messages, which are LangChain's or dicts."""
    plain = bool(messages) and all(isinstance(message, dict) for message in messages)
    make = SystemMessage if placement == "system" else HumanMessage
    return place(messages, block, placement, make=None if plain else make, read_at=read_at)


def wrote(log: WorkspaceLog, reading: Reading, messages: Sequence[Any]) -> bool:
    """Say whether the thread itself has written since a reading: its own tools did."""
    return reading.precedes_tools(messages) and log.database.read(log.steps.has_written, *_since(reading.batch))


async def awrote(log: WorkspaceLog, reading: Reading, messages: Sequence[Any]) -> bool:
    """Async twin of `wrote`."""
    return reading.precedes_tools(messages) and await log.database.aread(log.steps.has_written, *_since(reading.batch))


def _since(batch: Batch) -> tuple[str, str, int]:
    return batch.workspace_id, batch.thread_id, batch.head


@dataclass(slots=True)
class Readings:
    """The readings of the newest runs; one that was dropped is read again."""

    _kept: OrderedDict[tuple[RunKey, str], Reading] = field(default_factory=OrderedDict[tuple[RunKey, str], Reading])
    _lock: Lock = field(default_factory=Lock)

    def get(self, run: RunKey | None, turn: str) -> Reading | None:
        """Give what a run was given in a turn, or None."""
        with self._lock:
            return None if run is None else self._kept.get((run, turn))

    def keep(self, run: RunKey | None, reading: Reading, *, instead_of: Reading | None) -> Reading:
        """
        Keep a reading, and give the one that counts.

        Nodes that run side by side may both have read: the first one counts for both.
        """
        if run is None:
            return reading
        key = (run, reading.turn)
        with self._lock:
            found = self._kept.get(key)
            if found is not None and found is not instead_of:
                return found
            self._kept[key] = reading
            self._kept.move_to_end(key)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
            return reading

    def drop(self, thread_id: str) -> None:
        """Forget the rows of a thread's runs."""
        with self._lock:
            for key in [key for key in self._kept if key[0][-1] == thread_id]:
                del self._kept[key]
