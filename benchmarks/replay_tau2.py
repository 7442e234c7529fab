"""Replay the gold actions of τ²-bench through abreast and check every row, event and line."""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from abreast import Database, WorkspaceLog
from benchmarks.tau2 import tables
from benchmarks.tau2.checks import check, returned
from benchmarks.tau2.domains import DOMAINS, base_state, load_tasks
from benchmarks.tau2.plans import plan_task, without_collector
from benchmarks.tau2.replay import Replayer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tau2.data_model.tasks import Task

    from benchmarks.tau2.plans import Plan
    from benchmarks.tau2.replay import Outcome

SEED = 20260911
SAMPLE = 20


@dataclass(slots=True)
class Report:
    """
    What was replayed, and what was wrong with it.

    Attributes:
        seconds: Time by what it was spent on.
    """

    domain: str
    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, plan: Plan, outcome: Outcome, problems: Iterable[str]) -> None:
        """Count one task."""
        self.problems.extend(problems)
        self.counts.update({"tasks": 1} | _actions(plan) | _writes(outcome) | _lines(outcome))


def _actions(plan: Plan) -> dict[str, int]:
    sides = Counter(step.side for step in plan.steps)
    return {
        "user actions": sides["user"],
        "assistant actions": sides["assistant"],
        "actions that changed nothing": sum(not step.changes for step in plan.steps),
        "actions refused by τ²-bench": sum(step.error is not None for step in plan.steps),
    }


def _writes(outcome: Outcome) -> dict[str, int]:
    results = [result for done in outcome.first.results.values() for result in done]
    repeated = [done for done in outcome.second.results.values() if done]
    return {
        "writes": sum(bool(done) for done in outcome.first.results.values()),
        "rows written": len(results),
        "rows changed": sum(result.event_id is not None for result in results),
        "rows inserted": sum(result.operation == "insert" for result in results),
        "rows written unchanged": sum(result.event_id is None for result in results),
        "events": len(outcome.first.events),
        "writes replayed": sum(all(result.replayed for result in done) for done in repeated),
    }


def _lines(outcome: Outcome) -> dict[str, int]:
    lines = [line for batch in outcome.told for line in batch.lines]
    return {
        "lines told": len(lines),
        "lines told of fields that are again what they were": sum(map(returned, lines)),
        "lines told of hidden fields": sum(line.field in tables.HIDDEN for line in lines),
        "short batches": len(outcome.told_slowly),
    }


@contextmanager
def open_replayer(database: Database, domain: str) -> Iterator[Replayer]:
    """Make a domain's tables in a database for as long as the block lasts."""
    product = tables.define_tables(domain)
    log = WorkspaceLog(database, entities=tables.define_entities(domain, product))
    database.run(tables.create_tables, product, base_state(domain))
    try:
        yield Replayer(database, log, product, f"{domain}-{secrets.token_hex(4)}")
    finally:
        database.run(tables.drop_tables, product)


def sample(domain: str, size: int | None, seed: int = SEED) -> Sequence[Task]:
    """Give a domain's tasks, or `size` of them chosen by the seed, in the order of the file."""
    tasks = load_tasks(domain)
    if size is None or size >= len(tasks):
        return tasks
    chosen = sorted(random.Random(seed).sample(range(len(tasks)), size))
    return [tasks[index] for index in chosen]


def replay_domain(database: Database, domain: str, plans: Iterable[Plan]) -> Report:
    """Replay plans one after the other, each in a workspace of its own, and check each."""
    report = Report(domain)
    with open_replayer(database, domain) as replayer:
        for number, plan in enumerate(_timed_each(report, "τ²-bench", plans)):
            with _timed(report, "abreast"), without_collector():
                outcome = replayer.replay(plan, number)
            with _timed(report, "checks"):
                report.add(plan, outcome, check(plan, outcome))
            database.run(tables.empty_workspace, replayer.tables, outcome.workspace_id)
    return report


def _timed_each(report: Report, what: str, plans: Iterable[Plan]) -> Iterator[Plan]:
    waiting = iter(plans)
    while True:
        with _timed(report, what):
            plan = next(waiting, None)
        if plan is None:
            return
        yield plan


@contextmanager
def _timed(report: Report, what: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    report.seconds[what] = report.seconds.get(what, 0.0) + time.perf_counter() - began


def show(report: Report) -> None:
    """Print a domain's counts, times and problems."""
    print(f"\n{report.domain}")
    for name, count in report.counts.items():
        print(f"  {count:>8,}  {name}")
    for name, seconds in report.seconds.items():
        print(f"  {seconds:>8.1f}  seconds of {name}")
    for problem in report.problems:
        print(f"  WRONG  {problem}")
    print(f"  {len(report.problems):>8,}  problems")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as a script: 0 when nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay_tau2", description=__doc__)
    parser.add_argument("--all", action="store_true", help=f"every task, not {SAMPLE} of each domain")
    parser.add_argument("--domain", action="append", choices=sorted(DOMAINS), help="only this one; may be repeated")
    parser.add_argument("--database", metavar="URL", help="where to replay; a temporary SQLite file if left out")
    parser.add_argument("--seed", type=int, default=SEED, help="chooses the tasks (%(default)s)")
    options = parser.parse_args(arguments)
    size = None if options.all else SAMPLE
    problems = 0
    with Database.open(options.database) if options.database else Database.temporary() as database:
        database.upgrade()
        for domain in options.domain or DOMAINS:
            tasks = sample(domain, size, options.seed)
            report = replay_domain(database, domain, (plan_task(domain, task) for task in tasks))
            show(report)
            problems += len(report.problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
