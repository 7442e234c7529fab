"""A past for a workspace: rows and events stored at once, past the library."""

from collections.abc import Iterable, Sequence

from sqlalchemy import text

from abreast import Actor, Event
from abreast.operations.record import record
from tests.contract.client import Client
from tests.contract.product import USER, Move

DAY = 86_400_000_000
MANY = 1_000
START = 1_790_000_000_000_000


def moves(client: Client, count: int, workspace_id: str = "w1") -> list[str]:
    """Give a workspace rows that are no news to anybody."""
    ids = [f"m{number:03}" for number in range(count)]
    client.put(
        Move.__table__,
        *({"id": id_, "workspace_id": workspace_id, "stage": "new", "version": 1} for id_ in ids),
    )
    return ids


def edit(
    number: int,
    entity_id: str,
    version: int,
    *,
    stage: tuple[str, str] = ("new", "booked"),
    actor: Actor = USER,
    at: int = START,
) -> Event:
    """Give an unnumbered event that a row's stage was changed; numbers are the order of recording."""
    return Event(
        workspace_id="w1",
        event_id=f"{number:032}",
        revision=None,
        entity_type="move",
        entity_id=entity_id,
        version=version,
        operation="update",
        changed_fields=("stage",),
        before={"stage": stage[0]},
        after={"stage": stage[1]},
        actor=actor,
        source_thread_id=None,
        run_id=None,
        mutation_id=None,
        created_at=at,
    )


def store(client: Client, events: Sequence[Event]) -> None:
    """Record events, unnumbered, as another writer's transaction would."""
    with client.engine().begin() as connection:
        record(connection, client.database.tables, events)
        if len(events) > MANY:
            # A server does so by itself, a minute later: till then it takes the table for empty.
            connection.execute(text("ANALYZE abreast_workspace_event"))


def remove(client: Client, revisions: Iterable[int]) -> None:
    """Delete events past the library."""
    for revision in revisions:
        client.rows("DELETE FROM abreast_workspace_event WHERE revision = :revision", revision=revision)
