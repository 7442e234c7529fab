"""The reference names every method with what it takes."""

import inspect
import re
from types import ModuleType

import pytest

import abreast
from abreast import langchain, langgraph, model, prompt, runs
from abreast.langgraph import SqlSaver, WorkspaceNodes
from abreast.model.write import WriteResult
from abreast.runs import Run, Runs
from abreast.testing import saver_contract
from abreast.workspace_log.write import Write
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
CLASSES = [
    abreast.Actor,
    abreast.Batch,
    abreast.Cursor,
    abreast.Database,
    abreast.Entity,
    abreast.Event,
    Run,
    Runs,
    WorkspaceNodes,
    SqlSaver,
    abreast.WorkspaceLog,
    Write,
    WriteResult,
]
PACKAGES = [runs, langchain, langgraph, prompt, model, saver_contract]
# What abreast itself calls, and no user has to.
INTERNAL = {
    "get_next_version",
    "of_thread",
    "part",
    "read_or_prepare",
    "run_once",
    "run_while",
    "take",
    "unpooled",
    "within",
}
# Made by abreast itself, or in another way.
NOT_CONSTRUCTED = {abreast.Actor, abreast.Database, Run, Write}


def section(name: str) -> str:
    """Give what stands under a heading."""
    return PAGE.partition(f"\n## {name}\n")[2].partition("\n## ")[0]


def documented(name: str) -> list[str]:
    """Give the signatures in a section, without the class before a class method."""
    blocks = re.findall(r"```signature\n(.*?)```", section(name), flags=re.DOTALL)
    return [line.removeprefix(f"{name}.") for block in blocks for line in block.splitlines()]


def taken(name: str, described: object) -> str:
    """Write down a name and what it takes, without types; a function or class that is a default by its name."""
    signature = inspect.signature(described)
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    plain = f"{name}{signature.replace(parameters=parameters, return_annotation=signature.empty)}"
    return re.sub(r"<(?:class|function) '?(?:\w+\.)*(\w+)[^>]*>", r"\1", plain)


def public(owner: type) -> list[str]:
    """Give the signatures of what users call, without async twins."""
    methods = {name: method for name, method in inspect.getmembers(owner, callable) if not name.startswith("_")}
    plain = {name: method for name, method in methods.items() if not (name[0] == "a" and name[1:] in methods)}
    own = {name: method for name, method in plain.items() if method.__module__.startswith("abreast")}
    signatures = [taken(name, method) for name, method in own.items() if name not in INTERNAL]
    return signatures if owner in NOT_CONSTRUCTED else [taken(owner.__name__, owner), *signatures]


@pytest.mark.parametrize("owner", CLASSES, ids=lambda owner: owner.__name__)
def test_signatures_are_those_of_the_code(owner: type):
    """Nothing is left out, nothing is out of date."""
    assert sorted(public(owner)) == sorted(documented(owner.__name__))


def test_all_that_is_exported_is_there():
    """What is no error has a section; errors have a page."""
    errors = {"AbreastError", "Conflict", "NotFound"}
    assert [] == [name for name in abreast.__all__ if name not in errors and not section(name)]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_name_of_a_package_is_there(package: ModuleType):
    """A package's section names all that it exports."""
    told = section(package.__name__)
    assert [] == [name for name in package.__all__ if f"`{name}`" not in told]


def called(package: ModuleType) -> list[str]:
    """Give the signatures of a package's functions, and of its classes that users make and that have no section."""
    found = {name: getattr(package, name) for name in package.__all__ if not section(name)}
    made = {
        name: value
        for name, value in found.items()
        if inspect.isfunction(value) or (inspect.isclass(value) and not issubclass(value, dict))
    }
    return [taken(name, value) for name, value in made.items() if name != "BoundGraph"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_functions_of_a_package_are_those_of_the_code(package: ModuleType):
    """Nothing is left out, nothing is out of date."""
    assert sorted(called(package)) == sorted(documented(package.__name__))
