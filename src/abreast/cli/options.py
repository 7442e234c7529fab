"""Options that several commands take."""

from typing import Annotated

import typer
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError


def _is_url(value: str) -> str:
    """Refuse what is no URL without repeating it: it can hold a password."""
    try:
        make_url(value)
    except (ArgumentError, ValueError):
        raise typer.BadParameter("this is not a database URL; write it like sqlite:///app.db") from None
    return value


DatabaseOption = Annotated[
    str,
    typer.Option(
        "--database",
        metavar="URL",
        envvar="ABREAST_DATABASE",
        callback=_is_url,
        help="SQLAlchemy URL, as in sqlite:///app.db or postgresql+psycopg://host/name.",
    ),
]
PrefixOption = Annotated[
    str, typer.Option("--prefix", metavar="PREFIX", help="What the names of abreast's tables begin with.")
]
