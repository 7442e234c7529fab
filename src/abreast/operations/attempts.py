"""Store refused writes, and look up what somebody tried."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import delete, insert, select

from abreast.model.attempt import Attempt
from abreast.model.event import Actor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement, Connection, Table

    from abreast.sql.mapping import Catalog
    from abreast.sql.tables import Tables

_SHARED: Final = (
    "workspace_id",
    "entity_type",
    "entity_id",
    "operation",
    "changed_fields",
    "actor_type",
    "actor_id",
    "on_behalf_of",
    "source_thread_id",
    "run_id",
    "mutation_id",
    "created_at",
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """
    Whose attempts are looked up.

    Attributes:
        actor: None for everybody's; one without `on_behalf_of` for whomever it acted.
        since: UTC microseconds, inclusive.
        limit: Most attempts.
    """

    workspace_id: str
    actor: Actor | None
    since: int | None
    limit: int


def record_refusal(connection: Connection, tables: Tables, refused: Attempt) -> None:
    """Store a refused write; without values, and without what its transaction has rolled back."""
    values = {
        "workspace_id": refused.workspace_id,
        "refusal_id": refused.attempt_id,
        "actor_type": refused.actor.type,
        "actor_id": refused.actor.id,
        "on_behalf_of": refused.actor.on_behalf_of,
        "source_thread_id": refused.source_thread_id,
        "run_id": refused.run_id,
        "mutation_id": refused.mutation_id,
        "entity_type": refused.entity_type,
        "entity_id": refused.entity_id,
        "operation": refused.operation,
        "changed_fields": list(refused.changed_fields),
        "reason": refused.result,
        "created_at": refused.created_at,
    }
    connection.execute(insert(tables.refusal), values)


def list_attempts(connection: Connection, tables: Tables, catalog: Catalog, wanted: Wanted) -> list[Attempt]:
    """Give what took effect and what was refused, newest first; read in one snapshot it is of one moment."""
    allowed = _newest(connection, catalog, tables.workspace_event, "event_id", wanted)
    refused = _newest(connection, catalog, tables.refusal, "refusal_id", wanted)
    newest = heapq.merge(allowed, refused, key=lambda attempt: attempt.attempt_id, reverse=True)
    return list(islice(newest, wanted.limit))


def forget_refusals(connection: Connection, tables: Tables, workspace_id: str, before: int) -> None:
    """Delete a workspace's refusals from before a time, exclusive."""
    row = tables.refusal
    connection.execute(delete(row).where(row.c.workspace_id == workspace_id, row.c.created_at < before))


def _newest(connection: Connection, catalog: Catalog, table: Table, key: str, wanted: Wanted) -> Iterator[Attempt]:
    own = "revision" if "revision" in table.c else "reason"
    columns = [table.c[key].label("id"), table.c[own].label("own"), *(table.c[name] for name in _SHARED)]
    found = select(*columns).where(*_conditions(table, wanted)).order_by(table.c[key].desc()).limit(wanted.limit)
    for row in connection.execute(found):
        yield _attempt(row, catalog, took_effect=own == "revision")


def _conditions(table: Table, wanted: Wanted) -> list[ColumnElement[bool]]:
    conditions = [table.c.workspace_id == wanted.workspace_id]
    if wanted.actor is not None:
        conditions += [table.c.actor_type == wanted.actor.type, table.c.actor_id == wanted.actor.id]
        if wanted.actor.on_behalf_of is not None:
            conditions.append(table.c.on_behalf_of == wanted.actor.on_behalf_of)
    if wanted.since is not None:
        conditions.append(table.c.created_at >= wanted.since)
    return conditions


def _attempt(row: Any, catalog: Catalog, *, took_effect: bool) -> Attempt:
    entity = catalog.by_name.get(row.entity_type)
    secrets = frozenset[str]() if entity is None else entity.secrets
    return Attempt(
        workspace_id=row.workspace_id,
        attempt_id=row.id,
        result="allowed" if took_effect else row.own,
        actor=Actor(row.actor_type, row.actor_id, row.on_behalf_of),
        operation=row.operation,
        entity_type=row.entity_type,
        entity_id=row.entity_id,
        changed_fields=tuple(name for name in row.changed_fields if name not in secrets),
        source_thread_id=row.source_thread_id,
        run_id=row.run_id,
        mutation_id=row.mutation_id,
        revision=row.own if took_effect else None,
        created_at=row.created_at,
    )
