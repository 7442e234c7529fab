"""The product of the contract tests: its tables, how they are described to abreast, and who changes them."""

import enum
import uuid
from datetime import date
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    Enum,
    Float,
    ForeignKey,
    Integer,
    Interval,
    LargeBinary,
    MetaData,
    Numeric,
    String,
    Table,
    Text,
    Time,
    Uuid,
    create_engine,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from abreast import Actor, Database, Entity
from abreast.sql.tables import define_tables

USER = Actor.user("u1")
OTHER_USER = Actor.user("u2")
AGENT = Actor.agent("assistant", on_behalf_of="u1")
JOB = Actor.system("nightly")

metadata = MetaData()


class Base(DeclarativeBase):
    """The product's mapped classes."""

    metadata = metadata


class Move(Base):
    """A mapped class with its workspace in a column and a column `version`."""

    __tablename__ = "move"
    id: Mapped[str] = mapped_column(String(255), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(String(255))
    move_in_date: Mapped[date | None]
    stage: Mapped[str] = mapped_column(String(40), default="new")
    note: Mapped[str | None] = mapped_column(Text)
    door_code: Mapped[str | None] = mapped_column(String(40))
    alarm_code: Mapped[str | None] = mapped_column(String(40))
    memo: Mapped[str | None] = mapped_column(Text)
    version: Mapped[int]


class SpecialMove(Base):
    """Another class of the same table."""

    __table__ = Move.__table__


class Booking(Base):
    """A mapped class whose mapper counts its versions, in a column of another name."""

    __tablename__ = "booking"
    number: Mapped[str] = mapped_column("booking_number", String(40), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(255))
    amount: Mapped[Any] = mapped_column(Numeric(10, 2))
    guests: Mapped[int] = mapped_column(default=1)
    lock_version: Mapped[int] = mapped_column()
    __mapper_args__ = {"version_id_col": lock_version}  # noqa: RUF012 - SQLAlchemy's own form


item = Table(  # one foreign key away from its workspace, no version column
    "item",
    metadata,
    Column("id", String(255), primary_key=True),
    Column("move_id", ForeignKey("move.id"), nullable=False),
    Column("title", String(200), nullable=False),
    Column("done", Boolean, nullable=False, default=False),
)

remark = Table(  # two foreign keys away, numbered by the database
    "remark",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("item_id", ForeignKey("item.id"), nullable=False),
    Column("text", Text, nullable=False),
    Column("version", Integer, nullable=False),
)

label = Table(  # numbered by the database, no version column
    "label",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("workspace_id", String(255), nullable=False),
    Column("text", Text),
)

slot = Table(  # a key of several columns, the workspace among them
    "slot",
    metadata,
    Column("workspace_id", String(255), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("hour", Integer, primary_key=True),
    Column("taken_by", String(40)),
    Column("version", Integer, nullable=False),
)


class Size(enum.Enum):
    """How large a sample is."""

    SMALL = "s"
    LARGE = "l"


sample = Table(  # a column of every type
    "sample",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("workspace_id", String(255), nullable=False),
    Column("day", Date),
    Column("moment", DateTime(timezone=True)),
    Column("local_moment", DateTime),
    Column("at", Time),
    Column("lasts", Interval),
    Column("price", Numeric(10, 2)),
    Column("weight", Float),
    Column("amount", Integer),
    Column("paid", Boolean),
    Column("size", Enum(Size, name="sample_size")),
    Column("tags", JSON),
    Column("parcel", Uuid),
    Column("photo", LargeBinary),
    Column("text", Text),
    Column("version", Integer, nullable=False),
)

ticket = Table(  # rows that not everybody may see
    "ticket",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("workspace_id", String(255), nullable=False),
    Column("owner", String(40), nullable=False),
    Column("state", String(40), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("version", Integer, nullable=False),
)

vault = Table(  # columns whose values must come out nowhere, with all that can refuse them
    "vault",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(255), nullable=False),
    Column("label", String(40)),
    Column("hidden_text", String(60), unique=True),
    Column("hidden_required", String(60), nullable=False, default="x"),
    Column("hidden_checked", String(60)),
    Column("hidden_late", String(60)),
    Column("hidden_parent", ForeignKey("move.id")),
    Column("hidden_day", Date),
    Column("hidden_moment", DateTime),
    Column("hidden_amount", Numeric(10, 2)),
    Column("hidden_size", Enum(Size, name="vault_size")),
    Column("hidden_id", Uuid),
    Column("hidden_count", Integer),
    Column("hidden_json", JSON),
    Column("secret_text", String(60), unique=True),
    Column("secret_checked", String(60)),
    Column("other_text", String(60), unique=True),
    Column("version", Integer, nullable=False),
    CheckConstraint("hidden_checked NOT LIKE 'bad%'", name="vault_hidden_checked"),
    CheckConstraint("secret_checked NOT LIKE 'bad%'", name="vault_secret_checked"),
)

SAMPLE_FIELDS = tuple(c.name for c in sample.c if c.name not in ("id", "workspace_id", "version"))

MOVE = Entity(Move, expose=["move_in_date", "stage", "note"], hidden=["door_code"], secret=["alarm_code"])
BOOKING = Entity(Booking, expose=["amount", "guests"], workspace="tenant")
ITEM = Entity(item, expose=["title", "done"], workspace="move_id.workspace_id", title="title")
REMARK = Entity(remark, expose=["text"], workspace="item_id.move_id.workspace_id")
LABEL = Entity(label, expose=["text"])
SLOT = Entity(slot, expose=["day", "hour", "taken_by"])
SAMPLE = Entity(sample, expose=SAMPLE_FIELDS)
VAULT = Entity(
    vault,
    expose=["label"],
    hidden=[c.name for c in vault.c if c.name.startswith("hidden_")],
    secret=["secret_text", "secret_checked"],
)
ENTITIES = (MOVE, BOOKING, ITEM, REMARK, LABEL, SLOT, SAMPLE, VAULT)


def create(url: str) -> None:
    """Make abreast's tables and the product's."""
    with Database.open(url) as database:
        database.upgrade()
    engine = create_engine(url)
    metadata.create_all(engine)
    if engine.dialect.name == "postgresql":
        with engine.begin() as connection:
            connection.exec_driver_sql(
                "ALTER TABLE vault ADD CONSTRAINT vault_late UNIQUE (hidden_late) DEFERRABLE INITIALLY DEFERRED"
            )
    engine.dispose()


def empty(url: str) -> None:
    """Delete every row."""
    engine = create_engine(url)
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SET lock_timeout = '5s'")
        kept = define_tables().installation
        for tables in (define_tables().metadata, metadata):
            for table in (table for table in reversed(tables.sorted_tables) if table is not kept):
                connection.execute(table.delete())
    engine.dispose()


def new_uuid(number: int) -> uuid.UUID:
    """Give a UUID that tests can name."""
    return uuid.UUID(int=number)
