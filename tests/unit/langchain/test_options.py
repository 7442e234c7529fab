"""Options of the middleware are checked when it is made, not in the first conversation."""

from typing import Any

import pytest

from abreast import Database, WorkspaceLog
from abreast.errors import InvalidInput
from abreast.langchain import WorkspaceSyncMiddleware, workspace_tools


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", 0),
        ("placement", "top"),
        ("accept", 1),
        ("viewer", "u1"),
        ("extras", {}),
        ("refresh", "x"),
        ("bogus", 1),
        ("language", "xx"),
        ("now", "noon"),
        ("names", 3),
    ],
)
def test_options_that_are_none(name: str, value: Any):
    """The error names the option and the way out."""
    with Database.temporary() as database, pytest.raises(InvalidInput, match=f"^{name}: .*; (pass|use) "):
        WorkspaceSyncMiddleware(WorkspaceLog(database, []), **{name: value})


@pytest.mark.parametrize(("name", "value"), [("rights", 1), ("viewer", 2), ("merge", "x")])
def test_options_of_tools(name: str, value: Any):
    """A programmer's mistake is told to the programmer, not to the model."""
    with Database.temporary() as database, pytest.raises(InvalidInput, match=f"^{name}: "):
        workspace_tools(WorkspaceLog(database, []), **{name: value})


def test_database_in_the_place_of_a_log():
    """Who passes the database is told what to pass."""
    with Database.temporary() as database, pytest.raises(InvalidInput, match="pass WorkspaceLog"):
        WorkspaceSyncMiddleware(database)  # type: ignore[arg-type]
