"""What a run knows of the checkpoint it began with; it travels in the configuration that the saver gave."""

from __future__ import annotations

import json
from dataclasses import dataclass
from secrets import randbits
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Mapping

LOADED_KEY: Final = "__abreast_loaded"
"""
Key in a configuration's `configurable`.

LangGraph hands the configuration of the checkpoint it has loaded to every put and pending write of the run; with `__`
the key stays out of checkpoint metadata. A context variable would be lost where a stream's parts are fetched in
contexts of their own, as web servers do.
"""


@dataclass(frozen=True, slots=True)
class Load:
    """
    One load of a checkpoint.

    Attributes:
        number: No other load has it.
        place: Tells its thread and namespace from others.
        epoch: The thread's.
        newest: The newest checkpoint of the namespace at that time.
        checkpoint_id: The one that was loaded; another one where the caller named it.
        parent_id: Its parent.
        writes: Ordinary pending writes that it had.
    """

    number: int
    place: int
    epoch: int
    newest: str | None
    checkpoint_id: str
    parent_id: str | None
    writes: int

    def writes_of(self, checkpoint_id: str | None) -> int:
        """Count the ordinary pending writes of others that a checkpoint may have: only the loaded one had any."""
        return self.writes if checkpoint_id == self.checkpoint_id else 0

    def token(self) -> str:
        """Write it as text, which every serializer of configurations can keep."""
        fields = (self.number, self.place, self.epoch, self.newest, self.checkpoint_id, self.parent_id, self.writes)
        return json.dumps(fields, separators=(",", ":"))


def new_number() -> int:
    """Give a number for a load."""
    return randbits(62) + 1


def place_of(thread_id: object, checkpoint_ns: object) -> int:
    """Give a number for a namespace of a thread."""
    return crc32(f"{thread_id}|{checkpoint_ns or ''}".encode())


def load_of(configurable: Mapping[str, Any]) -> Load | None:
    """Give the load that a configuration comes from, if it comes from one of its own thread and namespace."""
    token = configurable.get(LOADED_KEY)
    if not isinstance(token, str):
        return None
    load = Load(*json.loads(token))
    own = place_of(configurable.get("thread_id"), configurable.get("checkpoint_ns"))
    return load if load.place == own else None
