"""Run the blocks of a Markdown page in order, and compare what they print with what the page shows."""

import contextlib
import doctest
import io
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sybil import Document, Example
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.myst import CodeBlockParser

from abreast import Database, WorkspaceLog
from abreast.cli import main

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.REPORT_UDIFF


class Page:
    """
    One page: its `python`, `text` and `console` blocks.

    A `text` block shows what the Python blocks since the last one have printed; `...` stands for anything.
    What is printed has to be shown. In a `console` block the commands `$ abreast …` are run, and what follows
    is their output; other commands are left alone.
    """

    def __init__(self, path: Path, *, shows_output: bool = True) -> None:
        self._shows_output = shows_output
        self._printed = io.StringIO()
        self._python = PythonEvaluator()
        parsers = [
            CodeBlockParser("python", self._run),
            CodeBlockParser("text", self._show),
            CodeBlockParser("console", self._command),
        ]
        self.document = Document.parse(str(path), *parsers)

    def run(self, **names: Any) -> int:
        """Run the page with some names given and count its blocks."""
        with namespace(self.document, names):
            blocks = list(self.document)
            for block in blocks:
                block.evaluate()
        if self._shows_output:
            assert self._printed.getvalue() == "", "the page prints more than it shows"
        return len(blocks)

    def _run(self, block: Example) -> None:
        with contextlib.redirect_stdout(self._printed):
            self._python(block)

    def _show(self, block: Example) -> str:
        printed = self._printed.getvalue()
        self._printed.seek(0)
        self._printed.truncate()
        return difference(block.parsed, printed)

    def _command(self, block: Example) -> str:
        printed = "".join(shell(line) for line in block.parsed.splitlines() if line.startswith("$ abreast "))
        shown = "".join(f"{line}\n" for line in block.parsed.splitlines() if not line.startswith("$ "))
        return difference(shown, printed)


@contextlib.contextmanager
def namespace(document: Document, names: dict[str, Any]) -> Iterator[None]:
    """Give a page a module of its own, as type hints are looked up in one, and close what it opened."""
    module = types.ModuleType("abreast_page")
    vars(module).update(names)
    document.namespace = vars(module)
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        del sys.modules[module.__name__]
        for value in list(vars(module).values()):
            if isinstance(value, WorkspaceLog):
                value.database.close()
            elif isinstance(value, Database):
                value.close()
            elif isinstance(value, Engine):
                value.dispose()


def difference(shown: str, printed: str) -> str:
    """Say how what a block prints differs from what the page shows; empty where it does not."""
    checker = doctest.OutputChecker()
    if checker.check_output(shown, printed, FLAGS):
        return ""
    return checker.output_difference(doctest.Example("", shown), printed, FLAGS)


def shell(line: str) -> str:
    """Run one `$ abreast …` line, with `> file` if it ends so, in this process and give what it writes, errors too."""
    command, _, target = line.removeprefix("$ ").partition(" > ")
    printed, complained = io.StringIO(), io.StringIO()
    arguments = sys.argv
    sys.argv = command.split()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complained):
            main()
    except SystemExit:
        pass
    finally:
        sys.argv = arguments
    if target:
        Path(target).write_text(printed.getvalue(), encoding="utf-8")
        return complained.getvalue()
    return printed.getvalue() + complained.getvalue()
