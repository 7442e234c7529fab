"""What a saver remembers of the states it has stored or loaded, so that the next put finds what is new."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from abreast.langgraph.saver.codec import Part, Piece
    from abreast.operations.elements import Address
    from abreast.operations.manifests import Place

_MOST_STATES: Final = 128
_MOST_BYTES: Final = 32 * 1024 * 1024


class Elements:
    """
    A list's elements, held so that their identity is not given to others, and their bytes.

    Attributes:
        objects: The elements; empty where only the bytes were read.
    """

    __slots__ = ("_parts", "_pieces", "objects")

    def __init__(self, objects: Sequence[Any], parts: Sequence[Part] | None, pieces: Sequence[Piece] = ()) -> None:
        self.objects = objects
        self._parts = parts
        self._pieces = pieces

    @property
    def parts(self) -> Sequence[Part]:
        """The bytes of each element; a load that is followed by no put never takes them apart."""
        if self._parts is None:
            self._parts = [part for piece in self._pieces for part in piece.parts()]
            self._pieces = ()
        return self._parts


@dataclass(frozen=True, slots=True)
class State:
    """
    A stored checkpoint.

    Attributes:
        channels: Where its channels are.
        lists: Elements of the channels that are lists.
    """

    checkpoint_id: str
    channels: Mapping[str, Place]
    lists: Mapping[str, Elements]

    @property
    def size(self) -> int:
        """Bytes of its elements, about."""
        return sum(self.channels[name].entry.size for name in self.lists)


class Memory:
    """
    The newest states, one for each run that goes on.

    Bounded: at most 128 states, with 32 MiB of elements together.
    """

    def __init__(self) -> None:
        self._states: OrderedDict[tuple[Address, int], State] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def get(self, address: Address, load: int, checkpoint_id: str) -> State | None:
        """Give the state of a run, if it is that of a checkpoint."""
        with self._lock:
            found = self._states.get((address, load))
            if found is None or found.checkpoint_id != checkpoint_id:
                return None
            self._states.move_to_end((address, load))
            return found

    def keep(self, address: Address, load: int, state: State) -> None:
        """Remember a run's newest state."""
        with self._lock:
            self._drop((address, load))
            self._states[address, load] = state
            self._size += state.size
            while len(self._states) > 1 and (len(self._states) > _MOST_STATES or self._size > _MOST_BYTES):
                self._drop(next(iter(self._states)))

    def drop(self, address: Address, load: int) -> None:
        """Forget the state of a run that has ended: the next one loads its own objects."""
        with self._lock:
            self._drop((address, load))

    def _drop(self, key: tuple[Address, int]) -> None:
        found = self._states.pop(key, None)
        if found is not None:
            self._size -= found.size
