"""Options of the middleware are checked when it is made, not in the first conversation."""

from typing import Any

import pytest

from abreast import Database, WorkspaceLog
from abreast.errors import InvalidInput
from abreast.langchain import WorkspaceSyncMiddleware


@pytest.mark.parametrize(
    ("name", "value"),
    [("limit", 0), ("placement", "top"), ("accept", 1), ("viewer", "u1"), ("extras", {}), ("refresh", "x")],
)
def test_options_that_are_none(name: str, value: Any):
    """The error names the option and the way out."""
    with Database.temporary() as database, pytest.raises(InvalidInput, match=f"^{name}: .*; (pass|use) "):
        WorkspaceSyncMiddleware(WorkspaceLog(database, []), **{name: value})


def test_database_in_the_place_of_a_log():
    """Who passes the database is told what to pass."""
    with Database.temporary() as database, pytest.raises(InvalidInput, match="pass WorkspaceLog"):
        WorkspaceSyncMiddleware(database)  # type: ignore[arg-type]
