"""Keep LLM agents abreast of every change to a product's data."""

from importlib.metadata import PackageNotFoundError, version

from abreast.database import Database
from abreast.errors import AbreastError, Conflict, NotFound
from abreast.model.batch import Batch
from abreast.model.cursor import Cursor
from abreast.model.entity import Entity
from abreast.model.event import Actor, Event
from abreast.workspace_log import WorkspaceLog

try:
    __version__ = version("abreast")
except PackageNotFoundError:  # run from its source, not installed
    __version__ = "unknown"

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
