"""What the folders promise: layers, small modules, databases told apart in one place."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "abreast").rglob("*.py"))
LONGEST_MODULE = 400
DATABASE_SPECIFIC = re.compile(r"\.dialect\.name\b|\bsqlalchemy\.dialects\b|from sqlalchemy import .*\bdialects\b")


def inside(path: Path) -> str:
    """Name a module by its path below the package."""
    return path.relative_to(ROOT / "src" / "abreast").as_posix()


def test_there_are_modules():
    """The rules below are looked at for the real package."""
    assert "errors/__init__.py" in [inside(path) for path in SOURCES]


def test_layers():
    """A module imports only from the layers below it."""
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_modules_are_small():
    """A module has one reason to exist and at most 400 lines."""
    lengths = {inside(path): len(path.read_text().splitlines()) for path in SOURCES}
    assert {} == {name: length for name, length in lengths.items() if length > LONGEST_MODULE}


def test_databases_are_told_apart_in_one_place():
    """Only dialects and column types ask which database it is."""
    allowed = re.compile(r"sql/dialects/|sql/columns\.py$")
    found = [
        f"{inside(path)}:{number}: {line.strip()}"
        for path in SOURCES
        if not allowed.match(inside(path))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if DATABASE_SPECIFIC.search(line)
    ]
    assert [] == found
