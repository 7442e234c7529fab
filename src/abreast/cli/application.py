"""The command's parts, put together."""

import typer

from abreast.cli import db, demo, log

application = typer.Typer(
    name="abreast",
    help="Keeps LLM agents abreast of every change.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
application.add_typer(db.commands, name="db")
application.add_typer(log.commands, name="log")
application.add_typer(demo.commands, name="demo")
