"""What the README and the tutorial show passes a strict type checker, as a reader's own code would have to."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT


def test_examples_are_typed(tmp_path: Path):
    """Errors, results and events have the types that one uses them with."""
    pytest.importorskip("mypy", reason="mypy checks the examples")
    for page in ("README.md", "docs/tutorial.md"):
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
        (tmp_path / f"{Path(page).stem.lower()}.py").write_text("\n".join(blocks), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={ROOT / '.mypy_cache' / 'examples'}", "."],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert (0, "Success: no issues found in 2 source files\n") == (done.returncode, done.stdout)
