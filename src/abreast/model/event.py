"""Who changed what: actors and recorded events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from abreast.errors import InvalidInput

ActorType = Literal["user", "agent", "system", "database"]
Operation = Literal["insert", "update", "delete"]
ACTOR_TYPES: tuple[ActorType, ...] = ("user", "agent", "system", "database")

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Actor:
    """
    Who made a change.

    Attributes:
        type: `user` (a person), `agent` (an AI agent), `system` (a job) or `database` (past the library).
        id: Stable id of the actor within its type.
        on_behalf_of: Id of the person an agent or job acted for.

    Raises:
        InvalidInput: The type is unknown or the id is empty.

    Example:
        >>> Actor.agent("assistant", on_behalf_of="u1")
        Actor(type='agent', id='assistant', on_behalf_of='u1')
    """

    type: ActorType
    id: str
    on_behalf_of: str | None = None

    def __post_init__(self) -> None:
        """Refuse an actor that could not be named later."""
        if self.type not in ACTOR_TYPES:
            raise InvalidInput("actor.type", "is unknown", f"use one of: {', '.join(ACTOR_TYPES)}")
        if not self.id:
            raise InvalidInput("actor.id", "is empty", "pass the id of who makes the change")

    @classmethod
    def user(cls, id: str) -> Actor:  # noqa: A002 - the field's name is the word users read
        """Name a person."""
        return cls("user", id)

    @classmethod
    def agent(cls, id: str, *, on_behalf_of: str | None = None) -> Actor:  # noqa: A002 - as above
        """Name an AI agent, and the person it acts for."""
        return cls("agent", id, on_behalf_of)

    @classmethod
    def system(cls, id: str, *, on_behalf_of: str | None = None) -> Actor:  # noqa: A002 - as above
        """Name a job or service."""
        return cls("system", id, on_behalf_of)

    @classmethod
    def database(cls, id: str) -> Actor:  # noqa: A002 - as above
        """Name the database account of a change made past the library."""
        return cls("database", id)


@dataclass(frozen=True, slots=True)
class Event:
    """
    One recorded change of one entity.

    Attributes:
        revision: Position in the workspace; None until it is numbered.
        version: The row's version after the change.
        changed_fields: Names, sorted; secret fields are left out.
        before: Exposed values before the change, as JSON values; None when there are none.
        after: Exposed values after the change, as JSON values; None when there are none.
        created_at: UTC microseconds at which it was recorded; it decides no order.
    """

    workspace_id: str
    event_id: str
    revision: int | None
    entity_type: str
    entity_id: str
    version: int
    operation: Operation
    changed_fields: tuple[str, ...]
    before: JsonObject | None
    after: JsonObject | None
    actor: Actor
    source_thread_id: str | None
    run_id: str | None
    mutation_id: str | None
    created_at: int
