"""Errors of stored checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abreast.errors.base import AbreastError, Conflict

if TYPE_CHECKING:
    from collections.abc import Mapping


class CheckpointConflict(Conflict):
    """
    A checkpoint or pending write was computed from a state that is not the newest any more; nothing was stored.

    Attributes:
        thread_id: The thread.
        checkpoint_ns: The namespace; empty for the graph itself.
    """

    def __init__(
        self, thread_id: str, checkpoint_ns: str, expected: str | None, actual: str | None, *, why: str = ""
    ) -> None:
        inside = f" in namespace {checkpoint_ns!r}" if checkpoint_ns else ""
        super().__init__(
            f"newest checkpoint of thread {thread_id!r}{inside}",
            expected,
            actual,
            "somebody else has moved the thread on: call the graph again, which begins at what is stored now; "
            "to branch off an older checkpoint name it in config by checkpoint_id",
            why,
        )
        self.thread_id = thread_id
        self.checkpoint_ns = checkpoint_ns


class ThreadDeleted(Conflict):
    """
    A thread was deleted after the run had loaded it; nothing was stored.

    Attributes:
        thread_id: The thread.
    """

    def __init__(self, thread_id: str) -> None:
        super().__init__(
            f"thread {thread_id!r}",
            "its stored state",
            "that it was deleted",
            "end this run; a new one begins the thread anew, with nothing in it",
        )
        self.thread_id = thread_id


class CheckpointCorrupt(AbreastError):
    """
    Stored bytes of a thread changed or went missing.

    Attributes:
        thread_id: The thread.
        checkpoint_ns: The namespace; empty for the graph itself.
        checkpoint_id: The checkpoint that needs the bytes.
        channel: The channel; None for the checkpoint's own row.
        problem: What is wrong.
    """

    def __init__(
        self, thread_id: str, checkpoint_ns: str, checkpoint_id: str | None, channel: str | None, problem: str
    ) -> None:
        inside = f", namespace {checkpoint_ns!r}" if checkpoint_ns else ""
        of_channel = f", channel {channel!r}" if channel is not None else ""
        super().__init__(
            f"thread {thread_id!r}{inside}, checkpoint {checkpoint_id!r}{of_channel}: {problem}; restore the rows from "
            "a backup, or go on from an older checkpoint by its checkpoint_id"
        )
        self.thread_id = thread_id
        self.checkpoint_ns = checkpoint_ns
        self.checkpoint_id = checkpoint_id
        self.channel = channel
        self.problem = problem


class StateTooLarge(AbreastError):
    """
    A channel is larger than the saver's limit; nothing was stored.

    Attributes:
        thread_id: The thread.
        channel: The largest channel.
        size: Its bytes.
        limit: The most bytes allowed.
        sizes: Bytes of every channel that was to be stored.
    """

    def __init__(self, thread_id: str, channel: str, size: int, limit: int, sizes: Mapping[str, int]) -> None:
        super().__init__(
            f"thread {thread_id!r}: channel {channel!r} has {size} bytes, and the limit is {limit} (bytes by channel: "
            f"{sizes}); keep large data elsewhere and a reference to it in the state, or raise max_bytes"
        )
        self.thread_id = thread_id
        self.channel = channel
        self.size = size
        self.limit = limit
        self.sizes = sizes


class CheckpointsNeeded(AbreastError):
    """
    Checkpoints were to be removed that newer ones of the thread are made of; nothing was removed.

    Attributes:
        thread_id: The thread.
        channels: The channels that are stored as changes.
    """

    def __init__(self, thread_id: str, channels: frozenset[str]) -> None:
        names = ", ".join(sorted(channels))
        super().__init__(
            f"thread {thread_id!r}: what is kept needs the writes of what was to be removed, because {names} is stored "
            "as changes (DeltaChannel); run the graph until it has stored a snapshot, or delete the whole thread"
        )
        self.thread_id = thread_id
        self.channels = channels
