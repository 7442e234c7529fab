"""What an error tells of events: they are `Event`s, which stand above the errors."""

from __future__ import annotations

from typing import Any, Protocol


class Author(Protocol):
    """Who made a change, an `Actor`."""

    @property
    def type(self) -> str:
        """Kind of the actor."""
        ...

    @property
    def id(self) -> str:
        """Stable id of the actor within its type."""
        ...

    @property
    def on_behalf_of(self) -> str | None:
        """Id of the person an agent or job acted for."""
        ...


class RecordedChange(Protocol):
    """A recorded change, an `Event`."""

    @property
    def workspace_id(self) -> str:
        """Workspace of the row."""
        ...

    @property
    def event_id(self) -> str:
        """Id of the event."""
        ...

    @property
    def revision(self) -> int | None:
        """Position in the workspace; None while it is not numbered."""
        ...

    @property
    def entity_type(self) -> str:
        """Entity of the row."""
        ...

    @property
    def entity_id(self) -> str:
        """Id of the row."""
        ...

    @property
    def version(self) -> int:
        """The row's version after the change."""
        ...

    @property
    def operation(self) -> str:
        """Insert, update or delete."""
        ...

    @property
    def changed_fields(self) -> tuple[str, ...]:
        """Names of the changed fields."""
        ...

    @property
    def before(self) -> dict[str, Any] | None:
        """Old values of exposed fields."""
        ...

    @property
    def after(self) -> dict[str, Any] | None:
        """New values of exposed fields."""
        ...

    @property
    def actor(self) -> Author:
        """Who made it."""
        ...

    @property
    def source_thread_id(self) -> str | None:
        """The conversation that caused it."""
        ...

    @property
    def run_id(self) -> str | None:
        """The run that caused it."""
        ...

    @property
    def mutation_id(self) -> str | None:
        """Idempotency key of the write."""
        ...

    @property
    def created_at(self) -> int:
        """Time of the change in UTC microseconds."""
        ...
