"""The `abreast` command as a person runs it: abreast's tables and the logs in them."""

import json
import os
import sqlite3
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from sqlalchemy import BigInteger, Column, MetaData, String, Table, create_engine, make_url

from abreast import Actor, Database, Entity, WorkspaceLog, __version__
from abreast.cli.options import sync_url
from abreast.errors import StaleWrite

COMMAND = Path(sys.executable).with_name("abreast")
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("ABREAST_")}
AWAY = "postgresql://anna:s3cret@127.0.0.1:1/app"

metadata = MetaData()
move = Table(
    "move",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("stage", String(20)),
)


def abreast(*arguments, **environment):
    """Run the command."""
    return subprocess.run(
        [COMMAND, *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=CLEAN | {"COLUMNS": "200", "TERM": "dumb"} | environment,
    )


def failure(done):
    """Give the one line of a failed command, which said nothing else and showed no traceback."""
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("abreast: ")
    return line


def test_tables_are_planned_made_and_checked(empty_database_url):
    """The plan names what an upgrade will do; afterwards the check passes and nothing is left to do."""
    if empty_database_url.startswith("sqlite"):
        Path(make_url(empty_database_url).database).touch()
    planned = abreast("db", "plan", "--database", empty_database_url).stdout.splitlines()
    assert planned == ["0001_workspace_log", "0002_runs", "0003_checkpoints", "0004_refusals"]
    assert "abreast db upgrade" in failure(abreast("db", "check", "--database", empty_database_url))
    made = abreast("db", "upgrade", "--database", empty_database_url)
    assert (made.returncode, made.stdout.splitlines()[:-1]) == (0, [f"done: {each}" for each in planned])
    planned = abreast("db", "plan", "--database", empty_database_url)
    assert (planned.returncode, planned.stdout) == (0, "")
    assert planned.stderr.endswith(": up to date, there is nothing to run\n")
    again = abreast("db", "upgrade", "--database", empty_database_url)
    assert (again.returncode, len(again.stdout.splitlines())) == (0, 1)
    checked = abreast("db", "check", "--database", empty_database_url)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.endswith(": up to date\n")


def test_the_database_can_come_from_the_environment(tmp_path):
    """A container is told once where its database is."""
    url = f"sqlite:///{tmp_path / 'app.db'}"
    assert abreast("db", "upgrade", ABREAST_DATABASE=url).returncode == 0
    assert abreast("db", "check", ABREAST_DATABASE=url).returncode == 0


def test_a_prefix_makes_tables_of_its_own(tmp_path):
    """The tables of another prefix are not taken for these."""
    url = f"sqlite:///{tmp_path / 'app.db'}"
    assert abreast("db", "upgrade", "--database", url, "--prefix", "log_").returncode == 0
    assert abreast("db", "check", "--database", url, "--prefix", "log_").returncode == 0
    assert "'abreast_'" in failure(abreast("db", "check", "--database", url))
    assert "URL --prefix other_`" in failure(abreast("db", "check", "--database", url, "--prefix", "other_"))
    assert abreast("db", "check", "--database", url, "--prefix", "o-").stdout == ""


@pytest.mark.parametrize("command", [("plan",), ("check",)], ids=" ".join)
def test_a_file_that_is_not_there_is_not_made(command, tmp_path):
    """A slip in the path is told; only an upgrade makes a file."""
    path = tmp_path / "slip.db"
    assert "the file is not there" in failure(abreast("db", *command, "--database", f"sqlite:///{path}"))
    assert "the file is not there" in failure(abreast("log", "renew-epoch", "w1", "--database", f"sqlite:///{path}"))
    assert [] == list(tmp_path.iterdir())


def test_the_url_of_an_async_application_is_taken(empty_database_url):
    """A command takes the URL that the application has in its settings."""
    driver = "sqlite+aiosqlite" if empty_database_url.startswith("sqlite") else "postgresql+asyncpg"
    of_application = make_url(empty_database_url).set(drivername=driver).render_as_string(hide_password=False)
    assert abreast("db", "upgrade", ABREAST_DATABASE=of_application).returncode == 0
    assert abreast("db", "check", "--database", of_application).returncode == 0
    assert abreast("db", "check", "--database", empty_database_url).returncode == 0


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("postgresql+asyncpg://u:p%40@h/d", "postgresql+psycopg://u:p%40@h/d"),
        ("postgresql+asyncpg://h/d?ssl=true", "postgresql+psycopg://h/d?sslmode=require"),
        ("postgresql+asyncpg://h/d?ssl=verify-full", "postgresql+psycopg://h/d?sslmode=verify-full"),
        (
            "postgresql+asyncpg://h/d?prepared_statement_cache_size=0&application_name=a",
            "postgresql+psycopg://h/d?application_name=a",
        ),
        ("postgresql+psycopg_async://h/d", "postgresql+psycopg://h/d"),
        ("mysql+aiomysql://h/d", "mysql+pymysql://h/d"),
        ("mariadb+aiomysql://h/d", "mariadb+pymysql://h/d"),
        ("oracle+oracledb_async://h", "oracle+oracledb://h"),
        ("postgresql+psycopg2://h/d", "postgresql+psycopg2://h/d"),
        ("sqlite:///app.db", "sqlite:///app.db"),
        (None, None),
    ],
)
def test_a_sync_driver_stands_in_for_an_async_one(given, used):
    """The rest of the URL stays, password and all; what only the async driver knows goes."""
    assert used == sync_url(given)


@pytest.mark.parametrize("command", [(COMMAND,), (sys.executable, "-m", "abreast")], ids=["command", "module"])
def test_the_version_is_told(command):
    """By the command and by the module."""
    done = subprocess.run([*command, "--version"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"abreast {__version__}\n", "")
    assert __version__ == version("abreast")


SCRIPT = ("db", "sql", "--dialect", "sqlite")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_a_full_disk_is_one_line():
    """What cannot be written is an error, not a traceback."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([COMMAND, *SCRIPT], check=False, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert 1 == len(done.stderr.splitlines())


@pytest.mark.parametrize("redirection", [">&-", "| true"])
def test_an_output_that_is_closed_is_no_traceback(redirection):
    """As where `head` has read enough."""
    done = subprocess.run(f"{COMMAND} {' '.join(SCRIPT)} {redirection}", shell=True, check=False, capture_output=True)  # noqa: S602
    assert done.stderr == b""


def test_an_output_without_unicode_is_no_traceback():
    """Korean on a terminal of ASCII is escaped, and JSON stays JSON."""
    told = abreast("demo", "story", "--language", "ko", PYTHONIOENCODING="ascii")
    assert (told.returncode, told.stderr) == (0, "")
    as_json = abreast("demo", "story", "--language", "ko", "--json", PYTHONIOENCODING="ascii")
    assert json.loads(as_json.stdout)[0]["title"]


def test_help_is_plain():
    """A flag is shown without a type."""
    assert "<bool>" not in abreast("demo", "story", "--help").stdout


@pytest.mark.parametrize("kind", ["postgresql", "sqlite", "mysql", "mariadb", "oracle"])
def test_a_script_is_written_without_connecting(kind):
    """Nothing but the kind of database has to be said."""
    done = abreast("db", "sql", "--dialect", kind, "--prefix", "log_")
    assert (done.returncode, done.stderr) == (0, "")
    assert "CREATE TABLE log_workspace_event (" in done.stdout
    assert "INSERT INTO log_migration (version_num) VALUES ('0001')" in done.stdout


def test_a_script_can_be_run_instead_of_an_upgrade(tmp_path):
    """Afterwards the check passes."""
    path = tmp_path / "app.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(abreast("db", "sql", "--dialect", "sqlite").stdout)
    connection.close()
    assert abreast("db", "check", "--database", f"sqlite:///{path}").returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("db", "check"),
        ("db", "sql"),
        ("db", "sql", "--dialect", "access"),
        ("db", "migrate"),
        ("log", "renew-epoch"),
        ("log", "attempts"),
        ("log", "attempts", "w1", "--database", "sqlite:///app.db", "--actor", "person/u1"),
        ("log", "attempts", "w1", "--database", "sqlite:///app.db", "--since", "yesterday"),
        ("tables",),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_told_apart(arguments):
    """Exit code 2, no traceback."""
    done = abreast(*arguments)
    assert done.returncode == 2
    assert "Usage: abreast" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_password_is_never_printed():
    """Not even if the database cannot be reached."""
    line = failure(abreast("db", "check", ABREAST_DATABASE=AWAY))
    assert "s3cret" not in line
    assert "127.0.0.1:1/app" in line


@pytest.mark.parametrize("url", ["postgres:anna:s3cret@h/app", "anna:s3cret@h", "postgresql://anna:s3cret@h:x/app"])
def test_what_is_no_url_is_not_repeated(url):
    """It can hold a password all the same."""
    done = abreast("db", "check", "--database", url)
    assert done.returncode == 2
    assert "sqlite:///app.db" in done.stderr
    assert "s3cret" not in done.stderr


@pytest.mark.parametrize("url", ["access://h/x", "sqlite://", "sqlite:////no/such/folder/app.db"], ids=str)
def test_a_database_that_cannot_be_used_is_one_line(url):
    """The line says what to write instead."""
    assert "; " in failure(abreast("db", "check", "--database", url))


def test_a_file_that_is_no_database_is_one_line(tmp_path):
    """What the driver says is passed on without a traceback."""
    path = tmp_path / "app.db"
    path.write_bytes(b"not a database " * 100)
    assert "not a database" in failure(abreast("db", "upgrade", "--database", f"sqlite:///{path}"))


@pytest.mark.parametrize(
    ("path", "command", "words"),
    [
        ("text.db", "upgrade", "check the path: its folder has to be there, the file has to be a SQLite database"),
        ("text.db", "check", "check the path: its folder has to be there, the file has to be a SQLite database"),
        ("none/app.db", "upgrade", "check the path: its folder has to be there"),
        ("none/app.db", "plan", "the file is not there, nor its folder; check the path"),
        ("", "plan", "this is a folder; name a file in it"),
        ("", "upgrade", "check the path: "),
    ],
)
def test_the_way_out_fits_a_file(tmp_path, path, command, words):
    """Nobody is sent to look whether a file runs, or told of writes that he did not make."""
    (tmp_path / "text.db").write_bytes(b"not a database " * 100)
    line = failure(abreast("db", command, "--database", f"sqlite:///{tmp_path / path}"))
    assert words in line
    assert "mutation_id" not in line


def test_the_way_out_fits_a_server(empty_database_url):
    """A database that the server does not have is to be made, one that does not answer looked at."""
    if not empty_database_url.startswith("sqlite"):
        url = make_url(empty_database_url).set(database="nobodys").render_as_string(hide_password=False)
        line = failure(abreast("db", "check", "--database", url))
        assert '"nobodys" does not exist); create what does not exist, or check the names in the URL' in line
        assert "mutation_id" not in line
    away = failure(abreast("db", "check", "--database", AWAY))
    assert away.endswith("; check that it runs and is reachable, then try again")


@pytest.mark.parametrize("group", ["", "db", "log", "demo"])
def test_no_line_of_help_is_cut(group):
    """The list of commands tells each one's purpose to its end, also in 80 columns."""
    told = abreast(*group.split(), "--help", COLUMNS="80").stdout
    commands = told.partition("Commands:\n")[2].splitlines()
    assert commands
    assert all(line.endswith(".") and not line.endswith("...") for line in commands)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("db", "sql", "--dialect", "postgres"), "'postgres' is unknown; use one of: postgresql, sqlite, mysql"),
        (("demo", "story", "--language", "fr"), "'fr' is unknown; use one of: en, ko"),
    ],
)
def test_an_unknown_word_is_told_with_the_known_ones(arguments, words):
    """Without the words of the library that parsed it."""
    told = abreast(*arguments).stderr
    assert words in told
    assert "Value error" not in told


def test_without_typer_the_command_says_what_to_install():
    """The command is an extra."""
    program = "import sys; sys.modules['typer'] = None; from abreast.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert "pip install 'abreast[cli]'" in failure(done)


def test_an_epoch_is_renewed(database_url):
    """After a restore every thread is told once that older changes cannot be listed."""
    engine = create_engine(database_url)
    metadata.create_all(engine)
    engine.dispose()
    with Database.open(database_url) as database:
        log = WorkspaceLog(database, entities=[Entity(move, expose=["stage"])])
        with log.write("w1", actor=Actor.user("u1")) as write:
            write.insert(move, {"id": "m1", "stage": "open"})
        log.open_thread("w1", "t1")
        assert log.read_batch("w1", "t1").reset is None
        done = abreast("log", "renew-epoch", "w1", "--database", database_url)
        assert (done.returncode, done.stderr) == (0, "")
        assert log.read_batch("w1", "t1").reset == "other_epoch"


def test_w13_attempts_are_listed(database_url):
    """W13: what an agent did and what it was refused, one a line; nobody without a mark is taken for a person."""
    engine = create_engine(database_url)
    metadata.create_all(engine)
    engine.dispose()
    with Database.open(database_url) as database:
        log = WorkspaceLog(database, entities=[Entity(move, expose=["stage"])])
        with log.write("w1", actor=Actor.system("import")) as write:
            write.insert(move, {"id": "m1", "stage": "open"})
        agent = Actor.agent("mover", on_behalf_of="p1")
        with pytest.raises(StaleWrite), log.write("w1", actor=agent, source_thread_id="t1") as write:
            write.update(move, "m1", {"stage": "booked"}, expected_version=7)
    listed = ("log", "attempts", "w1", "--database", database_url, "--since", "1h")
    lines = [line.split("Z ", 1)[1] for line in abreast(*listed).stdout.splitlines()]
    refused = "conflict agent/mover for p1: update move m1 (stage), thread t1"
    assert [refused, "allowed system/import: insert move m1 (id, stage)"] == lines
    assert refused in abreast(*listed, "--actor", "agent/mover").stdout
    nothing = abreast(*listed, "--actor", "user/import", "--limit", "5")
    assert (0, "", "w1: nothing of this is recorded\n") == (nothing.returncode, nothing.stdout, nothing.stderr)


def test_an_unknown_workspace_is_one_line(database_url):
    """A log that never began is not renewed."""
    assert "'w9'" in failure(abreast("log", "renew-epoch", "w9", "--database", database_url))
