"""What a caller wants written, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from abreast.model.event import Actor, Operation

ExpectedVersion = int | Literal["any"] | None
Merge = Literal["fields"] | None


@dataclass(frozen=True, slots=True)
class Change:
    """
    One wanted change of one row.

    Attributes:
        entity_type: Name of a registered entity.
        key: The row's key as the caller gave it; None for an insert.
        fields: Wanted values; empty for a delete.
        to_workspace: Workspace the row is in afterwards; the same as `workspace_id` unless it moves.
    """

    operation: Operation
    workspace_id: str
    entity_type: str
    key: object
    fields: Mapping[str, Any]
    expected_version: ExpectedVersion
    merge: Merge
    to_workspace: str


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """
    Changes that take effect together or not at all.

    Attributes:
        workspace_id: Where the receipt of `mutation_id` is kept.
    """

    workspace_id: str
    actor: Actor
    mutation_id: str | None
    source_thread_id: str | None
    run_id: str | None
    changes: tuple[Change, ...]

    @property
    def workspaces(self) -> list[str]:
        """Every workspace that is touched, sorted."""
        named = {(change.workspace_id, change.to_workspace) for change in self.changes}
        return sorted({workspace for pair in named for workspace in pair})


@dataclass(frozen=True, slots=True)
class WriteResult:
    """
    What became of one change.

    Attributes:
        version: The row's version now; of a deleted row, the version of its deletion.
        changed_fields: Fields that got another value, secret ones left out; empty if nothing changed.
        event_id: The recorded event; None if nothing changed.
        revision: The event's revision; None until it is numbered.
        replayed: The mutation had taken effect before; this is what was recorded then.
    """

    workspace_id: str
    entity_type: str
    entity_id: str
    operation: Operation
    version: int
    changed_fields: tuple[str, ...]
    event_id: str | None
    revision: int | None = None
    replayed: bool = False
