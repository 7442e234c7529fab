"""SqlSaver: LangGraph's checkpoints in the database, published only on the head they were computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from langgraph.checkpoint.base import BaseCheckpointSaver

from abreast.database import Database
from abreast.errors import InvalidInput
from abreast.langgraph.arguments import came, check_choice, check_flag, check_kind, check_whole
from abreast.langgraph.saver import upkeep
from abreast.langgraph.saver.acts import adone, done
from abreast.langgraph.saver.calls import Calls, Limits, Lineage
from abreast.langgraph.saver.claims import Claims
from abreast.langgraph.saver.codec import Codec
from abreast.langgraph.saver.listing import Listing, history
from abreast.langgraph.saver.loads import load_of
from abreast.langgraph.saver.memory import Memory
from abreast.langgraph.saver.publishing import Put

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
    from datetime import timedelta

    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import (
        ChannelVersions,
        Checkpoint,
        CheckpointMetadata,
        CheckpointTuple,
        DeltaChannelHistory,
    )
    from langgraph.checkpoint.serde.base import SerializerProtocol


class SqlSaver(BaseCheckpointSaver[int]):
    """
    Keep the checkpoints of graphs in a database, for sync and async calls alike.

    A checkpoint is published only on the one it was computed from: who comes second gets `CheckpointConflict`, and
    nothing is stored. Once a later run of a bound graph has loaded a thread, nothing of an earlier one takes effect.
    Every value has a checksum; one that changed or went missing raises `CheckpointCorrupt`, which names it. A list
    is stored by element, so that a conversation grows with its messages and not with their square.

    What is newest is what was published last, whatever the clocks say. To branch off an older checkpoint name it in
    the configuration by `checkpoint_id`; the branch becomes the newest.

    Calls without a run (`update_state`, graphs that are not bound) are refused with `ThreadBusy` while a bound graph
    runs the thread.

    Args:
        database: Where the checkpoints are; call its `upgrade` once before.
        leases: The log's database, if it is another one.
        serde: Makes bytes of values; LangGraph's own by default, `EncryptedSerializer` encrypts.
        verify: When all elements of a list are compared with what is stored, to find those that were changed in
            place: `"end"` at the end of a run, `"always"` at each put. The last 8 are always compared.
        warn_bytes: From this size of a channel on a warning is logged.
        max_bytes: A larger channel raises `StateTooLarge`, and nothing is stored.
        allow_new_roots: A checkpoint without parent may be put into a thread that has some. Without it that is
            refused, as it would hide a conversation from its own thread.

    Raises:
        InvalidInput: An argument is of another type, unknown or out of range.

    Example:
        >>> saver = SqlSaver(database)
        >>> saver.get_tuple({"configurable": {"thread_id": "t1"}}) is None
        True
    """

    def __init__(
        self,
        database: Database,
        *,
        leases: Database | None = None,
        serde: SerializerProtocol | None = None,
        verify: Literal["end", "always"] = "end",
        warn_bytes: int | None = None,
        max_bytes: int | None = None,
        allow_new_roots: bool = False,
    ) -> None:
        for name, place in (("database", database), ("leases", database if leases is None else leases)):
            check_kind(name, place, Database, "Database", 'pass Database.open("sqlite:///app.db")')
        if serde is not None and not callable(getattr(serde, "dumps_typed", None)):
            raise InvalidInput("serde", f"is {came(serde)}, no serializer", "pass one of LangGraph's, or None")
        super().__init__(serde=serde)
        check_choice("verify", verify, ("end", "always"))
        for name, value in (("warn_bytes", warn_bytes), ("max_bytes", max_bytes)):
            if value is not None:
                check_whole(name, value)
        check_flag("allow_new_roots", allow_new_roots)
        self.database = database
        self._calls = Calls(
            database=database,
            leases=leases or database,
            claims=Claims(database, leases or database),
            memory=Memory(),
            lineage=Lineage(),
            limits=Limits(warn_bytes, max_bytes),
            everything=verify == "always",
            allow_new_roots=allow_new_roots,
            warned=set(),
        )

    @property
    def _codec(self) -> Codec:
        return Codec(self.serde)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """
        Load the newest checkpoint of a thread's namespace, or the one that `checkpoint_id` names.

        Raises:
            CheckpointCorrupt: Bytes changed or went missing.
            LeaseLost: A later run has the thread.
            InvalidInput: The configuration names no thread, or something that cannot be an id.
            DatabaseUnavailable: The database is away or stayed busy.
        """
        return done(self._calls.get(self._codec, config))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Async twin of `get_tuple`."""
        return await adone(self._calls.get(self._codec, config))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """
        Publish a checkpoint as the newest of its namespace, or store nothing; safe to repeat.

        Raises:
            CheckpointConflict: It was computed from another checkpoint than the newest.
            LeaseLost: A later run has the thread.
            ThreadBusy: A bound graph runs the thread, and this is no part of it.
            ThreadDeleted: The thread was deleted after it was loaded.
            StateTooLarge: A channel is larger than `max_bytes`.
            InvalidInput: Something that is to be an id cannot be one.
            DatabaseUnavailable: The database is away or stayed busy.
        """
        given = Put(config, checkpoint, metadata, new_versions, load_of(config.get("configurable", {})))
        return done(self._calls.put(self._codec, given))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Async twin of `put`."""
        given = Put(config, checkpoint, metadata, new_versions, load_of(config.get("configurable", {})))
        return await adone(self._calls.put(self._codec, given))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """
        Store what a task has written, until the next checkpoint holds it; safe to repeat.

        Raises:
            CheckpointConflict: Somebody else has moved the thread on.
            LeaseLost: A later run has the thread.
            ThreadBusy: A bound graph runs the thread, and this is no part of it.
            ThreadDeleted: The thread was deleted.
            InvalidInput: Something that is to be an id cannot be one.
            DatabaseUnavailable: The database is away or stayed busy.
        """
        done(self._calls.put_writes(self._codec, config, writes, task_id, task_path))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Async twin of `put_writes`."""
        await adone(self._calls.put_writes(self._codec, config, writes, task_id, task_path))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """
        List checkpoints, the newest first: those of a thread in the order in which they were published.

        No connection is held between two of them.

        Args:
            config: The thread, and a namespace or checkpoint if only these are wanted; None for all threads.
            filter: Keys of the metadata and the values they must have.
            before: Only those published before the checkpoint that it names, in whatever namespace that is.

        Raises:
            CheckpointCorrupt: Bytes changed or went missing.
            InvalidInput: Something that is to be an id cannot be one.
            DatabaseUnavailable: The database is away or stayed busy.
        """
        listing = Listing(self.database, self._codec, config, filter or {}, before, limit)
        while listing.goes_on:
            yield from done(listing.page())

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - as above
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Async twin of `list`."""
        listing = Listing(self.database, self._codec, config, filter or {}, before, limit)
        while listing.goes_on:
            for found in await adone(listing.page()):
                yield found

    def delete_thread(self, thread_id: str) -> None:
        """
        Remove everything that is stored of a thread; what a run that goes on puts afterwards is refused.

        The thread's id can be used again, for a conversation that begins anew.

        Raises:
            InvalidInput: The id cannot be one.
            DatabaseUnavailable: The database is away or stayed busy.
        """
        done(upkeep.delete_thread(self.database, thread_id))

    async def adelete_thread(self, thread_id: str) -> None:
        """Async twin of `delete_thread`."""
        await adone(upkeep.delete_thread(self.database, thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """
        Remove the checkpoints that runs have stored, by the `run_id` of their metadata, with their pending writes.

        What came after them follows what came before them; the newest of what is left becomes the newest. Each
        thread is a transaction of its own.

        Raises:
            CheckpointsNeeded: A thread has channels stored as changes (DeltaChannel), and what stays is made of what
                would be removed.
            InvalidInput: Something that is to be an id cannot be one.
            DatabaseUnavailable: The database is away or stayed busy.
        """
        done(upkeep.delete_for_runs(self.database, self._codec, run_ids))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Async twin of `delete_for_runs`."""
        await adone(upkeep.delete_for_runs(self.database, self._codec, run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """
        Copy all checkpoints and pending writes of a thread to another one, in one transaction.

        Raises:
            InvalidInput: The target has checkpoints, or is the source.
            DatabaseUnavailable: The database is away or stayed busy.
        """
        done(upkeep.copy_thread(self.database, source_thread_id, target_thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Async twin of `copy_thread`."""
        await adone(upkeep.copy_thread(self.database, source_thread_id, target_thread_id))

    def prune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        keep_last: int = 1,
        older_than: timedelta | None = None,
    ) -> None:
        """
        Remove old checkpoints of threads, with the bytes that only they had; each thread is a transaction of its own.

        The newest of each namespace stays with its pending writes, so an open question can still be answered. So do
        those ancestors that channels stored as changes (DeltaChannel) are made of.

        Args:
            strategy: `"keep_latest"`, or `"delete"` for everything.
            keep_last: How many checkpoints of each namespace stay.
            older_than: Younger checkpoints stay as well.

        Raises:
            CheckpointCorrupt: What stays is not intact; nothing was removed from that thread.
            InvalidInput: An argument is out of range.
            DatabaseUnavailable: The database is away or stayed busy.
        """
        done(upkeep.prune(self.database, self._codec, thread_ids, strategy, keep_last, older_than))

    async def aprune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        keep_last: int = 1,
        older_than: timedelta | None = None,
    ) -> None:
        """Async twin of `prune`."""
        await adone(upkeep.prune(self.database, self._codec, thread_ids, strategy, keep_last, older_than))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """
        Give the writes of a checkpoint's ancestors to channels, and the values they begin with.

        Raises:
            CheckpointCorrupt: Bytes changed or went missing.
            DatabaseUnavailable: The database is away or stayed busy.
        """
        return done(history(self.database, self._codec, config, channels))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Async twin of `get_delta_channel_history`."""
        return await adone(history(self.database, self._codec, config, channels))

    def get_next_version(self, current: int | None, channel: None) -> int:  # noqa: ARG002 - LangGraph's signature
        """Give the next version of a channel: what a version's bytes are is in the checkpoint, not in its number."""
        return 1 if current is None else int(current) + 1
