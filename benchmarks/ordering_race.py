"""Let writers with slow commits race readers for as long as you like: is anything missed?"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from abreast import Database
from tests.concurrency.race import Race, run
from tests.servers.run_folders import RunFolder
from tests.servers.shared import POSTGRESQL, ServerMissing, Servers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.concurrency.race import Outcome

EVENTS = 100_000
A_ROUND = 10_000
"""Events of one race: each begins with an empty database and its own seed."""
SEED = 20260912
DATABASES = ("sqlite", *POSTGRESQL)
SHAPES = (("sync", True), ("async", False), ("sync", False), ("async", True))


@contextmanager
def new_databases(kind: str) -> Iterator[Iterator[str]]:
    """Give the URLs of new databases of a kind, as many as are asked for."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory(prefix="abreast-race-") as folder:
            yield (f"sqlite:///{Path(folder) / f'{number}.sqlite'}" for number in itertools.count())
        return
    run_folder = RunFolder.open()
    try:
        server = Servers(run_folder.path).private(kind)
        yield (server.url(server.create_database()) for _ in itertools.count())
    finally:
        run_folder.close()


def race_on(kind: str, options: argparse.Namespace) -> int:
    """Race on one kind of database until enough is committed; counts the races in which something was wrong."""
    wrong = committed = missed = 0
    began = time.perf_counter()
    with new_databases(kind) as urls:
        for number in itertools.count():
            outcome = one_race(urls, options, number)
            committed += outcome.changes
            missed += outcome.history.missed if outcome.history else 0
            wrong += show(outcome)
            if committed >= options.events:
                break
    seconds = time.perf_counter() - began
    print(f"  {kind}: {committed:,} events, {missed:,} missed, {wrong} races with problems, {seconds:.0f} s")
    return wrong


def one_race(urls: Iterator[str], options: argparse.Namespace, number: int) -> Outcome:
    """Run the `number`-th race, of the next shape; before it the same writers without abreast, if wanted."""
    mode, contended = SHAPES[number % len(SHAPES)]
    race = Race(
        url=upgraded(urls),
        changes=min(A_ROUND, options.events) // options.writers,
        mode=mode,
        contended=contended,
        writers=options.writers,
        readers=options.readers,
        seed=options.seed + number,
        spread=options.processes,
    )
    if options.control:
        without = run(replace(race, url=upgraded(urls), mode="sync", with_abreast=False))
        print(f"  without abreast: {without}")
    return run(race)


def upgraded(urls: Iterator[str]) -> str:
    """Give the next database, with abreast's tables."""
    url = next(urls)
    with Database.open(url) as database:
        database.upgrade()
    return url


def show(outcome: Outcome) -> int:
    """Print one race; 1 if something was wrong, else 0."""
    print(f"  {outcome}", flush=True)
    found = outcome.problems
    found += [f"{outcome.deadlocks} deadlocks"] if outcome.deadlocks else []
    for problem in found:
        print(f"  WRONG  {problem}")
    return 1 if found else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as a script: 0 when nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordering_race", description=__doc__)
    parser.add_argument("--database", action="append", choices=DATABASES, help="only this one; may be repeated")
    parser.add_argument("--events", type=int, default=EVENTS, help="to commit on each database (%(default)s)")
    parser.add_argument("--writers", type=int, default=8, help="%(default)s")
    parser.add_argument("--readers", type=int, default=8, help="%(default)s")
    parser.add_argument("--processes", type=int, default=2, help="of writers, and as many of readers (%(default)s)")
    parser.add_argument("--control", action="store_true", help="run the same writers without abreast, too")
    parser.add_argument("--seed", type=int, default=SEED, help="%(default)s")
    options = parser.parse_args(arguments)
    wrong = 0
    for kind in options.database or DATABASES:
        print(f"{kind}: {options.writers} writers, {options.readers} readers")
        try:
            wrong += race_on(kind, options)
        except ServerMissing as missing:
            print(f"  left out: {missing}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
