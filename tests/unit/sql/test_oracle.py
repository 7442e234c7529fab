"""What Oracle does in another way than the others. Compiled, not run: no Oracle was at hand."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import Column, DateTime, MetaData, Table, make_url
from sqlalchemy.exc import DatabaseError
from sqlalchemy.schema import CreateIndex, CreateTable

from abreast.errors import InvalidInput
from abreast.sql import migrator
from abreast.sql.columns import KeyText, unique_once_set
from abreast.sql.dialects import dialect_named
from abreast.sql.dialects.oracle import DIALECT
from abreast.sql.tables import define_tables
from abreast.sql.values import check_id

SQLALCHEMY = make_url("oracle://").get_dialect()()
BOUND, READ = KeyText().bind_processor(SQLALCHEMY), KeyText().result_processor(SQLALCHEMY, None)
GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.oracle.sql"))
STATEMENTS = [statement for path in GOLDEN for statement in path.read_text().split(";\n")]
SHORTEST_LIMIT = 30
RESERVED = set((Path(__file__).parent / "reserved_words.oracle.txt").read_text().split())


class Recorder:
    """Stands for an open connection and keeps what it is sent."""

    def __init__(self):
        """Begin with nothing."""
        self.sent = []

    def exec_driver_sql(self, statement):
        """Keep a statement."""
        self.sent.append(statement)

    def execute(self, statement, parameters=None):
        """Keep a statement and its parameters."""
        self.sent.append((str(statement), parameters))

    def detach(self):
        """Keep that the session left the pool."""
        self.sent.append("detach")


def test_the_empty_text_is_kept_apart_from_null():
    """Oracle stores '' as NULL; a checkpoint namespace or scope is ''."""
    stored = BOUND("")
    assert stored
    assert READ(stored) == ""
    assert BOUND(None) is None
    assert READ(None) is None


def test_no_id_can_be_taken_for_the_empty_text():
    """What stands for '' is refused as an id."""
    with pytest.raises(InvalidInput):
        check_id("scope", BOUND(""), empty=True)


def test_a_missing_row_is_inserted_without_on_conflict():
    """One statement that looks first, and passes over a key that comes between."""
    values = {"thread_id": "t1", "workspace_id": "w1", "opened_at": 1}
    made = DIALECT.insert_missing(define_tables().thread, values)
    sql = " ".join(str(made.compile(dialect=SQLALCHEMY)).split())
    assert sql == (
        "INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX(abreast_thread (thread_id)) */ INTO abreast_thread "
        "(thread_id, workspace_id, opened_at) SELECT :param_1 AS thread_id, :param_2 AS workspace_id, "
        ":param_3 AS opened_at FROM DUAL WHERE NOT (EXISTS (SELECT 1 FROM abreast_thread "
        "WHERE abreast_thread.thread_id = :param_4))"
    )


@pytest.mark.parametrize(
    "refused",
    [
        r"ON CONFLICT|ON DUPLICATE|\bLIMIT\b|\bILIKE\b",
        r"\b(TRUE|FALSE)\b|\bIS (NOT )?(1|0)\b",
        r"SELECT \(?EXISTS",
        r"\bSKIP LOCKED.*FETCH FIRST|FETCH FIRST.*FOR UPDATE|FOR UPDATE.*FETCH FIRST",
        r"FOR UPDATE OF\s*$",
        r"\b(FROM|JOIN) \w+ AS \w+",
    ],
    ids=["conflict", "boolean", "exists", "limit-for-update", "for-update-of", "table-alias"],
)
def test_no_operation_sends_what_oracle_refuses(refused):
    """There is no ON CONFLICT, LIMIT or boolean, and FOR UPDATE takes no row limit and wants columns."""
    found = [statement for statement in STATEMENTS if re.search(refused, statement, re.IGNORECASE | re.DOTALL)]
    assert found == []


def test_long_text_is_never_compared():
    """A CLOB cannot be compared, grouped or sorted."""
    long = r"(changed_fields|before|after|result)"
    compared = rf"\.{long} (=|!=|<|>|IN|LIKE)|(GROUP|ORDER) BY [^;]*\.{long}\b|DISTINCT [\w.]*\.{long}\b"
    assert [statement for statement in STATEMENTS if re.search(compared, statement)] == []


def test_only_types_of_every_version_are_used():
    """BOOLEAN and JSON came late and DATE has no fractions: times are numbers, JSON is text."""
    types = {column.type.compile(dialect=SQLALCHEMY) for table in tables() for column in table.columns}
    assert {re.sub(r"\(.*\)", "", name) for name in types} == {"VARCHAR2", "NUMBER", "CLOB", "BLOB"}


def test_a_point_in_time_would_be_cut():
    """The reason for microseconds in a number: SQLAlchemy makes a DATE of a DateTime."""
    assert DateTime(timezone=True).compile(dialect=SQLALCHEMY) == "DATE"


def test_unnumbered_events_are_no_duplicates():
    """Two rows (w, NULL) would violate a plain unique index; NULL as a whole is not in an index."""
    table = Table("t", MetaData(), Column("w", KeyText()), Column("r", KeyText()))
    made = [
        str(CreateIndex(index).compile(dialect=SQLALCHEMY))
        for index in unique_once_set("i", table.c.w, table.c.r)
        if CreateIndex(index)._should_execute(index, SimpleNamespace(dialect=SQLALCHEMY))
    ]
    assert made == [
        "CREATE UNIQUE INDEX i ON t (CASE WHEN (r IS NOT NULL) THEN w END, r)",
        "CREATE INDEX i_all ON t (w, r)",
    ]


def test_names_fit_the_oldest_limit():
    """30 bytes before 12.2; longer ones would be cut or refused."""
    script = migrator.sql("oracle")
    names = re.findall(r"(?:TABLE|INDEX|CONSTRAINT) (\w+)", script)
    assert [name for name in names if len(name) > SHORTEST_LIMIT] == []
    assert "abreast_workspace_event" in names


def test_no_name_is_a_reserved_word():
    """A reserved name would have to be quoted, and then its case counts everywhere."""
    names = {name for table in tables() for name in (table.name, *table.columns.keys())}
    labels = {label for statement in STATEMENTS for label in re.findall(r"\bAS (\w+)\b(?!\))", statement)}
    assert {name for name in names | labels if name.upper() in RESERVED} == set()
    assert '"' not in "".join(str(CreateTable(table).compile(dialect=SQLALCHEMY)) for table in tables())


def test_a_snapshot_begins_with_read_only():
    """It has to be the first statement; it is no isolation level of the driver's."""
    connection = Recorder()
    DIALECT.begin_snapshot(connection)
    assert connection.sent == ["SET TRANSACTION READ ONLY"]


def test_isolation_levels_are_known():
    """Only these exist there; another name would be refused at the first connection."""
    used = {options["isolation_level"] for options in (DIALECT.write_options, DIALECT.read_options)}
    assert used <= set(SQLALCHEMY.get_isolation_level_values(None))


def test_the_script_holds_no_placeholder():
    """Nobody could run it: the version row is written with its value, and committed."""
    script = migrator.sql("oracle")
    assert re.search(r":\w|RETURNING", script.replace("-- Running", "")) is None
    assert script.rstrip().endswith("COMMIT\n\n/")


def test_migrations_wait_in_a_session_of_their_own():
    """CREATE TABLE commits, so the lock belongs to the session, which does not go back to the pool."""
    connection = Recorder()
    DIALECT.migration_lock(connection, "abreast_migration")
    first, (statement, parameters) = connection.sent
    assert first == "detach"
    assert "DBMS_LOCK.REQUEST" in statement
    assert "release_on_commit => FALSE" in statement
    assert 0 <= parameters["lock_id"] <= 1_073_741_823


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ORA-00001", (True, False, False)),
        ("ORA-00060", (False, True, True)),
        ("ORA-08177", (False, True, True)),
        ("ORA-03113", (False, True, True)),
        ("DPY-6005", (False, True, True)),
        ("ORA-30006", (False, False, True)),
        ("ORA-00942", (False, False, False)),
    ],
)
def test_errors_are_told_apart(code, expected):
    """By their number, duplicate, passing and lasting troubles."""
    error = refused(code, "")
    told = (DIALECT.is_duplicate(error), DIALECT.is_transient(error), DIALECT.is_unavailable(error))
    assert told == expected


def test_an_error_is_described_without_values():
    """Since 23ai the text names columns and values."""
    error = refused("ORA-00001", "unique constraint (APP.U_CODE) violated on table APP.MOVE columns (CODE = 4711)")
    assert DIALECT.describe(error) == ("Refused ORA-00001", "APP.U_CODE")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("oracle://h/x", ("oracle+oracledb", "oracle+oracledb")),
        ("oracle+oracledb://h/x", ("oracle+oracledb", "oracle+oracledb")),
        ("oracle+oracledb_async://h/x", (None, "oracle+oracledb_async")),
        ("oracle+cx_oracle://h/x", ("oracle+cx_oracle", None)),
    ],
)
def test_drivers(url, expected):
    """One driver serves both kinds of call."""
    assert tuple(found and found.drivername for found in DIALECT.urls(make_url(url))) == expected


def test_it_is_found_by_name():
    """The name of SQLAlchemy's dialect is enough."""
    assert dialect_named("oracle") is DIALECT


class Refused(Exception):
    """Stands for the driver's error."""


def refused(code, text):
    """Make an error as SQLAlchemy wraps it."""
    details = type("Details", (), {"full_code": code, "__str__": lambda _: f"{code}: {text}"})()
    return DatabaseError("INSERT", {}, Refused(details))


def tables():
    """Give abreast's own tables."""
    return define_tables().metadata.sorted_tables
