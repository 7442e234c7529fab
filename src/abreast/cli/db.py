"""`abreast db`: abreast's own tables."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from abreast.cli.options import DatabaseOption, PrefixOption, choices, one_of, opened
from abreast.sql import migrator
from abreast.sql.tables import DEFAULT_PREFIX

commands = typer.Typer(
    help="Create, upgrade and check abreast's own tables.", no_args_is_help=True, rich_markup_mode=None
)


class Kind(StrEnum):
    """A kind of database."""

    postgresql = "postgresql"
    sqlite = "sqlite"
    mysql = "mysql"
    mariadb = "mariadb"
    oracle = "oracle"


@commands.command()
def plan(database: DatabaseOption, prefix: PrefixOption = DEFAULT_PREFIX) -> None:
    """List the migrations that upgrade would run, one a line. Nothing is changed."""
    with opened(database, prefix) as target:
        pending = target.plan()
        for migration in pending:
            print(migration)
        if not pending:
            print(f"{target.name}: up to date, there is nothing to run", file=sys.stderr)


@commands.command()
def upgrade(database: DatabaseOption, prefix: PrefixOption = DEFAULT_PREFIX) -> None:
    """Create the tables or bring them up to date. Many processes may do so at once."""
    with opened(database, prefix, create=True) as target:
        pending = target.plan()
        target.upgrade()
        for migration in pending:
            print(f"done: {migration}")
        print(f"{target.name}: up to date")


@commands.command()
def check(database: DatabaseOption, prefix: PrefixOption = DEFAULT_PREFIX) -> None:
    """Fail unless the tables fit this version of abreast."""
    with opened(database, prefix) as target:
        target.check()
        print(f"{target.name}: up to date")


@commands.command()
def sql(
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect", metavar=choices(Kind), callback=one_of(Kind), help="Kind of database the script is for."
        ),
    ],
    prefix: PrefixOption = DEFAULT_PREFIX,
) -> None:
    """
    Print the migrations as an SQL script, without connecting.

    The script is for an empty database. Those for mysql, mariadb and oracle are compiled, not run.
    """
    print(migrator.sql(dialect, prefix), end="")
