"""`abreast db`: abreast's own tables."""

from enum import StrEnum
from typing import Annotated

import typer

from abreast.cli.options import DatabaseOption, PrefixOption, opened
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
    """List the migrations that upgrade would run, one a line; nothing is changed."""
    with opened(database, prefix) as target:
        for migration in target.plan():
            print(migration)


@commands.command()
def upgrade(database: DatabaseOption, prefix: PrefixOption = DEFAULT_PREFIX) -> None:
    """Create the tables or bring them up to date; many processes may do so at once."""
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
    dialect: Annotated[Kind, typer.Option("--dialect", help="Kind of database the script is for.")],
    prefix: PrefixOption = DEFAULT_PREFIX,
) -> None:
    """
    Print the migrations as an SQL script for an empty database, without connecting.

    The scripts for mysql, mariadb and oracle are compiled, not run.
    """
    print(migrator.sql(dialect.value, prefix), end="")
