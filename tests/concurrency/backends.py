"""Marks for tests of what only one kind of database can do."""

import pytest

from tests.servers.shared import POSTGRESQL

ON_SQLITE = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
ON_POSTGRESQL = pytest.mark.parametrize(
    "backend", [pytest.param(kind, marks=pytest.mark.external) for kind in POSTGRESQL], indirect=True
)
_OF_POSTGRESQL = [
    pytest.param(kind, driver, marks=pytest.mark.external)
    for kind in POSTGRESQL
    for driver in ("postgresql+psycopg", "postgresql+asyncpg")
]
ON_ASYNC_POSTGRESQL = pytest.mark.parametrize(("backend", "driver"), _OF_POSTGRESQL, indirect=["backend"])
ON_ASYNC_DRIVERS = pytest.mark.parametrize(
    ("backend", "driver"), [("sqlite", "sqlite+aiosqlite"), *_OF_POSTGRESQL], indirect=["backend"]
)
