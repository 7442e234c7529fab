"""The product of these tests: rows with a version of their own, and rows whose versions abreast keeps."""

from sqlalchemy import (
    Column,
    Engine,
    ForeignKey,
    Integer,
    MetaData,
    NullPool,
    String,
    Table,
    UniqueConstraint,
    create_engine,
    text,
)
from sqlalchemy.orm import DeclarativeBase

from abreast import Actor, Database, Entity, WorkspaceLog

METADATA = MetaData()
ITEM = Table(
    "item",
    METADATA,
    Column("id", String(60), primary_key=True),
    Column("workspace_id", String(60), nullable=False, index=True),
    Column("version", Integer, nullable=False),
    Column("title", String(200)),
    Column("place", String(200)),
    Column("code", String(60)),
    UniqueConstraint("code", name="one_code"),
)
PART = Table(
    "part",
    METADATA,
    Column("id", String(60), primary_key=True),
    Column("item_id", String(60), ForeignKey("item.id"), nullable=False, index=True),
    Column("title", String(200)),
)
W = "w1"
USER = Actor.user("u1")
LISTED = 5
"""Rows listed by a read: few, as these tests look at changes."""


class Base(DeclarativeBase):
    """The same rows for those who write through an ORM session."""

    metadata = METADATA


class Item(Base):
    """A row with a version."""

    __table__ = ITEM


class Part(Base):
    """A row whose version abreast keeps."""

    __table__ = PART


def entities(limit: int = LISTED) -> list[Entity]:
    """Describe the rows."""
    return [
        Entity(ITEM, expose=["title", "place"], hidden=["code"], limit=limit),
        Entity(PART, expose=["title"], workspace="item_id.workspace_id", version=None, limit=limit),
    ]


def log_of(database: Database, limit: int = LISTED) -> WorkspaceLog:
    """Open the log of the product."""
    return WorkspaceLog(database, entities(limit))


def make_tables(database: Database) -> None:
    """Make the product's tables."""
    database.run(METADATA.create_all)


def add_items(log: WorkspaceLog, *item_ids: str, workspace_id: str = W) -> None:
    """Insert items, numbered, each with version 1."""
    with log.write(workspace_id, actor=USER) as write:
        for item_id in item_ids:
            write.insert(ITEM, {"id": item_id, "title": f"{item_id} as made"})


def stored_revisions(engine: Engine, workspace_id: str = W) -> list[int | None]:
    """Give the revisions of a workspace's events past the library, the unnumbered ones last; locks nothing."""
    plain = create_engine(engine.url, poolclass=NullPool)
    statement = f"SELECT revision FROM abreast_workspace_event WHERE workspace_id = '{workspace_id}'"
    with plain.connect() as connection:
        found = connection.execute(text(statement)).scalars().all()
    return sorted(found, key=lambda revision: (revision is None, revision))
