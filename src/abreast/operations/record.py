"""Insert events into the log, unnumbered, and read them back."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import insert, select

from abreast.model.event import Actor, Event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Row, Select

    from abreast.model.event import JsonObject
    from abreast.sql.mapping import EntityTable
    from abreast.sql.tables import Tables


_READ: Final = (
    "workspace_id",
    "event_id",
    "revision",
    "entity_type",
    "entity_id",
    "version",
    "operation",
    "changed_fields",
    "before",
    "after",
    "actor_type",
    "actor_id",
    "on_behalf_of",
    "source_thread_id",
    "run_id",
    "mutation_id",
    "created_at",
)
"""What `event_of` takes apart by position: by name it would be a lookup for each of many values."""


def record(connection: Connection, tables: Tables, events: Sequence[Event]) -> None:
    """Store events in the transaction of the rows they tell of; no counter row is locked."""
    if events:
        connection.execute(insert(tables.workspace_event), [_values(event) for event in events])


def select_events(tables: Tables) -> Select[Any]:
    """Begin a SELECT of whole events, to be read by `event_of`."""
    return select(*(tables.workspace_event.c[name] for name in _READ))


def event_of(row: Row[Any]) -> Event:
    """Read an event from a row of `select_events`."""
    values: tuple[Any, ...] = tuple(row)
    place, id_, revision, entity_type, entity_id, version, operation, changed, before, after, *rest = values
    actor_type, actor_id, on_behalf_of, thread_id, run_id, mutation_id, created_at = rest
    return Event(
        workspace_id=place,
        event_id=id_,
        revision=revision,
        entity_type=entity_type,
        entity_id=entity_id,
        version=version,
        operation=operation,
        changed_fields=tuple(changed),
        before=before,
        after=after,
        actor=_actor(actor_type, actor_id, on_behalf_of),
        source_thread_id=thread_id,
        run_id=run_id,
        mutation_id=mutation_id,
        created_at=created_at,
    )


_actor = lru_cache(maxsize=1_024)(Actor)
"""Few people and agents make many changes."""


def told(event: Event, entity: EntityTable | None) -> Event:
    """
    Give an event as its entity is described today: what was stored of fields that are not exposed any more is left out.

    Of an entity that is not registered any more no value is.
    """
    exposed = frozenset[str]() if entity is None else entity.shown_values
    secrets = frozenset[str]() if entity is None else entity.secrets
    before, after = _only(event.before, exposed), _only(event.after, exposed)
    named = event.changed_fields
    if not secrets.isdisjoint(named):
        named = tuple(name for name in named if name not in secrets)
    if before is event.before and after is event.after and named is event.changed_fields:
        return event
    return replace(event, before=before, after=after, changed_fields=named)


def _only(values: JsonObject | None, names: frozenset[str]) -> JsonObject | None:
    if values is None or values.keys() <= names:
        return values
    return {name: value for name, value in values.items() if name in names}


def _values(event: Event) -> dict[str, Any]:
    return {
        "workspace_id": event.workspace_id,
        "event_id": event.event_id,
        "revision": None,
        "entity_type": event.entity_type,
        "entity_id": event.entity_id,
        "version": event.version,
        "operation": event.operation,
        "changed_fields": list(event.changed_fields),
        "before": event.before,
        "after": event.after,
        "actor_type": event.actor.type,
        "actor_id": event.actor.id,
        "on_behalf_of": event.actor.on_behalf_of,
        "source_thread_id": event.source_thread_id,
        "run_id": event.run_id,
        "mutation_id": event.mutation_id,
        "created_at": event.created_at,
    }
