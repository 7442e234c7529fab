"""Fresh tables are the sum of all migrations."""

from typing import Any

import pytest
from sqlalchemy import Connection, Inspector, create_engine, create_mock_engine, inspect

from abreast.database import Database
from abreast.sql import migrator
from abreast.sql.tables import define_tables


def test_migrations_make_the_tables_that_the_code_defines(empty_database_url):
    """On a live database, columns, types, keys and indexes are the same whichever way they were made."""
    with Database.open(empty_database_url, prefix="one_") as database:
        database.upgrade()
    defined = define_tables("two_").metadata
    engine = create_engine(empty_database_url)
    with engine.begin() as connection:
        defined.create_all(connection)
        assert described(connection, "one_", leave_out="migration") == described(connection, "two_")
    engine.dispose()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql", "mysql", "mariadb", "oracle"])
def test_the_script_holds_the_tables_that_the_code_defines(kind):
    """The same statements for each kind of database, also those that are compiled and not run."""
    script = "".join(line for line in migrator.sql(kind).splitlines(keepends=True) if not line.startswith("--"))
    statements = {statement.strip() for statement in script.replace("\n\n/\n", ";").split(";\n")}
    missing = [statement for statement in defined_statements(kind) if statement not in statements]
    assert missing == []


def defined_statements(kind: str) -> list[str]:
    """Compile what `create_all` would send."""
    statements: list[str] = []

    def keep(construct: Any, *_: object, **__: object) -> None:
        written = str(construct.compile(dialect=engine.dialect))
        statements.append("\n".join(line.rstrip() for line in written.replace("\t", "    ").strip().splitlines()))

    engine = create_mock_engine(f"{kind}://", keep)
    define_tables().metadata.create_all(engine, checkfirst=False)
    return statements


def described(connection: Connection, prefix: str, leave_out: str = "") -> dict[str, Any]:
    """Describe the tables below a prefix without it."""
    inspector = inspect(connection)
    names = [name for name in inspector.get_table_names() if name.startswith(prefix)]
    return {
        name.removeprefix(prefix): described_table(inspector, name, prefix)
        for name in names
        if name != f"{prefix}{leave_out}"
    }


def described_table(inspector: Inspector, name: str, prefix: str) -> dict[str, Any]:
    """Describe one table."""
    indexes = inspector.get_indexes(name)
    return {
        "columns": [
            (column["name"], str(column["type"]), column["nullable"], column["default"])
            for column in inspector.get_columns(name)
        ],
        "key": inspector.get_pk_constraint(name)["constrained_columns"],
        "indexes": sorted(
            (str(index["name"]).removeprefix(prefix), index["column_names"], index["unique"]) for index in indexes
        ),
        "unique": inspector.get_unique_constraints(name),
        "foreign": inspector.get_foreign_keys(name),
    }
