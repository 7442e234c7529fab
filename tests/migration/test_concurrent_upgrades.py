"""Many processes may upgrade at once: they start together on every deploy."""

import subprocess
import sys

from sqlalchemy import create_engine, text

from abreast.sql import migrator

PROCESSES = 6
NEWEST = max(path.stem for path in (migrator._MIGRATIONS / "versions").glob("0*.py"))[:4]
PROGRAM = """
import sys
from abreast.database import Database
with Database.open(sys.argv[1]) as database:
    import abreast.sql.migrator, alembic.runtime.migration, alembic.operations
    print("ready", flush=True)
    sys.stdin.readline()
    database.upgrade()
    database.check()
print("done", flush=True)
"""


def test_one_migrates_and_the_others_wait(empty_database_url):
    """No process fails, and each migration is recorded once."""
    command = [sys.executable, "-c", PROGRAM, empty_database_url]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    assert [process.stdout.readline() for process in started] == ["ready\n"] * PROCESSES
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate(timeout=60) for process in started] == [("done\n", "")] * PROCESSES
    engine = create_engine(empty_database_url)
    with engine.connect() as connection:
        recorded = connection.execute(text("SELECT version_num FROM abreast_migration")).all()
    engine.dispose()
    assert recorded == [(NEWEST,)]
