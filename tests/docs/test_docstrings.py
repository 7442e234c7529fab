import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table

import abreast
from abreast import Actor, Database, Entity, WorkspaceLog

# Their examples run beside their own tests, with names of their own.
ELSEWHERE = ("prompt", "langgraph")


def modules() -> list[str]:
    """Give the modules whose docstrings hold examples that are run here."""
    package = Path(abreast.__file__).parent
    with_examples = [path for path in sorted(package.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    paths = [path.relative_to(package.parent).with_suffix("") for path in with_examples]
    return [".".join(path.parts) for path in paths if path.parts[1] not in ELSEWHERE]


@pytest.fixture
def names() -> Iterator[dict[str, Any]]:
    """Give the names that examples use without making them: a log with a move at version 1."""
    move_table = Table(
        "move",
        MetaData(),
        Column("id", String(40), primary_key=True),
        Column("workspace_id", String(40), nullable=False),
        Column("move_in_date", String(10)),
        Column("stage", String(20)),
        Column("version", Integer),
    )
    with Database.temporary() as database:
        database.upgrade()
        database.run(move_table.metadata.create_all)
        log = WorkspaceLog(database, entities=[Entity(move_table, expose=["move_in_date", "stage"])])
        yield {
            "Actor": Actor,
            "Entity": Entity,
            "database": database,
            "log": log,
            "move_table": move_table,
        }


@pytest.mark.parametrize("name", modules())
def test_examples(name: str, names: dict[str, Any]):
    """What the docstrings of a module show, one after the other, is what happens."""
    module = importlib.import_module(name)
    names = vars(module) | names
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in sorted(doctest.DocTestFinder().find(module), key=lambda test: test.lineno or 0):
        test.globs = names
        runner.run(test, clear_globs=False)
    assert 0 == runner.summarize(verbose=False).failed
    assert runner.tries > 0


def test_examples_are_found():
    """The modules users begin with are among them."""
    assert {"abreast.workspace_log.log", "abreast.database.database", "abreast.model.entity"} <= set(modules())
