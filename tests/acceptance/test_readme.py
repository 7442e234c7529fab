"""The README does what it says."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
DATABASES = README.parent / "docs" / "databases.md"
OLDEST = ("alembic", "sqlalchemy")


def python_blocks() -> list[str]:
    """Give the Python code of the README, block by block."""
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


def run(code: str, folder: Path) -> str:
    """Run code from a file in a folder, and give what it printed."""
    (folder / "app.py").write_text(code, encoding="utf-8")
    finished = subprocess.run(
        [sys.executable, "app.py"], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_first_example_runs_in_an_empty_folder(tmp_path):
    """Pasted into a file it prints the block: the new date, who changed it, and no hidden value."""
    printed = run(python_blocks()[0], tmp_path)
    assert "from 2026-09-28 to 2026-09-30" in printed
    assert "4711" not in printed


def test_the_example_of_an_agent_runs(tmp_path):
    """The second example, pasted below the first, answers from the newest revision and confirms what it was given."""
    first, second = python_blocks()
    check = """
assert log.read_batch("w1", "t2").lines == () and log.read_batch("w1", "t2").since.revision == 2
"""
    assert run(f"{first}\n{second}\n{check}", tmp_path).endswith("\nOn September 30. based on revision 2\n")


def test_a_newcomer_reads_one_page():
    """What is longer than two screens of a terminal belongs into the docs."""
    assert 80 >= len(README.read_text(encoding="utf-8").splitlines())


def test_requirements_are_those_of_the_package():
    """Who reads what is needed is told the floors that pip will ask for."""
    project = tomllib.loads((README.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    floors = dict(re.findall(r"(\w+)[^>\"]*>=([\d.]+)", "\n".join(project["dependencies"])))
    floors["python"] = project["requires-python"].removeprefix(">=")
    pages = {path: " ".join(path.read_text(encoding="utf-8").split()) for path in (README, DATABASES)}
    for page in pages.values():
        for name, spelled in (("python", "Python"), ("sqlalchemy", "SQLAlchemy"), ("alembic", "Alembic")):
            assert f"{spelled} {floors[name]} or newer" in page
    assert {f"{name}=={floors[name]}.0" if name == "alembic" else f"{name}=={floors[name]}" for name in OLDEST} == {
        line for line in (README.parent / "requirements" / "oldest.txt").read_text().splitlines() if "==" in line
    }
