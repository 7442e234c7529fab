"""Options that several commands take, and the database they name."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from abreast.database import Database
from abreast.errors import InvalidDatabase, SchemaError
from abreast.sql.tables import DEFAULT_PREFIX

# A command is sync: it takes the application's URL and the sync driver of the same database.
_SYNC_DRIVERS = {
    "postgresql+asyncpg": "postgresql+psycopg",
    "postgresql+psycopg_async": "postgresql+psycopg",
    "mysql+aiomysql": "mysql+pymysql",
    "mariadb+aiomysql": "mariadb+pymysql",
    "oracle+oracledb_async": "oracle+oracledb",
}
# What asyncpg takes in its URL is unknown to psycopg, or has another name there.
_OF_ASYNCPG = ("ssl", "prepared_statement_cache_size", "prepared_statement_name_func")


def choices(words: type[StrEnum]) -> str:
    """Write the words that an option takes, for its help."""
    return f"<{'|'.join(words)}>"


def one_of(words: type[StrEnum]) -> Callable[[str], str]:
    """Give what refuses any other word than these, and names them."""

    def check(value: str) -> str:
        if value not in list(words):
            raise typer.BadParameter(f"{value!r} is unknown; use one of: {', '.join(words)}")
        return value

    return check


def sync_url(value: str | None) -> str | None:
    """Give a URL with a sync driver, and refuse what is no URL without repeating it: it can hold a password."""
    if value is None:
        return None
    try:
        url = make_url(value)
    except (ArgumentError, ValueError):
        raise typer.BadParameter("this is not a database URL; write it like sqlite:///app.db") from None
    if url.drivername not in _SYNC_DRIVERS:
        return value
    if url.drivername == "postgresql+asyncpg":
        url = _without_asyncpg(url)
    return url.set(drivername=_SYNC_DRIVERS[url.drivername]).render_as_string(hide_password=False)


def _without_asyncpg(url: URL) -> URL:
    encrypted = url.query.get("ssl")
    url = url.difference_update_query(_OF_ASYNCPG)
    if not isinstance(encrypted, str):
        return url
    return url.update_query_dict({"sslmode": {"true": "require", "false": "disable"}.get(encrypted, encrypted)})


@contextmanager
def opened(url: str, prefix: str, *, create: bool = False) -> Generator[Database]:
    """
    Open the database that a command names.

    Args:
        create: A SQLite file that is not there is made; otherwise it is an error, as it is mostly a slip.
    """
    with Database.open(url, prefix=prefix) as database:
        if not create:
            _check_file(make_url(url), database.name)
        try:
            yield database
        except SchemaError as error:
            if prefix != DEFAULT_PREFIX:
                error.args = (str(error).replace("--database URL", f"--database URL --prefix {prefix}"),)
            raise


def _check_file(url: URL, name: str) -> None:
    path = url.database or ""
    if url.get_backend_name() != "sqlite" or path.startswith("file:") or Path(path).is_file():
        return
    if Path(path).is_dir():
        raise InvalidDatabase(name, "this is a folder", "name a file in it")
    if not Path(path).parent.is_dir():
        raise InvalidDatabase(name, "the file is not there, nor its folder", "check the path")
    raise InvalidDatabase(name, "the file is not there", "check the path; `abreast db upgrade` makes a new one")


DatabaseOption = Annotated[
    str,
    typer.Option(
        "--database",
        metavar="URL",
        envvar="ABREAST_DATABASE",
        callback=sync_url,
        help="SQLAlchemy URL, as in sqlite:///app.db or postgresql+psycopg://host/name. Instead of an async driver "
        "the sync one of the same database is used.",
    ),
]
PrefixOption = Annotated[
    str, typer.Option("--prefix", metavar="PREFIX", help="What the names of abreast's tables begin with.")
]
