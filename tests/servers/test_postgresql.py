"""The private PostgreSQL itself."""

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import psycopg
import pytest

from tests.servers import processes
from tests.servers.postgresql import PostgreSQL
from tests.servers.shared import Servers

pytestmark = pytest.mark.external

ROOT = Path(__file__).resolve().parents[2]


def answer(server: PostgreSQL, statement: str, database: str = "postgres") -> object:
    """Ask a server for one value."""
    with server.connect(database) as connection:
        row = connection.execute(statement).fetchone()
    return row and row[0]


def test_answers_in_utf8_and_c(private_postgresql):
    """A fresh server answers, with the encoding, order and two-phase commit that tests count on."""
    expected = ["UTF8", "C", "10", "on"]
    statements = [
        "SHOW server_encoding",
        "SELECT datcollate FROM pg_database WHERE datname = 'template1'",
        "SHOW max_prepared_transactions",
        "SHOW synchronous_commit",
    ]
    assert expected == [answer(private_postgresql, statement) for statement in statements]


def test_listens_on_loopback_and_its_own_folder_only(private_postgresql):
    """Nothing outside this machine reaches the server, and its socket is in its own folder."""
    assert answer(private_postgresql, "SHOW listen_addresses") == "127.0.0.1"
    assert answer(private_postgresql, "SHOW unix_socket_directories") == str(private_postgresql.folder)
    assert (private_postgresql.folder / f".s.PGSQL.{private_postgresql.port}").exists()


def test_runs_without_rights(private_postgresql):
    """Tests that run as root run their servers as somebody else."""
    owner = (private_postgresql.data / "postmaster.pid").stat().st_uid
    assert owner != 0


def test_kill_loses_nothing_committed(private_postgresql):
    """A killed server is gone at once; started again it has its port and all that was committed."""
    server = private_postgresql
    with server.connect() as connection:
        connection.execute("CREATE TABLE kept AS SELECT 41 AS value")
        members = processes.family(server.pid())
        server.kill()
        assert not any(processes.is_alive(pid) for pid in members)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError):
        server.connect()
    server.restart()
    assert answer(server, "SELECT value FROM kept") == 41


def test_restart_while_running(private_postgresql):
    """A running server is stopped and comes back as another process with the same data."""
    server = private_postgresql
    first = server.pid()
    with server.connect() as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS value")
    server.restart()
    assert server.pid() not in (None, first)
    assert answer(server, "SELECT value FROM kept") == 42


def test_stop_leaves_nothing(private_postgresql):
    """A stopped server leaves no process, and stopping it again does no harm."""
    members = processes.family(private_postgresql.pid())
    private_postgresql.stop()
    private_postgresql.stop()
    assert not any(processes.is_alive(pid) for pid in members)
    assert not private_postgresql.is_running()


def test_kill_gives_back_shared_memory(private_postgresql):
    """A killed server holds no memory of the kernel, which nobody would ever give back."""
    segment = (private_postgresql.data / "postmaster.pid").read_text().split("\n")[6].split()[1]
    private_postgresql.kill()
    left = subprocess.run(["ipcs", "-m"], check=True, capture_output=True, text=True).stdout
    assert segment not in left.split()


def test_databases_are_copies_of_their_template(private_postgresql):
    """Databases made from a template hold what it held, each for itself."""
    server = private_postgresql
    template = server.create_database()
    with server.connect(template) as connection:
        connection.execute("CREATE TABLE item AS SELECT 1 AS value")
    server.close_database(template)
    first, second = server.create_database(template), server.create_database(template)
    with server.connect(first) as connection:
        connection.execute("DELETE FROM item")
    assert [0, 1] == [answer(server, "SELECT count(*) FROM item", name) for name in (first, second)]


def test_drop_cuts_off_whoever_is_left(private_postgresql):
    """A connection that a test forgot does not keep its database."""
    name = private_postgresql.create_database()
    with private_postgresql.connect(name):
        private_postgresql.drop_database(name)
        assert answer(private_postgresql, f"SELECT count(*) FROM pg_database WHERE datname = '{name}'") == 0


def test_many_ask_and_one_starts(servers: Servers):
    """The shared server is started once, however many ask for it at the same time."""
    found: list[PostgreSQL] = []
    askers = [threading.Thread(target=lambda: found.append(servers.shared("postgresql-embedded"))) for _ in range(4)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert len(found) == 4
    assert len({server.pid() for server in found}) == 1


RUN_THAT_DIES = """
import os, signal, sys
from tests.servers.run_folders import RunFolder
from tests.servers.shared import Servers
server = Servers(RunFolder.open().path).private(sys.argv[1])
print(server.pid(), server.folder.parent, flush=True)
if sys.argv[2] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def short_folder():
    """Give a folder that the server's account can enter; pytest's own are closed to it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def started_by_a_run(how: str, temporary: Path) -> tuple[int, Path]:
    """Start a server in a process that ends without stopping it."""
    done = subprocess.run(
        [sys.executable, "-c", RUN_THAT_DIES, "postgresql-embedded", how],
        check=False,
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
    )
    pid, folder = done.stdout.split()
    return int(pid), Path(folder)


def test_run_that_ends_stops_its_servers(short_folder):
    """A run that forgets its servers stops them when its process ends."""
    pid, folder = started_by_a_run("ended", short_folder)
    assert not processes.is_alive(pid)
    assert not folder.exists()


def test_next_run_reaps_a_killed_one(short_folder):
    """What a killed run left behind is stopped and removed when the next run starts."""
    pid, folder = started_by_a_run("killed", short_folder)
    assert processes.is_alive(pid)
    assert folder.exists()
    started_by_a_run("ended", short_folder)
    assert not processes.is_alive(pid)
    assert not folder.exists()
