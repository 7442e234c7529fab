"""
The SQL of each operation, written down for each kind of database.

The operations run on SQLite; what they send is compiled for every kind, without drivers or servers. After a
wanted change: `ABREAST_UPDATE_GOLDEN=1 pytest tests/unit/sql`, then read the difference.
"""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Engine,
    ForeignKey,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    create_engine,
    event,
    make_url,
)

from abreast import Actor, Database, Entity, WorkspaceLog
from abreast.errors import Conflict
from abreast.operations import leases, runs
from abreast.operations.leases import Renewal
from abreast.operations.runs import RunKey
from abreast.runs.steps import Entry, Steps
from abreast.sql.dialects import dialect_named
from abreast.sql.dialects.sqlite import DIALECT as SQLITE

GOLDEN = Path(__file__).parent / "golden"
UPDATE = os.environ.get("ABREAST_UPDATE_GOLDEN", "") not in ("", "0")
KINDS = {
    "sqlite": "sqlite",
    "postgresql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "oracle": "oracle+oracledb",
}
NOT_RUN = {"mysql": "-- Compiled, not run on MySQL.\n\n", "oracle": "-- Compiled, not run.\n\n"}
OPERATIONS = (
    "write_insert",
    "write_update",
    "write_delete",
    "write_unchanged",
    "write_stale",
    "write_merged",
    "write_mutation",
    "write_mutation_again",
    "write_moved",
    "open_workspace",
    "open_thread",
    "read_batch_first",
    "read_batch_again",
    "read_batch_summary",
    "confirm",
    "snapshot",
    "number",
    "changes",
    "attempts",
    "has_written",
    "erase",
    "forget_before",
    "renew_epoch",
    "run_begin_first",
    "run_begin",
    "run_begin_busy",
    "run_line_up",
    "run_in_turn_behind",
    "run_in_turn",
    "run_withdraw",
    "run_stop",
    "run_renew",
    "run_failures",
    "run_end",
    "write_fenced",
)

metadata = MetaData()
move = Table(
    "move",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("move_in_date", Date),
    Column("stage", String(20)),
    Column("changed_at", DateTime(timezone=True)),
)
item = Table(
    "checklist_item",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("move_id", ForeignKey("move.id"), nullable=False),
    Column("title", String(200)),
    Column("done", Boolean),
)
ANNA = Actor.user("u1")


class Recorder:
    """Keeps the statements that databases are sent while an operation is recorded."""

    def __init__(self):
        """Begin with nothing."""
        self.found = {}
        self.current = None

    def keep(self, _connection, statement, multiparams, params, _options):
        """Keep one statement with the names of its parameters."""
        if self.current is not None:
            given = (multiparams[0] if multiparams else params) or {}
            names = list(given)
            if isinstance(statement, Select):
                statement = statement.params(given)
            self.current.append((statement, names, len(multiparams) > 1))

    def record(self, operation, call):
        """Keep what a call sends under an operation's name."""
        self.current = self.found[operation] = []
        try:
            return call()
        finally:
            self.current = None


@pytest.fixture(scope="module")
def recorded(module_patch, tmp_path_factory):
    """Run every operation once."""
    real = SQLITE.insert_missing

    def insert_missing(table, values):
        statement = real(table, values)
        statement.insert_missing = (table, values)
        return statement

    module_patch.setattr(SQLITE, "insert_missing", insert_missing)
    url = f"sqlite:///{tmp_path_factory.mktemp('golden') / 'database.sqlite'}"
    engine = create_engine(url)
    metadata.create_all(engine)
    engine.dispose()
    recorder = Recorder()
    event.listen(Engine, "before_execute", recorder.keep)
    with Database.open(url) as database:
        database.upgrade()
        database.check()
        run_all(recorder, database)
    event.remove(Engine, "before_execute", recorder.keep)
    return recorder.found


@pytest.fixture(scope="module")
def module_patch():
    """Undo changes after the last test of the module."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def run_all(recorder, database):
    """Run the operations in an order in which each has something to do."""
    log = WorkspaceLog(
        database,
        entities=[
            Entity(move, expose=["move_in_date", "stage"], order_by=["-move_in_date"]),
            Entity(item, expose=["title", "done"], workspace="move_id.workspace_id", visible=seen_by),
        ],
    )
    run_writes(recorder, log)
    run_reads(recorder, log)
    run_runs(recorder, log, Steps(log, 30_000_000))


def seen_by(columns, _viewer):
    """Show every item with a title."""
    return columns.title.is_not(None)


def run_writes(recorder, log):
    """Run what writes product rows."""

    def block(change, **options):
        with log.write("w1", actor=ANNA, **options) as write:
            change(write)

    def insert(write):
        write.insert(move, {"id": "m1", "move_in_date": "2026-09-28", "stage": "open"})

    def patch(write):
        write.update(move, "m1", {"move_in_date": "2026-10-02"}, expected_version=2, merge="fields")

    def titled(write):
        write.update(item, 1, {"title": "Boxes and tape"}, expected_version=1)

    def stale():
        with pytest.raises(Conflict):
            block(lambda write: write.delete(move, "m1", expected_version=1))

    recorder.record("open_workspace", lambda: log.open_workspace("w1"))
    recorder.record("write_insert", lambda: block(insert))
    block(lambda write: write.insert(item, {"id": 1, "move_id": "m1", "title": "Boxes", "done": False}))
    recorder.record(
        "write_update",
        lambda: block(lambda write: write.update(move, "m1", {"stage": "booked"}, expected_version=1)),
    )
    recorder.record(
        "write_unchanged",
        lambda: block(lambda write: write.update(move, "m1", {"stage": "booked"}, expected_version=2)),
    )
    block(lambda write: write.update(move, "m1", {"stage": "done"}, expected_version=2))
    recorder.record("write_merged", lambda: block(patch))
    recorder.record("write_stale", stale)
    recorder.record("write_mutation", lambda: block(titled, mutation_id="u1"))
    recorder.record("write_mutation_again", lambda: block(titled, mutation_id="u1"))
    recorder.record("write_delete", lambda: block(lambda write: write.delete(item, 1, expected_version="any")))
    recorder.record(
        "write_moved",
        lambda: block(
            lambda write: write.update(move, "m1", {"workspace_id": "w2"}, expected_version="any", to_workspace="w2")
        ),
    )


def run_reads(recorder, log):
    """Run what threads and operators read and move."""

    def change(number):
        with log.write("w3", actor=ANNA, number="later") as write:
            for row in range(number):
                write.insert(item, {"id": 10 + row, "move_id": "m3", "title": "Tape", "done": False})

    with log.write("w3", actor=ANNA) as write:
        write.insert(move, {"id": "m3", "move_in_date": "2026-09-28", "stage": "open"})
    recorder.record("read_batch_first", lambda: log.read_batch("w3", "t1"))
    recorder.record("open_thread", lambda: log.open_thread("w3", "t2"))
    change(3)
    recorder.record("number", lambda: log.number("w3"))
    batch = recorder.record("read_batch_again", lambda: log.read_batch("w3", "t1"))
    recorder.record("read_batch_summary", lambda: log.read_batch("w3", "t2", limit=1, max_runs=1))
    recorder.record("confirm", lambda: log.confirm(batch))
    recorder.record("snapshot", lambda: log.snapshot("w3"))
    recorder.record("changes", lambda: log.changes("w3", after=1, entity=item, key=10))
    since = datetime(2026, 9, 28, tzinfo=UTC)
    recorder.record("attempts", lambda: log.attempts("w3", actor=ANNA, since=since, limit=20))
    recorder.record("has_written", lambda: log.database.read(log.steps.has_written, "w3", "t1", 3))
    recorder.record("erase", lambda: log.erase("w3", item, 10))
    recorder.record("forget_before", lambda: log.forget_before("w3", 3))
    recorder.record("renew_epoch", lambda: log.renew_epoch("w3"))


def run_runs(recorder, log, steps):
    """Run what begins and ends runs of threads."""
    database, tables = log.database, log.database.tables

    def entry(run_id):
        return Entry(RunKey("t9", run_id), "w3", None, interrupts=True)

    def renew(connection):
        leases.renew(connection, tables, [Renewal("t9", "r2", 30_000_000), Renewal("t8", "r9", 5_000_000)])
        return leases.held(connection, tables, ["t9", "t8"])

    def fenced():
        with log.write("w3", actor=ANNA, lease=run.lease) as write:
            write.update(move, "m3", {"stage": "done"}, expected_version="any")

    first = recorder.record("run_begin_first", lambda: database.run(steps.begin, entry("r1")))
    database.run(steps.end, first, "failed")
    run = recorder.record("run_begin", lambda: database.run(steps.begin, entry("r2")))
    assert recorder.record("run_begin_busy", lambda: database.run(steps.begin, entry("r3"))) is None
    place = recorder.record("run_line_up", lambda: database.run(steps.line_up, entry("r3")))
    behind = database.run(steps.line_up, entry("r4"))
    recorder.record("run_stop", lambda: database.run(steps.stop, "t9", "u1"))
    recorder.record("run_renew", lambda: database.run(renew))
    recorder.record("write_fenced", fenced)
    recorder.record("run_in_turn_behind", lambda: database.run(steps.begin_in_turn, entry("r4"), behind))
    recorder.record("run_withdraw", lambda: database.run(steps.withdraw, entry("r4")))
    run.batches[""] = batch = log.read_batch("w3", "t9")
    run.nominated[""] = batch.cursor_after
    recorder.record("run_end", lambda: database.run(steps.end, run, "succeeded"))
    assert recorder.record("run_in_turn", lambda: database.run(steps.begin_in_turn, entry("r3"), place)) is not None
    recorder.record("run_failures", lambda: database.read(runs.past_of, tables, "t9"))


def written(kind, statements):
    """Compile statements for a kind of database."""
    dialect = make_url(f"{KINDS[kind]}://").get_dialect()()
    return NOT_RUN.get(kind, "") + "\n".join(compiled(kind, dialect, *statement) for statement in statements)


def compiled(kind, dialect, statement, names, many):
    """Compile one statement; a missing row's insert is asked of the kind's own dialect."""
    if hasattr(statement, "insert_missing"):
        statement = dialect_named(kind).insert_missing(*statement.insert_missing)
    text = statement.compile(
        dialect=dialect,
        column_keys=names or None,
        for_executemany=many,
        compile_kwargs={"render_postcompile": True},
    )
    text = str(text).replace(str(SQLITE.clock()), str(dialect_named(kind).clock()))
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + ";\n"


def test_every_operation_is_recorded(recorded):
    """No operation is silent, and no file is left over."""
    assert [name for name in OPERATIONS if not recorded[name]] == []
    assert set(recorded) == set(OPERATIONS)
    expected = {f"{operation}.{kind}.sql" for operation in OPERATIONS for kind in KINDS}
    assert UPDATE or {path.name for path in GOLDEN.iterdir()} == expected


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_sql(recorded, operation, kind):
    """An operation sends what its file says."""
    path = GOLDEN / f"{operation}.{kind}.sql"
    sql = written(kind, recorded[operation])
    if UPDATE:
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(sql)
    assert sql == path.read_text()
