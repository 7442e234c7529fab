"""Workspaces, their events, mutations, versions, threads and cursors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Column

from abreast.sql.columns import Blob, JsonText, KeyText, Micros, unique_once_set

if TYPE_CHECKING:
    from alembic.operations import Operations

revision = "0001"
down_revision = None


def upgrade(op: Operations, prefix: str) -> None:
    """Create the tables."""
    op.create_table(
        f"{prefix}installation",
        Column("name", KeyText(32), primary_key=True),
        Column("secret", Blob, nullable=False),
    )
    op.create_table(
        f"{prefix}workspace",
        Column("workspace_id", KeyText(), primary_key=True),
        Column("epoch", KeyText(32), nullable=False),
        Column("head", BigInteger, nullable=False),
        Column("floor", BigInteger, nullable=False),
    )
    _create_events(op, prefix)
    op.create_table(
        f"{prefix}mutation",
        Column("workspace_id", KeyText(), primary_key=True),
        Column("mutation_id", KeyText(), primary_key=True),
        Column("payload_hash", KeyText(64), nullable=False),
        Column("result", JsonText, nullable=False),
        Column("created_at", Micros, nullable=False),
    )
    op.create_table(
        f"{prefix}entity_version",
        Column("workspace_id", KeyText(), primary_key=True),
        Column("entity_type", KeyText(), primary_key=True),
        Column("entity_id", KeyText(), primary_key=True),
        Column("version", BigInteger, nullable=False),
    )
    op.create_table(
        f"{prefix}thread",
        Column("thread_id", KeyText(), primary_key=True),
        Column("workspace_id", KeyText(), nullable=False),
        Column("opened_at", Micros, nullable=False),
    )
    op.create_table(
        f"{prefix}thread_cursor",
        Column("workspace_id", KeyText(), primary_key=True),
        Column("thread_id", KeyText(), primary_key=True),
        Column("scope", KeyText(), primary_key=True),
        Column("epoch", KeyText(32), nullable=False),
        Column("revision", BigInteger, nullable=False),
        Column("mark", KeyText(32), nullable=False),
        Column("moved_at", Micros, nullable=False),
    )


def _create_events(op: Operations, prefix: str) -> None:
    name = f"{prefix}workspace_event"
    events = op.create_table(
        name,
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
    for index in unique_once_set(f"{prefix}event_revision", events.c.workspace_id, events.c.revision):
        index.create(op.get_bind(), checkfirst=False)
    op.create_index(f"{prefix}event_entity", name, ["workspace_id", "entity_type", "entity_id", "version"])
