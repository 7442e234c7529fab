"""One log, on every database, sync and async."""

import contextlib
import functools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import MetaData

from abreast import Entity, WorkspaceLog
from tests.conftest import fresh_database, or_skip
from tests.contract import product
from tests.contract.client import Client, Mode, Place, new_client
from tests.servers.shared import Servers

DURABILITIES = ("durability", "stored", "turn")
"""Parameters that choose how LangGraph stores checkpoints."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Try what is LangGraph's alone on one database in each of its ways, and on the others in one.

    When LangGraph stores a checkpoint, and by which of its methods it is called, never meets abreast's database.
    """
    left_out = [item for item in items if _is_repetition(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def _is_repetition(item: pytest.Item) -> bool:
    chosen = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    stored = next((chosen[name] for name in DURABILITIES if name in chosen), "sync")
    backend = chosen.get("backend", "sqlite")
    return backend != "sqlite" and (stored != "sync" or (backend == "postgresql-installed" and "form" in chosen))


@pytest.fixture(params=["sync", "async"])
def mode(request: pytest.FixtureRequest) -> Mode:
    """Run a test once with plain calls and once with their async twins."""
    return request.param


@pytest.fixture(scope="session")
def product_file(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Give a function that makes, once a worker, the SQLite file that tests copy."""

    @functools.cache
    def make() -> Path:
        path = tmp_path_factory.mktemp("product") / "product.sqlite"
        product.create(f"sqlite:///{path}")
        return path

    return make


@pytest.fixture(scope="session")
def product_database(servers: Servers) -> Iterator[Callable[[str], str]]:
    """Give a function that makes, once a worker, the database of a kind that tests leave empty."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def make(backend: str) -> str:
            server = servers.shared(backend)
            template = servers.template(backend, "product", product.create)
            return stack.enter_context(fresh_database(server, template))

        yield make


@pytest.fixture
def product_url(
    backend: str,
    product_database: Callable[[str], str],
    product_file: Callable[[], Path],
    tmp_path: Path,
) -> str:
    """Give the URL of a database with abreast's tables, the product's, and no row."""
    if backend != "sqlite":
        return or_skip(lambda: product_database(backend))
    path = tmp_path / "product.sqlite"
    shutil.copyfile(product_file(), path)
    return f"sqlite:///{path}"


@pytest.fixture
def place(product_url: str, mode: Mode) -> Iterator[Place]:
    """Give a database, see to it that no connection is left checked out, and leave no row."""
    with Place(product_url, mode) as opened:
        yield opened
        held = opened.checked_out()
    product.empty(product_url)
    assert held == dict.fromkeys(held, 0)


@pytest.fixture
def client(place: Place) -> Client:
    """Give a log of all entities of the product."""
    return new_client(place)


@pytest.fixture
def make_client(database_url: str, mode: Mode) -> Iterator[Callable[..., Client]]:
    """Give a function that makes tables in a database of the test's own, and a log of entities of them."""
    with Place(database_url, mode) as opened:

        def make(metadata: MetaData, *entities: Entity) -> Client:
            metadata.create_all(opened.past)
            return Client(opened, WorkspaceLog(opened.database, entities))

        yield make
        held = opened.checked_out()
    assert held == dict.fromkeys(held, 0)
