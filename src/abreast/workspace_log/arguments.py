"""What callers of `WorkspaceLog` pass, checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlalchemy.orm import Session

from abreast.database import Database
from abreast.errors import InvalidInput
from abreast.model.batch import Batch
from abreast.model.cursor import Cursor
from abreast.model.entity import Entity
from abreast.model.event import Actor
from abreast.sql.values import check_id
from abreast.workspace_log.steps import sound
from abreast.workspace_log.write import Origin

if TYPE_CHECKING:
    from abreast.operations.leases import Lease
    from abreast.workspace_log.write import Transaction

_SYNC: Final = (Connection, Session)
_ASYNC: Final = (AsyncConnection, AsyncSession)


def origin_of(
    workspace_id: str,
    actor: Actor,
    mutation_id: str | None,
    source_thread_id: str | None,
    run_id: str | None,
    lease: Lease | None,
) -> Origin:
    """
    Say who writes, and from where.

    Raises:
        InvalidInput: The actor is none, or an id cannot be stored.
    """
    if not isinstance(actor, Actor):
        raise InvalidInput("actor", "is not an Actor", 'pass Actor.user("…"), Actor.agent("…") or Actor.system("…")')
    for name, value in (("actor.id", actor.id), ("actor.on_behalf_of", actor.on_behalf_of)):
        _optional_id(name, value)
    return Origin(
        check_id("workspace_id", workspace_id),
        actor,
        _optional_id("mutation_id", mutation_id),
        _optional_id("source_thread_id", source_thread_id),
        _optional_id("run_id", run_id),
        lease,
    )


def check_within(within: object, *, sync: bool) -> None:
    """
    Make sure that a caller's transaction is one that this kind of block can write in.

    Raises:
        InvalidInput: It is of the other kind, or something that only makes transactions.
    """
    wanted, other = (_SYNC, _ASYNC) if sync else (_ASYNC, _SYNC)
    if within is None or isinstance(within, wanted):
        return
    names = " or ".join(kind.__name__ for kind in wanted)
    if isinstance(within, other):
        way_out = f"use {'awrite' if sync else 'write'}() with it"
    else:
        way_out = f"pass the {names} that your transaction runs on"
    raise InvalidInput("within", f"is {type(within).__name__}, no {names}", way_out)


def check_parts(database: object, entities: object) -> None:
    """
    Make sure that a log was given a database and a list.

    Raises:
        InvalidInput: It was not.
    """
    if not isinstance(database, Database):
        raise InvalidInput(
            "database", f"is {type(database).__name__}, no Database", 'pass Database.open("sqlite:///app.db")'
        )
    if isinstance(entities, (str, Entity)) or not isinstance(entities, Iterable):
        raise InvalidInput("entities", "is no list of entities", "pass [Entity(…, expose=[…])]")


def own_lease(lease: Lease | None, within: Transaction) -> Lease | None:
    """
    Give a lease back that can be checked in the last statement of a transaction.

    Raises:
        InvalidInput: The transaction is the caller's.
    """
    if lease is not None and within is not None:
        raise InvalidInput(
            "lease", "comes with within=, where the last statement is the caller's", "leave one of them out"
        )
    return lease


def _optional_id(name: str, value: str | None) -> str | None:
    return None if value is None else check_id(name, value)


def cursor_of(delivered: Batch | Cursor) -> Cursor:
    """
    Give the cursor that a delivery moves a thread to.

    Raises:
        InvalidInput: It is no delivery.
    """
    if isinstance(delivered, Batch):
        return delivered.cursor_after
    if isinstance(delivered, Cursor):
        return sound(delivered)
    raise InvalidInput("delivered", "is neither a Batch nor a Cursor", "pass what read_batch() returned")
