"""The folder that holds one test run's servers, and what killed runs have left."""

import atexit
import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.servers.postgresql import DESCRIPTION, PostgreSQL
from tests.servers.processes import CommandFailed


def root() -> Path:
    """Give the folder of this user that holds the folders of all runs."""
    folder = Path(tempfile.gettempdir()).resolve() / f"abreast-test-servers-{os.getuid()}"
    folder.mkdir(mode=0o755, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to somebody else; set TMPDIR to another folder")
    return folder


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time do something; the kernel lets go when it dies."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of a run and the open file whose lock says that the run is alive."""

    path: Path
    owner: IO[str]

    @classmethod
    def open(cls) -> "RunFolder":
        """Make the folder of this run, after clearing those whose run is dead."""
        with locked(root() / "lock"):
            for left in root().glob("run-*"):
                clear_if_dead(left)
            path = Path(tempfile.mkdtemp(prefix="run-", dir=root()))
            path.chmod(0o755)
            owner = (path / "owner").open("w")
            fcntl.flock(owner, fcntl.LOCK_EX)
        run = cls(path, owner)
        atexit.register(run.close)
        return run

    def close(self) -> None:
        """Stop all servers of the run and remove its folder; harmless when done before."""
        if not self.owner.closed:
            with locked(root() / "lock"):
                clear(self.path)
                self.owner.close()


def clear_if_dead(path: Path) -> None:
    """Clear the folder of a run that nobody holds any more."""
    with (path / "owner").open("a") as owner:
        try:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        clear(path)


def clear(path: Path) -> None:
    """Stop the servers in a run's folder and remove it."""
    for description in path.glob(f"*/{DESCRIPTION}"):
        # A run killed while it wrote must not keep all later ones from starting.
        with contextlib.suppress(OSError, ValueError, CommandFailed):
            PostgreSQL.load(description.parent).stop()
    shutil.rmtree(path, ignore_errors=True)
