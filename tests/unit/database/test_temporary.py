"""A temporary database goes with the process that made it, and with no other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FORKED = """
import os, sys
from abreast import Database
database = Database.temporary()
database.upgrade()
if os.fork() == 0:
    {child}
os.wait()
database.check()
print(database.name.partition(":///")[2])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("child", ["sys.exit()", "database.check(); database.close(); sys.exit()"])
def test_forked_child_leaves_it(child):
    """The child's normal exit, or close, leaves the parent's file; the parent's exit removes it."""
    command = [sys.executable, "-W", "error", "-c", FORKED.format(child=child)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert "Error" not in ended.stderr
    assert ended.stdout.strip().endswith("abreast.db")
    assert not Path(ended.stdout.strip()).parent.exists()
