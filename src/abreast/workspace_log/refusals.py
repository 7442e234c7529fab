"""Write down that a write was refused, once its own transaction is rolled back."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from abreast.errors import (
    AccessDenied,
    Conflict,
    EntityNotFound,
    InvalidInput,
    LeaseLost,
    MutationReused,
    UnknownField,
    VersionRequired,
    WriteRefused,
)
from abreast.model.attempt import Attempt
from abreast.workspace_log.steps import new_id, now

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from abreast.database import Database
    from abreast.model.attempt import AttemptResult
    from abreast.model.write import Change
    from abreast.sql.mapping import EntityTable
    from abreast.workspace_log.steps import Steps
    from abreast.workspace_log.write import Origin

_RESULTS: Final[Mapping[type[Exception], AttemptResult]] = {
    LeaseLost: "lost",
    Conflict: "conflict",
    EntityNotFound: "not_found",
    InvalidInput: "invalid",
    UnknownField: "invalid",
    VersionRequired: "invalid",
    MutationReused: "reused",
    WriteRefused: "refused",
    AccessDenied: "denied",
}
"""The first class that fits counts."""

REFUSALS: Final = tuple(_RESULTS)
"""Errors that say that a write was looked at and refused; a database that is away looked at nothing."""

_log = logging.getLogger(__name__)


def result_of(error: BaseException) -> AttemptResult:
    """Say what became of a write that ended with one of `REFUSALS`."""
    return next(result for kind, result in _RESULTS.items() if isinstance(error, kind))


def refused_write(steps: Steps, origin: Origin, result: AttemptResult, change: Change | None) -> Attempt:
    """Tell of a refused change by its names; what it would have written is left out."""
    entity = None if change is None else steps.catalog.by_name.get(change.entity_type)
    fields = () if change is None else change.fields
    return Attempt(
        workspace_id=origin.workspace_id if change is None else change.workspace_id,
        attempt_id=new_id(),
        result=result,
        actor=origin.actor,
        operation=None if change is None else change.operation,
        entity_type=None if entity is None else entity.name,
        entity_id=None if entity is None or change is None else _entity_id(entity, change),
        changed_fields=() if entity is None else named_fields(entity, fields),
        source_thread_id=origin.source_thread_id,
        run_id=origin.run_id,
        mutation_id=origin.mutation_id,
        revision=None,
        created_at=now(),
    )


def named_fields(entity: EntityTable, fields: Mapping[str, object] | Sequence[str]) -> tuple[str, ...]:
    """Give the fields that a log may name: those that there are, no secret one and none of abreast's own."""
    unnamed = {*entity.secrets, entity.version_field, entity.own_workspace_field}
    return tuple(sorted(name for name in fields if name in entity.fields and name not in unnamed))


def change_at_fault(steps: Steps, changes: Sequence[Change], error: BaseException) -> Change | None:
    """Find the change of a block that an error is about; None where several could be."""
    named = [change for change in changes if _is_about(error, change.entity_type)] or list(changes)
    by_name, entity_id = steps.catalog.by_name, getattr(error, "entity_id", None)
    exact = [change for change in named if entity_id == (_entity_id(by_name[change.entity_type], change) or "")]
    if exact:
        return exact[0]
    return named[0] if len(named) == 1 else None


def _is_about(error: BaseException, entity_type: str) -> bool:
    """Say whether an error names an entity: as it is, with a field, or with a row."""
    named = str(getattr(error, "entity_type", None) or getattr(error, "name", ""))
    return named == entity_type or named.startswith((f"{entity_type}.", f"{entity_type} "))


def keep(database: Database, steps: Steps, refused: Attempt) -> None:
    """Store a refusal in a transaction of its own; where that fails it is logged, and the refusal itself stands."""
    try:
        database.run_once(steps.record_refusal, refused)
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not take the place of the refusal
        _tell(refused, error)


async def akeep(database: Database, steps: Steps, refused: Attempt) -> None:
    """Async twin of `keep`."""
    try:
        await database.arun_once(steps.record_refusal, refused)
    except Exception as error:  # noqa: BLE001 - as above
        _tell(refused, error)


def _tell(refused: Attempt, error: Exception) -> None:
    _log.warning("a refused write in workspace %r could not be recorded: %s", refused.workspace_id, error)


def _entity_id(entity: EntityTable, change: Change) -> str | None:
    """Write the id of the row that was meant; None where there is none yet, or it cannot be one."""
    inserted = {name: change.fields.get(name) for name in entity.key}
    if change.operation == "insert" and any(value is None for value in inserted.values()):
        return None
    try:
        key = entity.native(inserted) if change.operation == "insert" else entity.key_values(change.key)
        return entity.entity_id(key)
    except InvalidInput:
        return None
