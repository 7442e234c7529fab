"""abreast's own tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from sqlalchemy import BigInteger, Column, Index, MetaData, Table

from abreast.errors import InvalidInput
from abreast.sql.columns import Blob, JsonText, KeyText, Micros, unique_once_set

DEFAULT_PREFIX = "abreast_"
NAMESPACE_BYTES = 1_024
"""Longest checkpoint namespace: graphs within graphs add a node's name and a task's id each."""


@dataclass(frozen=True, eq=False)
class Tables:
    """
    The tables of one installation.

    Attributes:
        prefix: What their names begin with.
        installation: One row: the key that payload hashes are made with.
        workspace: The counter row of each workspace's log.
        workspace_event: The log.
        refusal: Writes that were refused, by name only.
        mutation: Receipts of writes, by idempotency key.
        entity_version: Versions of rows whose table has no version column.
        thread: Which workspace a thread belongs to.
        thread_cursor: The last revision a thread has processed.
        thread_lease: Who may run a thread, and until when.
        thread_waiter: Who waits for a thread, in order.
        run: What each run was given and how it ended.
        checkpoint_head: The newest checkpoint of each thread, and how the thread stands.
        checkpoint: Checkpoints of all namespaces, each with a list of where its channels' bytes are.
        checkpoint_value: Bytes of channels.
        checkpoint_element: Bytes of the elements of channels that are lists; what one publish adds is one row.
        checkpoint_write: Pending writes.
    """

    metadata: MetaData
    prefix: str
    installation: Table
    workspace: Table
    workspace_event: Table
    refusal: Table
    mutation: Table
    entity_version: Table
    thread: Table
    thread_cursor: Table
    thread_lease: Table
    thread_waiter: Table
    run: Table
    checkpoint_head: Table
    checkpoint: Table
    checkpoint_value: Table
    checkpoint_element: Table
    checkpoint_write: Table

    @property
    def of_checkpoints(self) -> tuple[Table, ...]:
        """What a thread's checkpoints are made of, besides its head row."""
        return self.checkpoint, self.checkpoint_value, self.checkpoint_element, self.checkpoint_write


@cache
def define_tables(prefix: str = DEFAULT_PREFIX) -> Tables:
    """
    Define the tables under a prefix.

    Raises:
        InvalidInput: It is no beginning of a table's name.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,29}", prefix):
        raise InvalidInput("prefix", "is no beginning of a table's name", "use up to 30 letters, digits and _")
    metadata = MetaData()
    return Tables(
        metadata=metadata,
        prefix=prefix,
        installation=Table(
            f"{prefix}installation",
            metadata,
            Column("name", KeyText(32), primary_key=True),
            Column("secret", Blob, nullable=False),
        ),
        workspace=Table(
            f"{prefix}workspace",
            metadata,
            Column("workspace_id", KeyText(), primary_key=True),
            Column("epoch", KeyText(32), nullable=False),
            Column("head", BigInteger, nullable=False),
            Column("floor", BigInteger, nullable=False),
        ),
        workspace_event=_event_table(prefix, metadata),
        refusal=_refusal_table(prefix, metadata),
        mutation=Table(
            f"{prefix}mutation",
            metadata,
            Column("workspace_id", KeyText(), primary_key=True),
            Column("mutation_id", KeyText(), primary_key=True),
            Column("payload_hash", KeyText(64), nullable=False),
            Column("result", JsonText, nullable=False),
            Column("created_at", Micros, nullable=False),
        ),
        entity_version=Table(
            f"{prefix}entity_version",
            metadata,
            Column("workspace_id", KeyText(), primary_key=True),
            Column("entity_type", KeyText(), primary_key=True),
            Column("entity_id", KeyText(), primary_key=True),
            Column("version", BigInteger, nullable=False),
        ),
        thread=Table(
            f"{prefix}thread",
            metadata,
            Column("thread_id", KeyText(), primary_key=True),
            Column("workspace_id", KeyText(), nullable=False),
            Column("opened_at", Micros, nullable=False),
        ),
        thread_cursor=Table(
            f"{prefix}thread_cursor",
            metadata,
            Column("workspace_id", KeyText(), primary_key=True),
            Column("thread_id", KeyText(), primary_key=True),
            Column("scope", KeyText(), primary_key=True),
            Column("epoch", KeyText(32), nullable=False),
            Column("revision", BigInteger, nullable=False),
            Column("mark", KeyText(32), nullable=False),
            Column("moved_at", Micros, nullable=False),
        ),
        thread_lease=Table(
            f"{prefix}thread_lease",
            metadata,
            Column("thread_id", KeyText(), primary_key=True),
            Column("fence", BigInteger, nullable=False),
            Column("run_id", KeyText(), nullable=False),
            Column("expires_at", Micros, nullable=False),
            Column("stop_asked_by", KeyText()),
            Column("last_ticket", BigInteger, nullable=False),
        ),
        thread_waiter=Table(
            f"{prefix}thread_waiter",
            metadata,
            Column("thread_id", KeyText(), primary_key=True),
            Column("ticket", BigInteger, primary_key=True, autoincrement=False),
            Column("run_id", KeyText(), nullable=False),
            Column("expires_at", Micros, nullable=False),
        ),
        run=Table(
            f"{prefix}run",
            metadata,
            Column("thread_id", KeyText(), primary_key=True),
            Column("run_id", KeyText(), primary_key=True),
            Column("workspace_id", KeyText(), nullable=False),
            Column("fence", BigInteger, nullable=False),
            Column("started_at", Micros, nullable=False),
            Column("ended_at", Micros),
            Column("outcome", KeyText(16), nullable=False),
            Column("since", JsonText),
            Column("given", JsonText),
            Column("nominated", JsonText),
            Index(f"{prefix}run_fence", "thread_id", "fence"),
        ),
        **_checkpoint_tables(prefix, metadata),
    )


def _checkpoint_tables(prefix: str, metadata: MetaData) -> dict[str, Table]:
    """Define what `SqlSaver` stores in; values are bytes, which no database changes or refuses."""
    return {
        "checkpoint_head": Table(
            f"{prefix}checkpoint_head",
            metadata,
            Column("thread_id", KeyText(), primary_key=True),
            Column("head_id", KeyText()),
            Column("version_id", BigInteger, nullable=False),
            Column("epoch", BigInteger, nullable=False),
            Column("fence", BigInteger, nullable=False),
            Column("deleted", BigInteger, nullable=False),
            Column("run_state", KeyText(16), nullable=False),
            Column("status", KeyText()),
            Column("step", JsonText),
            Column("state_bytes", BigInteger, nullable=False),
            Column("checkpoint_at", Micros),
            Column("schema_version", BigInteger),
        ),
        "checkpoint": _checkpoint_table(prefix, metadata),
        "checkpoint_value": Table(
            f"{prefix}checkpoint_value",
            metadata,
            *_of_namespace(),
            Column("channel", KeyText(), primary_key=True),
            Column("seq", BigInteger, primary_key=True, autoincrement=False),
            Column("kind", KeyText(64), nullable=False),
            Column("bytes", Blob, nullable=False),
            Column("checksum", Blob, nullable=False),
        ),
        "checkpoint_element": Table(
            f"{prefix}checkpoint_element",
            metadata,
            *_of_namespace(),
            Column("channel", KeyText(), primary_key=True),
            Column("first", BigInteger, primary_key=True, autoincrement=False),
            Column("count", BigInteger, nullable=False),
            Column("sizes", Blob, nullable=False),
            Column("kind", KeyText(64), nullable=False),
            Column("bytes", Blob, nullable=False),
            Column("checksum", Blob, nullable=False),
        ),
        "checkpoint_write": Table(
            f"{prefix}checkpoint_write",
            metadata,
            *_of_namespace(),
            Column("checkpoint_id", KeyText(), primary_key=True),
            Column("task_id", KeyText(), primary_key=True),
            Column("idx", BigInteger, primary_key=True, autoincrement=False),
            Column("channel", KeyText(), nullable=False),
            Column("kind", KeyText(64), nullable=False),
            Column("bytes", Blob, nullable=False),
            Column("task_path", JsonText, nullable=False),
            Column("total", BigInteger, nullable=False),
            Column("writer", BigInteger, nullable=False),
            Column("checksum", Blob, nullable=False),
        ),
    }


def _checkpoint_table(prefix: str, metadata: MetaData) -> Table:
    table = Table(
        f"{prefix}checkpoint",
        metadata,
        *_of_namespace(),
        Column("checkpoint_id", KeyText(), primary_key=True),
        Column("seq", BigInteger, nullable=False),
        Column("parent_id", KeyText()),
        Column("epoch", BigInteger, nullable=False),
        Column("run_id", KeyText()),
        Column("created_at", Micros, nullable=False),
        Column("body", Blob, nullable=False),
        Column("checksum", Blob, nullable=False),
    )
    Index(f"{prefix}checkpoint_seq", table.c.thread_id, table.c.checkpoint_ns, table.c.seq)
    Index(f"{prefix}checkpoint_run", table.c.run_id)
    return table


def _of_namespace() -> list[Column[str]]:
    return [
        Column("thread_id", KeyText(), primary_key=True),
        Column("checkpoint_ns", KeyText(NAMESPACE_BYTES), primary_key=True),
    ]


def _event_table(prefix: str, metadata: MetaData) -> Table:
    table = Table(
        f"{prefix}workspace_event",
        metadata,
        Column("workspace_id", KeyText(), primary_key=True),
        Column("event_id", KeyText(32), primary_key=True),
        Column("revision", BigInteger),
        Column("entity_type", KeyText(), nullable=False),
        Column("entity_id", KeyText(), nullable=False),
        Column("version", BigInteger, nullable=False),
        Column("operation", KeyText(16), nullable=False),
        Column("changed_fields", JsonText, nullable=False),
        Column("before", JsonText),
        Column("after", JsonText),
        Column("actor_type", KeyText(16), nullable=False),
        Column("actor_id", KeyText(), nullable=False),
        Column("on_behalf_of", KeyText()),
        Column("source_thread_id", KeyText()),
        Column("run_id", KeyText()),
        Column("mutation_id", KeyText()),
        Column("created_at", Micros, nullable=False),
    )
    unique_once_set(f"{prefix}event_revision", table.c.workspace_id, table.c.revision)
    Index(f"{prefix}event_entity", table.c.workspace_id, table.c.entity_type, table.c.entity_id, table.c.version)
    return table


def _refusal_table(prefix: str, metadata: MetaData) -> Table:
    table = Table(
        f"{prefix}refusal",
        metadata,
        Column("workspace_id", KeyText(), primary_key=True),
        Column("refusal_id", KeyText(32), primary_key=True),
        Column("actor_type", KeyText(16), nullable=False),
        Column("actor_id", KeyText(), nullable=False),
        Column("on_behalf_of", KeyText()),
        Column("source_thread_id", KeyText()),
        Column("run_id", KeyText()),
        Column("mutation_id", KeyText()),
        Column("entity_type", KeyText()),
        Column("entity_id", KeyText()),
        Column("operation", KeyText(16)),
        Column("changed_fields", JsonText, nullable=False),
        Column("reason", KeyText(16), nullable=False),
        Column("created_at", Micros, nullable=False),
    )
    # Ids are ordered by time.
    actor = (table.c.workspace_id, table.c.actor_type, table.c.actor_id)
    Index(f"{prefix}refusal_actor", *actor, table.c.refusal_id)
    return table
