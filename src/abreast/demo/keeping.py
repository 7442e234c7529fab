"""Where the conversations of the story are kept: on disk where LangGraph's saver for SQLite is installed."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.memory import InMemorySaver

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from langgraph.checkpoint.base import BaseCheckpointSaver


def has_disk_saver() -> bool:
    """Say whether conversations can be kept on disk, where several processes find them."""
    return find_spec("langgraph.checkpoint.sqlite") is not None


@contextmanager
def kept_on_disk(path: Path) -> Generator[BaseCheckpointSaver[Any]]:
    """Keep conversations in a SQLite file."""
    from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415 - a package of its own

    with SqliteSaver.from_conn_string(str(path)) as saver:
        yield saver


@contextmanager
def kept(path: Path) -> Generator[BaseCheckpointSaver[Any]]:
    """Keep conversations in a SQLite file, or in memory where that cannot be."""
    if not has_disk_saver():
        yield InMemorySaver()
        return
    with kept_on_disk(path) as saver:
        yield saver
