"""The values abreast works with: pure, standard library only. What calls take and give, for type hints too."""

from abreast.model.attempt import Attempt, AttemptResult
from abreast.model.batch import Batch, Extras
from abreast.model.cursor import Cursor, ResetReason
from abreast.model.entity import Entity, EntityRows, Row, Snapshot
from abreast.model.event import Actor, ActorType, Event, Operation
from abreast.model.fold import Line, LineKind, SummaryLine
from abreast.model.write import ExpectedVersion, Merge, WriteResult

__all__ = [
    "Actor",
    "ActorType",
    "Attempt",
    "AttemptResult",
    "Batch",
    "Cursor",
    "Entity",
    "EntityRows",
    "Event",
    "ExpectedVersion",
    "Extras",
    "Line",
    "LineKind",
    "Merge",
    "Operation",
    "ResetReason",
    "Row",
    "Snapshot",
    "SummaryLine",
    "WriteResult",
]
