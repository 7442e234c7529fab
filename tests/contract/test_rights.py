"""A role without rights is told which one it lacks, whatever the first call is."""

import contextlib

import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, create_engine, make_url, text

from abreast import Actor, Database, Entity, WorkspaceLog
from abreast.errors import AccessDenied
from tests.servers.shared import POSTGRESQL

PERSON = Actor.user("u1")
ROLE = "abreast_reader"
metadata = MetaData()
move = Table(
    "move",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("stage", String(40)),
    Column("version", Integer, nullable=False),
)


@pytest.fixture(params=[pytest.param(kind, marks=pytest.mark.external) for kind in POSTGRESQL])
def backend(request):
    """Run a test on each PostgreSQL: SQLite has no roles."""
    return request.param


@pytest.fixture
def limited(database_url):
    """Give the URL of a role that may do anything with abreast's tables, and only read a move."""
    owner = create_engine(database_url, isolation_level="AUTOCOMMIT")
    metadata.create_all(owner)
    with owner.connect() as connection:
        connection.execute(text("INSERT INTO move VALUES ('m1', 'w1', 'new', 1)"))
        with contextlib.suppress(Exception):
            connection.execute(text(f"CREATE ROLE {ROLE} LOGIN"))
        connection.execute(text(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {ROLE}"))
        connection.execute(text(f"REVOKE INSERT, UPDATE, DELETE ON move FROM {ROLE}"))
        yield make_url(database_url).set(username=ROLE).render_as_string(hide_password=False), connection
    owner.dispose()


def test_a_right_that_is_missing(limited):
    """Reads go on where they may; a write is refused with what it needs, and stores nothing."""
    url, owner = limited
    with Database.open(url) as database:
        log = WorkspaceLog(database, [Entity(move, expose=["stage"])])
        assert 1 == log.snapshot("w1").entities[0].total
        needed = "permission denied for table move; the statement needs INSERT: GRANT"
        with pytest.raises(AccessDenied, match=needed), log.write("w1", actor=PERSON) as write:
            write.insert(move, {"id": "m2"})
        with pytest.raises(AccessDenied) as caught, log.write("w1", actor=PERSON) as write:
            write.update(move, "m1", {"stage": "booked"}, expected_version=1)
        assert ("SELECT and UPDATE", None) == (caught.value.rights, caught.value.__context__)
        owner.execute(text(f"REVOKE ALL ON move FROM {ROLE}"))
        with pytest.raises(AccessDenied, match="table move; the statement needs SELECT: GRANT"):
            log.snapshot("w1")
        owner.execute(text(f"REVOKE ALL ON abreast_workspace FROM {ROLE}"))
        with pytest.raises(AccessDenied, match="table abreast_workspace"):
            log.read_batch("w1", "t1")
    assert 0 == owner.execute(text("SELECT count(*) FROM abreast_workspace_event")).scalar_one()


def test_a_right_that_is_missing_in_a_transaction_of_the_callers(limited):
    """The same, without the password of the caller's own engine."""
    url, _ = limited
    engine = create_engine(url)
    with Database.open(url) as database, engine.begin() as connection:
        log = WorkspaceLog(database, [Entity(move, expose=["stage"])])
        with (
            pytest.raises(AccessDenied, match="needs INSERT"),
            log.write("w1", actor=PERSON, within=connection) as write,
        ):
            write.insert(move, {"id": "m2"})
    engine.dispose()


async def test_asyncpg_tells_the_same(limited):
    """Each driver's words are the server's."""
    url = limited[0].replace("+psycopg", "+asyncpg")
    async with Database.open(url) as database:
        log = WorkspaceLog(database, [Entity(move, expose=["stage"])])
        with pytest.raises(AccessDenied, match=r"asyncpg://\S+: permission denied for table move; "):
            async with log.awrite("w1", actor=PERSON) as write:
                write.insert(move, {"id": "m2"})
