"""Which columns there are, in one statement that does not fail when a table is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

_INFORMATION_SCHEMA = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = DATABASE() AND table_name IN :names
"""

_QUERIES = {
    "sqlite": """
SELECT t.name, c.name FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c
WHERE t.type IN ('table', 'view') AND t.name IN :names
""",
    "postgresql": """
SELECT c.relname, a.attname
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
WHERE c.relname IN :names AND pg_catalog.pg_table_is_visible(c.oid) AND a.attnum > 0 AND NOT a.attisdropped
""",
    "mysql": _INFORMATION_SCHEMA,
    "mariadb": _INFORMATION_SCHEMA,
    "oracle": """
SELECT table_name, column_name FROM all_tab_columns
WHERE owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') AND LOWER(table_name) IN :names
""",
}


def columns_of(connection: Connection, tables: Iterable[str]) -> dict[str, set[str]]:
    """Find the columns of those of the named tables that exist; all names come back in lower case."""
    query = text(_QUERIES[connection.dialect.name]).bindparams(bindparam("names", expanding=True))
    names = sorted({spelling for name in tables for spelling in (name, name.lower())})
    found: dict[str, set[str]] = {}
    for table, column in connection.execute(query, {"names": names}):
        found.setdefault(_lower(table), set()).add(_lower(column))
    return found


def _lower(name: str | bytes) -> str:
    return (name.decode() if isinstance(name, bytes) else name).lower()
