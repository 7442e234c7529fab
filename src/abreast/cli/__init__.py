"""The `abreast` command."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from sqlalchemy.exc import SQLAlchemyError

from abreast.errors import AbreastError


def main() -> None:
    """Run the command: exit code 1 with one line for an error, 2 for wrong usage."""
    if find_spec("typer") is None:
        _fail("the command needs typer, which is not installed; run: pip install 'abreast[cli]'")
    from abreast.cli.application import application  # noqa: PLC0415 - typer is an extra

    try:
        application(prog_name="abreast")
    except AbreastError as error:
        _fail(str(error))
    except SQLAlchemyError as error:
        _fail(f"the database refused: {_driver_text(error)}")


def _driver_text(error: SQLAlchemyError) -> str:
    text = str(getattr(error, "orig", None) or error).strip()
    return text.partition("\n")[0] or type(error).__name__


def _fail(message: str) -> None:
    print(f"abreast: {message}", file=sys.stderr)
    sys.exit(1)
