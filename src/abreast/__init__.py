"""Keep LLM agents abreast of every change to a product's data."""

from abreast.database import Database
from abreast.errors import AbreastError, Conflict, NotFound
from abreast.model.batch import Batch
from abreast.model.cursor import Cursor
from abreast.model.entity import Entity
from abreast.model.event import Actor, Event
from abreast.workspace_log import WorkspaceLog

__all__ = [
    "AbreastError",
    "Actor",
    "Batch",
    "Conflict",
    "Cursor",
    "Database",
    "Entity",
    "Event",
    "NotFound",
    "WorkspaceLog",
]
