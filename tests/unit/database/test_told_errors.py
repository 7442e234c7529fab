"""Which class an error of the driver gets, by its number, and in which words."""

import sqlite3

import pytest
from sqlalchemy.exc import DBAPIError, InterfaceError, InternalError, OperationalError

from abreast.database.attempts import Attempts
from abreast.errors import DatabaseBusy, DatabaseUnavailable, WriteRefused
from abreast.sql.dialects import dialect_named

NAME = "the database"
SECRET = "hunter2"  # noqa: S105 - a canary


class Refused(Exception):
    """What a driver raises."""


def refused(**attributes):
    """Make a driver's error, wrapped by SQLAlchemy."""
    error = Refused(attributes.pop("words", f"the row ({SECRET})"))
    error.__dict__.update(attributes)
    return DBAPIError("INSERT", {"x": SECRET}, error)


def told(kind, error, *, begun=True, committing=False):
    """Give what the caller sees, as if each repetition failed as well."""
    attempts = Attempts(NAME, dialect_named(kind))
    attempts.begun, attempts.committing = begun, committing
    tries = 1
    while not isinstance(outcome := attempts.after(error), Exception):
        tries += 1
    return outcome, tries


@pytest.mark.parametrize(
    ("state", "expected", "tries", "words"),
    [
        ("57014", DatabaseUnavailable, 1, "57014: the statement ran longer than statement_timeout"),
        ("55P03", DatabaseBusy, 1, "55P03: a lock was waited for longer than lock_timeout"),
        ("25006", DatabaseUnavailable, 1, "25006: the server is read-only"),
        ("25P02", DatabaseUnavailable, 1, "25P02: the transaction failed before"),
        ("53100", DatabaseUnavailable, 1, "53100: the server's disk is full"),
        ("53200", DatabaseUnavailable, 1, "53200: the server is out of memory"),
        ("53300", DatabaseUnavailable, 6, "53300: the server has no free connection"),
        ("57P01", DatabaseUnavailable, 6, "57P01: the server ended the connection"),
        ("57P02", DatabaseUnavailable, 6, "57P02"),
        ("57P03", DatabaseUnavailable, 6, "57P03: the server starts"),
        ("08006", DatabaseUnavailable, 6, "08006: the connection was lost"),
        ("40001", DatabaseUnavailable, 6, "40001"),
        ("40P01", DatabaseUnavailable, 6, "40P01"),
        ("58030", DatabaseUnavailable, 1, "58030"),
        ("XX001", DatabaseUnavailable, 1, "XX001"),
        ("23505", DBAPIError, 1, ""),
        ("42P01", DBAPIError, 1, ""),
    ],
)
def test_postgresql(state, expected, tries, words):
    """Time, memory and disk are not the values' fault; only what passes is tried again."""
    outcome, tried = told("postgresql", refused(sqlstate=state))
    assert type(outcome) is expected
    assert tries == tried
    if expected is not DBAPIError:
        assert words in str(outcome)
        assert SECRET not in str(outcome)


def test_postgresql_constraint_that_waits_for_commit():
    """A deferred constraint is the values' fault."""
    outcome, _ = told("postgresql", refused(sqlstate="23505"), committing=True)
    assert isinstance(outcome, WriteRefused)


@pytest.mark.parametrize("wrapped", [InternalError, InterfaceError, OperationalError])
def test_asyncpg_connection_in_an_odd_state(wrapped):
    """Its own errors have no number; they are tried again and told."""
    error = wrapped("INSERT", {}, Refused("cannot switch to state 11; another operation (2) is in progress"))
    outcome, tried = told("postgresql", error)
    assert isinstance(outcome, DatabaseUnavailable)
    assert "cannot switch to state 11" in str(outcome)
    assert tried == 6


def test_standby_that_refuses_to_write():
    """Its answer to psycopg's BEGIN READ WRITE has a number that means much else."""
    diagnosis = type("Diagnosis", (), {"source_function": "call_bool_check_hook", "constraint_name": None})
    outcome, tried = told("postgresql", refused(sqlstate="0A000", diag=diagnosis))
    assert isinstance(outcome, DatabaseUnavailable)
    assert "25006: the server is read-only" in str(outcome)
    assert tried == 1


def test_asyncpg_value_that_cannot_be_sent():
    """It is an InterfaceError by its class, and shows the value: not away, and not repeated."""
    orig = Refused(f"invalid input for query argument $1: {SECRET}")
    orig.__cause__ = ValueError()
    error = InterfaceError("INSERT", {}, orig)
    assert not dialect_named("postgresql").is_unavailable(error)
    assert SECRET not in dialect_named("postgresql").describe(error)[0]


def test_asyncpg_command_timeout():
    """A driver's own time-out is told and not tried again."""
    outcome, tried = told("postgresql", OperationalError(None, None, TimeoutError(), connection_invalidated=True))
    assert isinstance(outcome, DatabaseUnavailable)
    assert "time limit" in str(outcome)
    assert tried == 1


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("SQLITE_BUSY", DatabaseBusy),
        ("SQLITE_LOCKED", DatabaseBusy),
        ("SQLITE_FULL", DatabaseUnavailable),
        ("SQLITE_READONLY", DatabaseUnavailable),
        ("SQLITE_READONLY_DBMOVED", DatabaseUnavailable),
        ("SQLITE_IOERR", DatabaseUnavailable),
        ("SQLITE_IOERR_WRITE", DatabaseUnavailable),
        ("SQLITE_CORRUPT", DatabaseUnavailable),
        ("SQLITE_NOTADB", DatabaseUnavailable),
        ("SQLITE_NOMEM", DatabaseUnavailable),
        ("SQLITE_PERM", DatabaseUnavailable),
        ("SQLITE_ERROR", DBAPIError),
    ],
)
def test_sqlite(code, expected):
    """A full disk, a broken file and missing rights are not the values' fault."""
    number = getattr(sqlite3, code, {"SQLITE_READONLY_DBMOVED": 1032, "SQLITE_IOERR_WRITE": 778}.get(code))
    error = refused(sqlite_errorcode=number, sqlite_errorname=code, words="SQLite's words")
    outcome, _ = told("sqlite", error)
    assert type(outcome) is expected
    if expected is not DBAPIError:
        assert f"{code}: SQLite's words" in str(outcome)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (3024, DatabaseUnavailable),
        (1317, DatabaseUnavailable),
        (1290, DatabaseUnavailable),
        (1114, DatabaseUnavailable),
        (3572, DatabaseBusy),
        (1205, DatabaseBusy),
        (1062, DBAPIError),
    ],
)
def test_mysql(number, expected):
    """The same by MySQL's numbers."""
    outcome, tried = told("mysql", DBAPIError("INSERT", {}, Refused(number, SECRET)))
    assert type(outcome) is expected
    assert tried == 1
    if expected is not DBAPIError:
        assert SECRET not in str(outcome)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql", "mysql", "oracle"])
def test_before_there_is_a_connection(kind):
    """Whatever a driver refuses then is told in its first line."""
    outcome, _ = told(kind, DBAPIError(None, None, Refused("no configuration directory\nmore")), begun=False)
    assert type(outcome) is DatabaseUnavailable
    assert "no configuration directory" in str(outcome)
    assert "more" not in str(outcome)
