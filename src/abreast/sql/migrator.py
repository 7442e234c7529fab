"""Bring abreast's own tables up to date, and refuse those that do not fit this code."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import column, make_url, select, table

from abreast.errors import SchemaMissing, SchemaTooNew, SchemaTooOld
from abreast.sql.dialects import dialect_named, dialect_of
from abreast.sql.dialects.catalog import columns_of
from abreast.sql.tables import DEFAULT_PREFIX

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from alembic.runtime.migration import MigrationContext, RevisionStep
    from sqlalchemy import Connection, Table

    from abreast.sql.tables import Tables

_MIGRATIONS = Path(__file__).parent / "migrations"
_ALEMBIC_LOGGERS = ("alembic.runtime.migration", "alembic.runtime.plugins")


def plan(connection: Connection, tables: Tables) -> list[str]:
    """
    List the migrations that `upgrade` would run, oldest first; nothing is changed.

    Raises:
        SchemaMissing: Tables are there, but no migration is recorded.
        SchemaTooNew: The tables were made by newer code.
    """
    recorded, found = _read(connection, tables)
    if recorded is None:
        _refuse_unrecorded(tables, found)
    return _pending(recorded)


def upgrade(connection: Connection, tables: Tables) -> list[str]:
    """
    Run the pending migrations in the connection's transaction and record them.

    On PostgreSQL and SQLite all of them and their records commit together or not at all; MySQL and Oracle
    commit each statement that changes a table. Any number of processes may call it at once: one migrates, the
    others wait and find nothing to do.

    Returns:
        What was run, oldest first.

    Raises:
        SchemaMissing: Tables are there without a recorded migration, or are recorded and not there.
        SchemaTooNew: The tables were made by newer code. Nothing was changed.
    """
    dialect_of(connection).migration_lock(connection, _version_table(tables.prefix))
    pending = plan(connection, tables)
    if pending:
        with _quietly():
            _run(_online(connection, tables.prefix), tables.prefix)
    check(connection, tables)
    return pending


def check(connection: Connection, tables: Tables) -> None:
    """
    Make sure that the tables fit this code, in two statements.

    Raises:
        SchemaMissing: There are none, or not all of them, or columns are missing.
        SchemaTooOld: A migration has not run yet.
        SchemaTooNew: They were made by newer code.
    """
    recorded, found = _read(connection, tables)
    if recorded is None:
        _refuse_unrecorded(tables, found)
        raise SchemaMissing(f"the database has no tables of abreast that begin with {tables.prefix!r}")
    if _pending(recorded):
        raise SchemaTooOld(recorded, _newest())
    missing = _missing(tables, found)
    if missing:
        raise SchemaMissing(
            f"migration {recorded} is recorded, but {', '.join(missing)} is missing",
            f"restore it from a backup, or drop all tables that begin with {tables.prefix!r} and upgrade",
        )


def sql(dialect_name: str, prefix: str = DEFAULT_PREFIX) -> str:
    """
    Write the migrations of an empty database as an SQL script; nothing is connected, no driver is needed.

    The MySQL and Oracle scripts are compiled, not run.

    Raises:
        InvalidDatabase: abreast does not know this kind of database.
    """
    dialect_named(dialect_name)
    script = StringIO()
    with _quietly():
        _run(_offline(dialect_name, prefix, script), prefix)
    return "".join(f"{line.rstrip()}\n" for line in script.getvalue().strip().splitlines())


def _read(connection: Connection, tables: Tables) -> tuple[str | None, Mapping[str, set[str]]]:
    version_table = _version_table(tables.prefix)
    found = columns_of(connection, [version_table, *tables.metadata.tables])
    if version_table.lower() not in found:
        return None, found
    versions = table(version_table, column("version_num"))
    return max(connection.scalars(select(versions.c.version_num)), default=None), found


def _version_table(prefix: str) -> str:
    return f"{prefix}migration"


def load() -> None:
    """Read from disk which migrations there are."""
    _migrations()


@cache
def _migrations() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (_MIGRATIONS / "versions").glob("[0-9]*.py")))


def _revision(migration: str) -> str:
    return migration.partition("_")[0]


def _newest() -> str:
    return _revision(_migrations()[-1])


def _pending(recorded: str | None) -> list[str]:
    if recorded is None:
        return list(_migrations())
    known = [_revision(migration) for migration in _migrations()]
    if recorded not in known:
        raise SchemaTooNew(recorded, _newest())
    return list(_migrations()[known.index(recorded) + 1 :])


def _refuse_unrecorded(tables: Tables, found: Mapping[str, set[str]]) -> None:
    there = [name for name in tables.metadata.tables if name.lower() in found]
    if there:
        raise SchemaMissing(
            f"{', '.join(there)} exists, but no migration is recorded: an upgrade was cut short, or it was "
            "made in another way",
            "drop it, or choose another prefix",
        )


def _missing(tables: Tables, found: Mapping[str, set[str]]) -> list[str]:
    return [name for own in tables.metadata.tables.values() for name in _missing_of(own, found.get(own.name.lower()))]


def _missing_of(own: Table, columns: set[str] | None) -> list[str]:
    if columns is None:
        return [own.name]
    return [f"{own.name}.{col.name}" for col in own.columns if col.name.lower() not in columns]


def _online(connection: Connection, prefix: str) -> MigrationContext:
    from alembic.runtime.migration import MigrationContext  # noqa: PLC0415 - slow, and most processes never migrate

    return MigrationContext.configure(connection, opts={"fn": _steps, "version_table": _version_table(prefix)})


def _offline(dialect_name: str, prefix: str, script: StringIO) -> MigrationContext:
    from alembic.runtime.migration import MigrationContext  # noqa: PLC0415 - as above

    dialect = make_url(f"{dialect_name}://").get_dialect()()
    # With RETURNING the record's INSERT would hold a bind placeholder on Oracle.
    dialect.insert_returning = False
    options = {
        "fn": _steps,
        "version_table": _version_table(prefix),
        "as_sql": True,
        "output_buffer": script,
        "transactional_ddl": True,
        "transaction_per_migration": True,
    }
    return MigrationContext.configure(dialect=dialect, opts=options)


def _run(context: MigrationContext, prefix: str) -> None:
    from alembic.operations import Operations  # noqa: PLC0415 - as above

    with context.begin_transaction():
        context.run_migrations(op=Operations(context), prefix=prefix)


def _steps(recorded: tuple[str, ...], _context: MigrationContext) -> list[RevisionStep]:
    from alembic.runtime.migration import MigrationStep  # noqa: PLC0415 - as above
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - as above

    scripts = ScriptDirectory(_MIGRATIONS)
    pending = [_revision(migration) for migration in _pending(max(recorded, default=None))]
    return [MigrationStep.upgrade_from_script(scripts.revision_map, scripts.get_revision(name)) for name in pending]


@contextmanager
def _quietly() -> Generator[None]:
    loggers = [logging.getLogger(name) for name in _ALEMBIC_LOGGERS]
    for logger in loggers:
        logger.addFilter(_is_warning)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_is_warning)


def _is_warning(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING
