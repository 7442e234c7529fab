"""What MySQL and MariaDB do in another way than the others. Compiled for MySQL, not run there."""

import re
from pathlib import Path

import pytest
from sqlalchemy import Table, create_mock_engine, make_url
from sqlalchemy.exc import IntegrityError, OperationalError

from abreast.sql.columns import Blob, JsonText, KeyText
from abreast.sql.dialects import dialect_named
from abreast.sql.dialects.mysql import DIALECT
from abreast.sql.tables import define_tables

URL = make_url("mysql+pymysql://u@h/x")
SQLALCHEMY = URL.get_dialect()()
GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.mysql.sql"))
STATEMENTS = [statement for path in GOLDEN for statement in path.read_text().split(";\n")]
RESERVED = set((Path(__file__).parent / "reserved_words.mysql.txt").read_text().split())
LONGEST_KEY = 3072
LONGEST_NAME = 64


@pytest.mark.parametrize("kind", ["mysql", "mariadb"])
def test_ids_are_bytes(kind):
    """Its collations take 'T' for 't', and pad: 'T ' is 'T'. Bytes are only what they are."""
    dialect = make_url(f"{kind}://").get_dialect()()
    assert KeyText(40).compile(dialect=dialect) == "VARBINARY(40)"
    assert KeyText().bind_processor(dialect)("Tür ") == "Tür ".encode()
    assert KeyText().result_processor(dialect, None)("Tür ".encode()) == "Tür "


def test_keys_are_short_enough():
    """InnoDB takes 3,072 bytes in a key."""
    lengths = {
        name: sum(stored_bytes(column) for column in columns) for name, columns in keys(define_tables().metadata)
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_KEY} == {}
    assert lengths["abreast_entity_version"] == 3 * 255


def test_long_values_fit():
    """TEXT and BLOB end at 64 KiB; the text is ASCII and compared byte for byte."""
    assert JsonText().compile(dialect=SQLALCHEMY) == "LONGTEXT CHARACTER SET ascii COLLATE ascii_bin"
    assert Blob().compile(dialect=SQLALCHEMY) == "LONGBLOB"


def test_names_are_short_enough_and_quoted_where_they_are_reserved():
    """`before` is a reserved word there."""
    statements = []
    engine = create_mock_engine("mysql://", lambda made, *_, **__: statements.append(str(made.compile(engine))))
    define_tables().metadata.create_all(engine, checkfirst=False)
    names = {name for table in tables() for name in (table.name, *table.columns.keys())}
    assert [name for name in names if len(name) > LONGEST_NAME] == []
    reserved = {name for name in names if name.upper() in RESERVED}
    assert reserved == {"before"}
    for statement in (*statements, *STATEMENTS):
        assert re.search(r"(?<![`\w])before(?![`\w])", statement) is None


def test_the_row_count_says_how_many_rows_were_found():
    """Without the flag an update that changes nothing would count 0 and look like a conflict."""
    found_rows = 2
    for kind in ("mysql+pymysql", "mysql+asyncmy", "mariadb+pymysql"):
        url = make_url(f"{kind}://u@h/x")
        dialect = url.get_dialect()(dbapi=url.get_dialect().import_dbapi())
        assert dialect.create_connect_args(url)[1]["client_flag"] & found_rows


def test_a_missing_row_is_inserted_or_ignored():
    """ON DUPLICATE KEY UPDATE would count one row in either case; IGNORE alone would log a warning."""
    values = {"thread_id": "t1", "workspace_id": "w1", "opened_at": 1}
    sql = " ".join(str(DIALECT.insert_missing(define_tables().thread, values).compile(dialect=SQLALCHEMY)).split())
    assert sql == (
        "INSERT IGNORE INTO abreast_thread (thread_id, workspace_id, opened_at) "
        "SELECT %s AS thread_id, %s AS workspace_id, %s AS opened_at FROM DUAL WHERE NOT (EXISTS "
        "(SELECT 1 FROM abreast_thread WHERE abreast_thread.thread_id = %s))"
    )


@pytest.mark.parametrize(
    "refused",
    [r"\bRETURNING\b", r"ON CONFLICT", r"FOR UPDATE OF", r"\bFETCH FIRST\b", r"^WITH\b"],
    ids=["returning", "conflict", "for-update-of", "fetch", "cte"],
)
def test_no_operation_sends_what_mysql_refuses(refused):
    """MySQL has no RETURNING and no ON CONFLICT; MariaDB knows no FOR UPDATE OF."""
    assert [statement for statement in STATEMENTS if re.search(refused, statement)] == []


def test_no_statement_changes_a_table_it_reads():
    """An UPDATE or DELETE may not read its own table in a subquery (error 1093)."""
    changed = [re.match(r"(?:UPDATE|DELETE FROM) (\w+)(.*)", text, re.DOTALL) for text in STATEMENTS]
    found = [match[0] for match in changed if match and re.search(rf"\bFROM {match[1]}\b", match[2])]
    assert found == []


def test_writers_do_not_keep_the_default_isolation():
    """REPEATABLE READ would hide what committed while the writer waited for a row."""
    assert DIALECT.write_options == {"isolation_level": "READ COMMITTED"}
    assert DIALECT.read_options == {"isolation_level": "REPEATABLE READ"}


def test_a_snapshot_begins_at_once():
    """By itself it would begin with the first SELECT, and allow writes."""
    sent = []
    DIALECT.begin_snapshot(type("Connection", (), {"exec_driver_sql": lambda _, sql: sent.append(sql)})())
    assert sent == ["START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1062, (True, False, False)),
        (1213, (False, True, True)),
        (1020, (False, True, True)),
        (1047, (False, True, True)),
        (2013, (False, True, True)),
        (1205, (False, False, True)),
        (1146, (False, False, False)),
    ],
)
def test_errors_are_told_apart(number, expected):
    """By their number, duplicate, passing and lasting troubles."""
    error = OperationalError("INSERT", {}, Refused(number, ""))
    told = (DIALECT.is_duplicate(error), DIALECT.is_transient(error), DIALECT.is_unavailable(error))
    assert told == expected


@pytest.mark.parametrize(
    ("text", "constraint"),
    [
        ("Duplicate entry 'for key 'x' 4711' for key 'move.code_once'", "move.code_once"),
        ("Duplicate entry '4711' for key 'PRIMARY'", "PRIMARY"),
        ("Check constraint 'move_chk_1' is violated.", "move_chk_1"),
        ("CONSTRAINT `positive` failed for `app`.`move`", "positive"),
        (
            "Cannot add or update a child row: a foreign key constraint fails (`a`.`i`, CONSTRAINT `i_m` F",
            "i_m",
        ),
        ("Data too long for column 'code' at row 1", None),
    ],
)
def test_an_error_is_described_without_values(text, constraint):
    """The server's text holds the value of a duplicate entry."""
    error = IntegrityError("INSERT", {}, Refused(1062, text))
    assert DIALECT.describe(error) == ("Refused 1062", constraint)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("mysql://h/x", ("mysql+pymysql", "mysql+asyncmy")),
        ("mariadb://h/x", ("mariadb+pymysql", "mariadb+asyncmy")),
        ("mysql+asyncmy://h/x", ("mysql+pymysql", "mysql+asyncmy")),
        ("mysql+aiomysql://h/x", (None, "mysql+aiomysql")),
        ("mysql+mysqldb://h/x", ("mysql+mysqldb", None)),
    ],
)
def test_drivers(url, expected):
    """Sync and async calls take different drivers."""
    assert tuple(found and found.drivername for found in DIALECT.urls(make_url(url))) == expected


def test_both_names_are_one_dialect():
    """MariaDB is told apart from MySQL by nothing abreast uses."""
    assert dialect_named("mariadb") is dialect_named("mysql") is DIALECT


class Refused(Exception):
    """Stands for the driver's error."""


def tables():
    """Give abreast's own tables."""
    return define_tables().metadata.sorted_tables


def keys(metadata):
    """Give the columns of each primary key and index by name."""
    for table in metadata.sorted_tables:
        yield table.name, list(table.primary_key)
        for index in table.indexes:
            yield index.name, [column for column in index.columns if isinstance(column.table, Table)]


def stored_bytes(column):
    """Give the most bytes of a column in a key; a number takes eight."""
    return column.type.length if isinstance(column.type, KeyText) else 8
