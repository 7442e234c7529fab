"""One database with the product's tables, and what an application of its own would use beside abreast."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine

from abreast import Database, WorkspaceLog
from tests.concurrency.product import log_of, make_tables
from tests.concurrency.race.writers import prepare_application
from tests.conftest import fresh_database, upgrade
from tests.servers.shared import Servers

Open = Callable[..., Database]


@pytest.fixture
def product_url(database_url: str) -> str:
    """Give the URL of a database with abreast's tables and the product's."""
    with Database.open(database_url) as database:
        make_tables(database)
    return database_url


@pytest.fixture
def open_database(product_url: str) -> Iterator[Open]:
    """Give a function that opens the database with settings; no connection is left checked out at the end."""
    opened: list[Database] = []

    def open_with(**settings: object) -> Database:
        opened.append(Database.open(product_url, **settings))
        return opened[-1]

    yield open_with
    held = [checked_out(database) for database in opened]
    for database in opened:
        database.close()
    assert [0] * len(opened) == held


@pytest.fixture
def database(open_database: Open) -> Database:
    """Give the database, opened as most would."""
    return open_database()


@pytest.fixture
def log(database: Database) -> WorkspaceLog:
    """Give the log of the product."""
    return log_of(database)


@pytest.fixture
def application(product_url: str) -> Iterator[Engine]:
    """Give an engine of the application's own."""
    engine = create_engine(product_url)
    prepare_application(engine)
    yield engine
    engine.dispose()


def checked_out(database: Database) -> int:
    """Count the connections of sync calls that are in use."""
    engine = database._engines._engine
    return engine.pool.checkedout() if engine is not None else 0


@pytest.fixture
def empty_copy(backend: str, servers: Servers, tmp_path: Path, sqlite_template: Callable[[], Path]) -> Iterator[str]:
    """Give the URL of a second database with abreast's tables."""
    if backend == "sqlite":
        path = tmp_path / "copy.sqlite"
        shutil.copyfile(sqlite_template(), path)
        yield f"sqlite:///{path}"
        return
    with fresh_database(servers.shared(backend), servers.template(backend, "upgraded", upgrade)) as url:
        yield url
