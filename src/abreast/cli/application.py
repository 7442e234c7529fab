"""The command's parts, put together."""

from typing import Annotated

import typer

from abreast import __version__
from abreast.cli import db, demo, log

# Without rich's tables: plain help has no type beside a flag, and fits every terminal and encoding.
application = typer.Typer(
    name="abreast",
    help="Keeps LLM agents abreast of every change.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
application.add_typer(db.commands, name="db")
application.add_typer(log.commands, name="log")
application.add_typer(demo.commands, name="demo")


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - called by typer
    if wanted:
        print(f"abreast {__version__}")
        raise typer.Exit


@application.callback()
def root(
    _version: Annotated[  # noqa: FBT002 - an option
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Keeps LLM agents abreast of every change."""
