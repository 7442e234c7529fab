"""Work on whole threads: delete, prune, copy; each thread in a transaction of its own."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from abreast.errors import InvalidInput
from abreast.langgraph.arguments import check_choice, check_kind, check_list, check_whole
from abreast.langgraph.saver.acts import read, run
from abreast.langgraph.saver.publishing import COUNTERS
from abreast.operations import copies, removal
from abreast.sql.values import check_id

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Sequence

    from abreast.database import Database
    from abreast.langgraph.saver.acts import Act
    from abreast.langgraph.saver.codec import Codec
    from abreast.operations.manifests import Body


def delete_thread(database: Database, thread_id: str) -> Generator[Act, Any, None]:
    """Remove everything that is stored of a thread."""
    yield run(database, removal.delete_thread, database.tables, check_id("thread_id", str(thread_id)))


def prune(
    database: Database,
    codec: Codec,
    thread_ids: Sequence[str],
    strategy: str,
    keep_last: int,
    older_than: timedelta | None,
) -> Generator[Act, Any, None]:
    """Remove old checkpoints of threads, or everything."""
    check_list("thread_ids", thread_ids, object, "ids", 'pass ["t1", …]')
    check_choice("strategy", strategy, ("keep_latest", "delete"))
    check_whole("keep_last", keep_last)
    if older_than is not None:
        check_kind(
            "older_than", older_than, timedelta, "timedelta", "pass the age from which on checkpoints are removed"
        )
        if older_than < timedelta(0):
            raise InvalidInput("older_than", f"is {older_than}, below 0", "pass an age, as timedelta(days=30)")
    for thread_id in thread_ids:
        if strategy == "delete":
            yield from delete_thread(database, thread_id)
            continue
        micros = None if older_than is None else older_than // timedelta(microseconds=1)
        step = partial(removal.prune, keep_last=keep_last, micros=micros, changes=partial(changes_in, codec))
        yield run(database, step, database.tables, check_id("thread_id", str(thread_id)))


def delete_for_runs(database: Database, codec: Codec, run_ids: Sequence[str]) -> Generator[Act, Any, None]:
    """Remove what runs have stored."""
    check_list("run_ids", run_ids, object, "ids", "pass the ids of runs")
    wanted = [check_id("run_id", str(run_id)) for run_id in run_ids]
    threads: list[str] = yield read(database, removal.threads_of_runs, database.tables, wanted)
    for thread_id in threads:
        changes = partial(changes_in, codec)
        yield run(database, removal.delete_for_runs, database.tables, thread_id, frozenset(wanted), changes)


def copy_thread(database: Database, source: str, target: str) -> Generator[Act, Any, None]:
    """Copy a thread's checkpoints."""
    ids = check_id("source_thread_id", str(source)), check_id("target_thread_id", str(target))
    if ids[0] == ids[1]:
        raise InvalidInput("target_thread_id", "is the source", "name another thread")
    yield run(database, copies.copy_thread, database.tables, *ids)


def changes_in(codec: Codec, body: Body) -> Collection[str]:
    """Give the channels that a checkpoint holds as changes: LangGraph counts them in its metadata."""
    return set(codec.loads(body.metadata).get(COUNTERS) or {})
