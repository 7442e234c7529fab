"""Writes that were refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Column

from abreast.sql.columns import JsonText, KeyText, Micros

if TYPE_CHECKING:
    from alembic.operations import Operations

revision = "0004"
down_revision = "0003"


def upgrade(op: Operations, prefix: str) -> None:
    """Create the table."""
    name = f"{prefix}refusal"
    op.create_table(
        name,
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
    op.create_index(f"{prefix}refusal_actor", name, ["workspace_id", "actor_type", "actor_id", "refusal_id"])
