"""One log, on every database, sync and async."""

import contextlib
import functools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import fresh_database, or_skip
from tests.contract import product
from tests.contract.client import Client, Mode, Place, new_client
from tests.servers.shared import Servers


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
