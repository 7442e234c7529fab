"""Folders that go with the process that made them."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path


class TemporaryFolder:
    """A folder that is removed at exit: not at that of a forked child, which has it from its parent."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="abreast-"))
        self._process = os.getpid()
        atexit.register(self.remove)

    def remove(self) -> None:
        """Remove it now, if this process made it."""
        if self._process == os.getpid():
            shutil.rmtree(self.path, ignore_errors=True)
            atexit.unregister(self.remove)
