"""Databases for tests: one run's servers, shared by its workers, and a fresh database for each test."""

import collections
import contextlib
import functools
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.servers.postgresql import PostgreSQL
from tests.servers.run_folders import RunFolder
from tests.servers.shared import POSTGRESQL, ServerMissing, Servers

T = TypeVar("T")

BACKENDS = ["sqlite", *(pytest.param(kind, marks=pytest.mark.external) for kind in POSTGRESQL)]
OLDER_SERVER = "postgresql-installed"
ON_OLDER_SERVER = (
    "tests/conformance/",
    "tests/contract/test_cases.py",
    "tests/contract/test_i",
    "tests/contract/test_odd_",
    "tests/contract/test_saver_i",
    "tests/migration/",
    "tests/servers/",
)
"""What meets the server's own SQL, types and locks: the invariants, odd keys and rows, migrations."""
IS_CI = os.environ.get("CI", "").lower() not in ("", "0", "false")
RUN_FOLDER = pytest.StashKey[RunFolder]()
RUN_PATH = pytest.StashKey[Path]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that leaves nothing to one server of a kind."""
    parser.addoption("--every-server", action="store_true", help="run all tests on the older PostgreSQL too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to the newer PostgreSQL what does not depend on the server's version."""
    if config.getoption("--every-server"):
        return
    left_out = {item for item in items if _server_of(item) == OLDER_SERVER and not _is_of_server(item)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def _server_of(item: pytest.Item) -> str | None:
    chosen = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return next((str(chosen[name]) for name in ("backend", "private_postgresql") if name in chosen), None)


def _is_of_server(item: pytest.Item) -> bool:
    return item.path.relative_to(item.config.rootpath).as_posix().startswith(ON_OLDER_SERVER)


def pytest_configure(config: pytest.Config) -> None:
    """Open the run's folder in the process that outlives all workers."""
    worker_input = getattr(config, "workerinput", None)
    if worker_input is not None:
        config.stash[RUN_PATH] = Path(worker_input["abreast_run_path"])
        return
    run = RunFolder.open()
    config.stash[RUN_FOLDER], config.stash[RUN_PATH] = run, run.path


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker where the run's servers are."""
    node.workerinput["abreast_run_path"] = str(node.config.stash[RUN_PATH])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the run's servers when all workers have ended."""
    if RUN_FOLDER in config.stash:
        config.stash[RUN_FOLDER].close()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let nothing be skipped unnoticed where nobody reads along."""
    if IS_CI and skipped(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once for each reason how many tests it skipped, and that this fails a run in CI."""
    reasons = collections.Counter(report.longrepr[2] for report in skipped(terminalreporter.config))
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"{count} {reason}", yellow=True)
    if IS_CI and reasons:
        terminalreporter.write_line("CI is set: a skipped test counts as a failure", red=True)


def skipped(config: pytest.Config) -> list[Any]:
    """List the reports of skipped tests, of all workers."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return reporter.stats.get("skipped", []) if reporter is not None else []


def or_skip(ask: Callable[[], T]) -> T:
    """Give what is asked for, or skip the test with what to install; a failure in CI."""
    try:
        return ask()
    except ServerMissing as error:
        missing = str(error)
    if IS_CI:
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)


def upgrade(url: str) -> None:
    """Make abreast's tables."""
    from abreast import Database  # noqa: PLC0415 - tests of the servers alone run without it

    with Database.open(url) as database:
        database.upgrade()


@pytest.fixture(scope="session")
def servers(pytestconfig: pytest.Config) -> Servers:
    """Give the servers of this run."""
    return Servers(pytestconfig.stash[RUN_PATH])


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Run a test once on each database."""
    return str(request.param)


@pytest.fixture(params=[pytest.param(kind, marks=pytest.mark.external) for kind in POSTGRESQL])
def private_postgresql(request: pytest.FixtureRequest, servers: Servers) -> Iterator[PostgreSQL]:
    """Give a test a server of its own to kill and restart, once of each kind."""
    server = or_skip(lambda: servers.private(request.param))
    yield server
    server.stop()


@pytest.fixture
def empty_database_url(backend: str, servers: Servers, tmp_path: Path) -> Iterator[str]:
    """Give the URL of a fresh database that holds nothing."""
    if backend == "sqlite":
        yield f"sqlite:///{tmp_path / 'database.sqlite'}"
        return
    server = or_skip(lambda: servers.shared(backend))
    with fresh_database(server) as url:
        yield url


@pytest.fixture
def database_url(backend: str, servers: Servers, tmp_path: Path, sqlite_template: Callable[[], Path]) -> Iterator[str]:
    """Give the URL of a fresh database that holds abreast's tables and no row."""
    if backend == "sqlite":
        path = tmp_path / "database.sqlite"
        shutil.copyfile(sqlite_template(), path)
        yield f"sqlite:///{path}"
        return
    server = or_skip(lambda: servers.shared(backend))
    with fresh_database(server, servers.template(backend, "upgraded", upgrade)) as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Give a function that makes, once a worker, the SQLite file with abreast's tables."""

    @functools.cache
    def make() -> Path:
        path = tmp_path_factory.mktemp("template") / "template.sqlite"
        upgrade(f"sqlite:///{path}")
        return path

    return make


@contextlib.contextmanager
def fresh_database(server: PostgreSQL, template: str = "template1") -> Iterator[str]:
    """Make a database for one test and drop it afterwards."""
    name = server.create_database(template)
    yield server.url(name)
    server.drop_database(name)
