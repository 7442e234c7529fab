"""The `abreast` command."""

from __future__ import annotations

import io
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from abreast.errors import AbreastError, DatabaseUnavailable


def main() -> None:
    """Run the command: exit code 1 with one line for an error, 2 for wrong usage."""
    _prepare_output()
    try:
        try:
            _run()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _leave_output()
        sys.exit(1)  # whoever reads has gone, as `head` does
    except OSError as error:
        _leave_output()
        _fail(str(error.strerror or error))
    except KeyboardInterrupt:
        _fail("interrupted")


def _run() -> None:
    if find_spec("typer") is None:
        _fail("the command needs typer, which is not installed; run: pip install 'abreast[cli]'")
    from abreast.cli.application import application  # noqa: PLC0415 - typer is an extra

    try:
        application(prog_name="abreast")
    except DatabaseUnavailable as error:
        # Its own message speaks to whoever writes.
        _fail(f"database {error.database} is not available ({error.reason}); {error.way_out}, then try again")
    except AbreastError as error:
        _fail(str(error))
    except SQLAlchemyError as error:
        _fail(f"the database refused: {_driver_text(error)}")


def _prepare_output() -> None:
    """Let nothing that is printed fail for its characters, or for want of an output."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the shell, as in `>&-`
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open until the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _leave_output() -> None:
    """Give the rest of what is printed nowhere to fail: Python flushes once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _driver_text(error: SQLAlchemyError) -> str:
    text = str(getattr(error, "orig", None) or error).strip()
    return text.partition("\n")[0] or type(error).__name__


def _fail(message: str) -> None:
    print(f"abreast: {message}", file=sys.stderr)
    sys.exit(1)
