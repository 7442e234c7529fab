"""The product of the story: a move and its checklist, as any application maps them."""

from __future__ import annotations

from datetime import date  # noqa: TC003 - SQLAlchemy reads the annotations

from sqlalchemy import String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The product's tables."""


class Move(Base):
    """A move into a flat."""

    __tablename__ = "demo_move"
    workspace_id: Mapped[str] = mapped_column(String(100), primary_key=True)
    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    move_in_date: Mapped[date]
    stage: Mapped[str] = mapped_column(String(40))
    version: Mapped[int]


class ChecklistItem(Base):
    """One thing to do before the move."""

    __tablename__ = "demo_checklist_item"
    workspace_id: Mapped[str] = mapped_column(String(100), primary_key=True)
    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    position: Mapped[int]
    title: Mapped[str] = mapped_column(String(200))
    done: Mapped[bool]
    version: Mapped[int]
