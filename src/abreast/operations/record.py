"""Insert events into the log, unnumbered, and read them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from abreast.model.event import Actor, Event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Row, Select

    from abreast.sql.tables import Tables


def record(connection: Connection, tables: Tables, events: Sequence[Event]) -> None:
    """Store events in the transaction of the rows they tell of; no counter row is locked."""
    if events:
        connection.execute(insert(tables.workspace_event), [_values(event) for event in events])


def select_events(tables: Tables) -> Select[Any]:
    """Begin a SELECT of whole events, to be read by `event_of`."""
    return select(tables.workspace_event)


def event_of(row: Row[Any]) -> Event:
    """Read an event from a row of `select_events`."""
    value = row._mapping  # noqa: SLF001 - SQLAlchemy's documented access by name
    return Event(
        workspace_id=value["workspace_id"],
        event_id=value["event_id"],
        revision=value["revision"],
        entity_type=value["entity_type"],
        entity_id=value["entity_id"],
        version=value["version"],
        operation=value["operation"],
        changed_fields=tuple(value["changed_fields"]),
        before=value["before"],
        after=value["after"],
        actor=Actor(value["actor_type"], value["actor_id"], value["on_behalf_of"]),
        source_thread_id=value["source_thread_id"],
        run_id=value["run_id"],
        mutation_id=value["mutation_id"],
        created_at=value["created_at"],
    )


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
