"""Leases, the line before a busy thread, and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Column

from abreast.sql.columns import JsonText, KeyText, Micros

if TYPE_CHECKING:
    from alembic.operations import Operations

revision = "0002"
down_revision = "0001"


def upgrade(op: Operations, prefix: str) -> None:
    """Create the tables."""
    op.create_table(
        f"{prefix}thread_lease",
        Column("thread_id", KeyText(), primary_key=True),
        Column("fence", BigInteger, nullable=False),
        Column("run_id", KeyText(), nullable=False),
        Column("expires_at", Micros, nullable=False),
        Column("stop_asked_by", KeyText()),
        Column("last_ticket", BigInteger, nullable=False),
    )
    op.create_table(
        f"{prefix}thread_waiter",
        Column("thread_id", KeyText(), primary_key=True),
        Column("ticket", BigInteger, primary_key=True, autoincrement=False),
        Column("run_id", KeyText(), nullable=False),
        Column("expires_at", Micros, nullable=False),
    )
    op.create_table(
        f"{prefix}run",
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
    )
    op.create_index(f"{prefix}run_fence", f"{prefix}run", ["thread_id", "fence"])
