"""What somebody tried to change, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from abreast.model.event import Actor, Operation

AttemptResult = Literal["allowed", "conflict", "denied", "not_found", "invalid", "reused", "refused", "lost"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """
    One write that took effect, or that was refused.

    Attributes:
        attempt_id: Time-ordered id; of a write that took effect its event's.
        result: `allowed`; `conflict`: the row had changed; `denied`: for lack of rights; `not_found`: the row is not in
            the workspace; `invalid`: a value or argument does not fit; `reused`: the mutation id belongs to another
            write; `refused`: by the database; `lost`: a later run had taken the thread over.
        operation: None where a refused block had several changes and none of them is to blame.
        entity_type: None as above.
        entity_id: None as above, and for a row that was to get its id.
        changed_fields: Names, sorted; secret fields are left out.
        revision: Of the event; None for a refusal, and for an event that is not numbered yet.
        created_at: UTC microseconds.
    """

    workspace_id: str
    attempt_id: str
    result: AttemptResult
    actor: Actor
    operation: Operation | None
    entity_type: str | None
    entity_id: str | None
    changed_fields: tuple[str, ...]
    source_thread_id: str | None
    run_id: str | None
    mutation_id: str | None
    revision: int | None
    created_at: int
