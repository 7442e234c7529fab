"""What users see: few names, no framework loaded, async twins that are twins."""

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import abreast

FRAMEWORKS = {"fastapi", "langchain", "langchain_core", "langgraph", "pydantic", "pytest", "rich", "typer"}
MOST_NAMES = 12


def classes() -> Iterator[type]:
    """Give the public classes of all modules of the package."""
    for module in pkgutil.walk_packages(abreast.__path__, "abreast."):
        if module.name.endswith(".__main__"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if inspect.isclass(value) and value.__module__ == module.name and not name.startswith("_"):
                yield value


def twins() -> Iterator[tuple[str, Callable[..., object], Callable[..., object]]]:
    """Give each method that has a namesake with an `a` before it, and the namesake."""
    for owner in classes():
        members = vars(owner)
        for name, method in members.items():
            twin = members.get(f"a{name}")
            if callable(method) and callable(twin) and not name.startswith("_"):
                yield f"{owner.__module__}.{owner.__qualname__}.a{name}", method, twin


def test_few_names():
    """Whoever opens the package sees a dozen names at most, and all of them are there."""
    assert len(abreast.__all__) <= MOST_NAMES
    assert [] == [name for name in abreast.__all__ if not hasattr(abreast, name)]


def test_import_loads_no_framework():
    """A service that uses the core alone pays for no framework."""
    ask = "import sys, abreast; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True, text=True)
    assert set() == FRAMEWORKS & set(done.stdout.split())


def taken(method: Callable[..., object]) -> str:
    """Write down what a method takes; an async one takes SQLAlchemy's async connection for the plain one."""
    signature = inspect.signature(method).replace(return_annotation=inspect.Signature.empty)
    return re.sub(r"\bAsync(?=Connection\b|Session\b|Engine\b)", "", str(signature))


def test_async_twins_take_the_same():
    """What is learned for a method holds for its async twin."""
    pairs = list(twins())
    assert any(name.endswith(".Database.arun") for name, _, _ in pairs)
    different = {name: (taken(method), taken(twin)) for name, method, twin in pairs if taken(method) != taken(twin)}
    assert {} == different
