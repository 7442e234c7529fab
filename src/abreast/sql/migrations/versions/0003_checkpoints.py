"""Checkpoints: heads, bodies, values, elements of lists, pending writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Column

from abreast.sql.columns import Blob, JsonText, KeyText, Micros

if TYPE_CHECKING:
    from alembic.operations import Operations

revision = "0003"
down_revision = "0002"


def upgrade(op: Operations, prefix: str) -> None:
    """Create the tables."""
    op.create_table(
        f"{prefix}checkpoint_head",
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
    )
    _create_checkpoints(op, prefix)
    op.create_table(
        f"{prefix}checkpoint_value",
        *_of_namespace(),
        Column("channel", KeyText(), primary_key=True),
        Column("seq", BigInteger, primary_key=True, autoincrement=False),
        Column("kind", KeyText(64), nullable=False),
        Column("bytes", Blob, nullable=False),
        Column("checksum", Blob, nullable=False),
    )
    op.create_table(
        f"{prefix}checkpoint_element",
        *_of_namespace(),
        Column("channel", KeyText(), primary_key=True),
        Column("first", BigInteger, primary_key=True, autoincrement=False),
        Column("count", BigInteger, nullable=False),
        Column("sizes", Blob, nullable=False),
        Column("kind", KeyText(64), nullable=False),
        Column("bytes", Blob, nullable=False),
        Column("checksum", Blob, nullable=False),
    )
    op.create_table(
        f"{prefix}checkpoint_write",
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
    )


def _create_checkpoints(op: Operations, prefix: str) -> None:
    name = f"{prefix}checkpoint"
    op.create_table(
        name,
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
    op.create_index(f"{prefix}checkpoint_seq", name, ["thread_id", "checkpoint_ns", "seq"])
    op.create_index(f"{prefix}checkpoint_run", name, ["run_id"])


def _of_namespace() -> list[Column[Any]]:
    return [Column("thread_id", KeyText(), primary_key=True), Column("checkpoint_ns", KeyText(1_024), primary_key=True)]
