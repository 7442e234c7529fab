"""Upgrades: what they run, what they refuse, what they leave alone."""

import logging
import shutil
import subprocess
import sys

import pytest
from sqlalchemy import Engine, create_engine, event, inspect, text
from sqlalchemy.exc import DBAPIError

from abreast.database import Database
from abreast.errors import SchemaMissing, SchemaTooNew, SchemaTooOld
from abreast.sql import migrator

ALL = sorted(path.stem for path in (migrator._MIGRATIONS / "versions").glob("0*.py"))
NEWEST = ALL[-1][:4]
LATER = '''"""A later migration."""

from sqlalchemy import BigInteger, Column, text

revision = "0900"
down_revision = "NEWEST"


def upgrade(op, prefix):
    op.add_column(f"{prefix}thread", Column("seen_at", BigInteger))
'''
LATER = LATER.replace("NEWEST", NEWEST)
FAILING = '    op.execute(text("SELECT no_such_column FROM no_such_table"))\n'


@pytest.fixture
def database(empty_database_url):
    """Give a database that holds nothing."""
    with Database.open(empty_database_url) as opened:
        yield opened


@pytest.fixture
def execute(empty_database_url):
    """Give a function that runs SQL past the library."""
    engine = create_engine(empty_database_url)

    def run(*statements):
        with engine.begin() as connection:
            results = [connection.execute(text(statement)) for statement in statements]
            return results[-1].all() if results[-1].returns_rows else None

    yield run
    engine.dispose()


@pytest.fixture
def later(monkeypatch, tmp_path):
    """Give a function that makes this process newer code, with one more migration."""

    def add(source=LATER):
        folder = tmp_path / "migrations"
        shutil.copytree(migrator._MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "versions" / "0900_seen.py").write_text(source)
        monkeypatch.setattr(migrator, "_MIGRATIONS", folder)
        monkeypatch.setattr(migrator, "_migrations", migrator._migrations.__wrapped__)

    return add


def test_an_upgrade_runs_once(database):
    """A plan names what an upgrade will do; afterwards there is nothing to do."""
    assert database.plan() == ALL
    database.upgrade()
    assert database.plan() == []
    database.upgrade()
    database.check()


async def test_an_upgrade_runs_on_an_event_loop(empty_database_url):
    """The async twins do the same."""
    async with Database.open(empty_database_url) as database:
        assert await database.aplan() == ALL
        await database.aupgrade()
        assert await database.aplan() == []
        await database.acheck()


def test_a_database_without_tables_is_named(database):
    """The message says how to make them."""
    with pytest.raises(SchemaMissing, match=r"no tables of abreast .* `abreast db upgrade"):
        database.check()


def test_an_older_database_is_named_and_upgraded(database, later, execute):
    """Newer code refuses the tables until it has run the migrations that are missing, and only those."""
    database.upgrade()
    execute("INSERT INTO abreast_thread (thread_id, workspace_id, opened_at) VALUES ('t1', 'w1', 7)")
    later()
    with pytest.raises(SchemaTooOld) as raised:
        database.check()
    assert (raised.value.found, raised.value.wanted) == (NEWEST, "0900")
    assert database.plan() == ["0900_seen"]
    database.upgrade()
    assert execute("SELECT thread_id, seen_at FROM abreast_thread") == [("t1", None)]
    assert execute("SELECT version_num FROM abreast_migration") == [("0900",)]
    assert database.plan() == []


def test_an_empty_database_gets_all_migrations(database, later, execute):
    """They run oldest first."""
    later()
    assert database.plan() == [*ALL, "0900_seen"]
    database.upgrade()
    assert execute("SELECT seen_at FROM abreast_thread") == []


def test_a_failing_migration_leaves_nothing(database, later, execute):
    """A migration and its record commit together or not at all."""
    database.upgrade()
    later(LATER + FAILING)
    with pytest.raises(DBAPIError, match="no_such"):
        database.upgrade()
    assert execute("SELECT version_num FROM abreast_migration") == [(NEWEST,)]
    with pytest.raises(DBAPIError, match="seen_at"):
        execute("SELECT seen_at FROM abreast_thread")


@pytest.mark.parametrize("recorded", ["0900", "9999"])
def test_a_newer_database_is_refused(database, execute, recorded):
    """Old code neither uses nor changes it."""
    database.upgrade()
    execute(f"UPDATE abreast_migration SET version_num = '{recorded}'")
    for call in (database.check, database.plan, database.upgrade):
        with pytest.raises(SchemaTooNew) as raised:
            call()
        assert (raised.value.found, raised.value.wanted) == (recorded, NEWEST)
    assert execute("SELECT version_num FROM abreast_migration") == [(recorded,)]


def test_a_missing_table_is_named(database, execute):
    """A recorded migration is not believed: its tables must be there, after an upgrade too."""
    database.upgrade()
    execute("DROP TABLE abreast_mutation")
    for call in (database.check, database.upgrade):
        with pytest.raises(SchemaMissing, match=f"migration {NEWEST} is recorded, but abreast_mutation is missing"):
            call()


def test_a_missing_column_is_named(database, execute):
    """Tables of which a part was lost are not used."""
    database.upgrade()
    execute("ALTER TABLE abreast_thread DROP COLUMN opened_at")
    with pytest.raises(SchemaMissing, match=r"abreast_thread\.opened_at is missing"):
        database.check()


@pytest.mark.parametrize(
    "lose", ["DROP TABLE abreast_migration", "DELETE FROM abreast_migration"], ids=["table", "row"]
)
def test_tables_without_a_record_are_not_touched(database, execute, lose):
    """They may hold another tool's or a half-done upgrade's rows: a person has to decide."""
    database.upgrade()
    execute("INSERT INTO abreast_thread (thread_id, workspace_id, opened_at) VALUES ('t1', 'w1', 7)", lose)
    for call in (database.check, database.plan, database.upgrade):
        with pytest.raises(SchemaMissing, match=r"abreast_thread, .* exists, but no migration is recorded"):
            call()
    assert execute("SELECT thread_id FROM abreast_thread") == [("t1",)]


def test_the_applications_own_alembic_is_not_met(database, execute):
    """Its version table and its tables stay as they are."""
    execute(
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)",
        "INSERT INTO alembic_version VALUES ('f00')",
        "CREATE TABLE thread (id INTEGER)",
        "CREATE TABLE migration (id INTEGER)",
    )
    database.upgrade()
    database.upgrade()
    assert execute("SELECT version_num FROM alembic_version") == [("f00",)]
    assert execute("SELECT * FROM thread") == []


def test_prefixes_are_apart(empty_database_url):
    """Two installations in one database do not see each other."""
    with (
        Database.open(empty_database_url, prefix="a_") as first,
        Database.open(empty_database_url, prefix="b_") as second,
    ):
        first.upgrade()
        with pytest.raises(SchemaMissing, match="'b_'"):
            second.check()
        second.upgrade()
        first.check()
        second.check()


def test_a_check_takes_two_statements(database):
    """It is part of each process's first call."""
    database.upgrade()
    sent = []

    def keep(*arguments):
        sent.append(arguments[2])

    event.listen(Engine, "before_cursor_execute", keep)
    database.check()
    event.remove(Engine, "before_cursor_execute", keep)
    assert len([statement for statement in sent if "SELECT" in statement]) == 2


def test_the_script_makes_the_same_as_an_upgrade(empty_database_url, backend):
    """A database administrator can run it instead; the check then passes."""
    kind = "sqlite" if backend == "sqlite" else "postgresql"
    engine = create_engine(empty_database_url)
    connection = engine.raw_connection()
    if kind == "sqlite":
        connection.driver_connection.executescript(migrator.sql(kind))
    else:
        connection.driver_connection.autocommit = True
        connection.driver_connection.execute(migrator.sql(kind))
    connection.close()
    tables = inspect(engine).get_table_names()
    engine.dispose()
    assert "abreast_workspace_event" in tables
    with Database.open(empty_database_url) as database:
        database.check()
        assert database.plan() == []


def test_an_upgrade_says_nothing(database, caplog):
    """Alembic's progress lines are not the application's."""
    caplog.set_level(logging.DEBUG, logger="alembic")
    database.upgrade()
    assert [record for record in caplog.records if record.levelno >= logging.INFO] == []


def test_alembic_is_loaded_only_to_migrate(database, empty_database_url):
    """A process that finds its tables in order does not pay for it."""
    database.upgrade()
    program = (
        "import sys; from abreast.database import Database\n"
        "with Database.open(sys.argv[1]) as database: database.check(); database.plan()\n"
        "print('alembic' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, empty_database_url], check=True, capture_output=True, text=True
    )
    assert done.stdout == "False\n"
