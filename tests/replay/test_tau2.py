"""The gold actions of τ²-bench, replayed through abreast and compared with τ²-bench's own tools."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from abreast import Database
from benchmarks.replay_tau2 import SAMPLE, open_replayer, replay_domain, sample
from benchmarks.tau2.checks import check
from benchmarks.tau2.domains import DOMAINS
from benchmarks.tau2.plans import Plan, plan_task
from benchmarks.tau2.replay import Outcome, Replayer

DAMAGED = "telecom"

# What the sample of a domain must have seen at least once.
SEEN = {
    "retail": [
        "actions refused by τ²-bench",
        "rows written unchanged",
        "lines told of fields that are again what they were",
    ],
    "airline": ["rows inserted", "rows written unchanged", "lines told of hidden fields"],
    "telecom": ["user actions", "assistant actions"],
}

# One PostgreSQL is enough: what differs between its versions is no matter of a replay.
BACKENDS = ["sqlite", pytest.param("postgresql-embedded", marks=pytest.mark.external)]


@functools.cache
def plans(domain: str) -> tuple[Plan, ...]:
    """Run a domain's sample of tasks in τ²-bench, once for all databases."""
    return tuple(plan_task(domain, task) for task in sample(domain, SAMPLE))


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """Give a database with abreast's tables."""
    with Database.open(database_url) as database:
        yield database


@pytest.fixture(scope="module")
def replayer() -> Iterator[Replayer]:
    """Give what replays single tasks on SQLite."""
    with Database.temporary() as database:
        database.upgrade()
        with open_replayer(database, DAMAGED) as replayer:
            yield replayer


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Give a task in which both sides write."""
    return next(
        plan for plan in plans(DAMAGED) if {step.side for step in plan.steps if step.changes} == {"user", "assistant"}
    )


@pytest.fixture(scope="module")
def outcome(replayer: Replayer, plan: Plan) -> Outcome:
    """Replay it once."""
    return replayer.replay(plan, 0)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
@pytest.mark.parametrize("domain", DOMAINS)
def test_replay(domain: str, database: Database):
    """Rows, events and lines are what τ²-bench's tools make of a task, also when all is repeated."""
    report = replay_domain(database, domain, plans(domain))
    assert [] == report.problems
    counts = report.counts
    assert counts["tasks"] == SAMPLE
    assert counts["events"] == counts["rows changed"] > SAMPLE
    assert counts["writes replayed"] == counts["writes"] > SAMPLE
    assert [] == [name for name in SEEN[domain] if not counts[name]]


def test_plans_do_not_depend_on_earlier_ones():
    """τ²-bench gives the same writes whatever ran before in this process."""
    first, *_, last = sample(DAMAGED, SAMPLE)
    assert [plans(DAMAGED)[-1], plans(DAMAGED)[0]] == [plan_task(DAMAGED, task) for task in (last, first)]


def letters(problems: list[str]) -> set[str]:
    """Give which of the promises a, b, c and d were found broken."""
    return {problem.partition("(")[2][0] for problem in problems}


def test_nothing_is_wrong(plan: Plan, outcome: Outcome):
    """The replay that the tests below damage is sound."""
    assert [] == check(plan, outcome)


def test_a_skipped_write_is_found(replayer: Replayer, plan: Plan):
    """A write that is left out is missing in the rows, the log and what is told."""
    index = max(step.index for step in plan.steps if step.changes)
    steps = tuple(replace(step, changes=()) if step.index == index else step for step in plan.steps)
    outcome = replayer.replay(replace(plan, steps=steps), 1)
    assert {"a", "b", "c"} == letters(check(plan, outcome))


def rows_changed_past_the_log(outcome: Outcome) -> Outcome:
    """Change a row that no action changes."""
    rows = {entity: dict(found) for entity, found in outcome.first.rows.items()}
    key, row = next(iter(rows["plan"].items()))
    rows["plan"][key] = {**row, "name": "another"}
    return replace(outcome, first=replace(outcome.first, rows=rows), second=replace(outcome.second, rows=rows))


def event_lost(outcome: Outcome) -> Outcome:
    """Leave out the last event."""
    events = outcome.first.events[:-1]
    return replace(outcome, first=replace(outcome.first, events=events), second=replace(outcome.second, events=events))


def event_of_somebody_else(outcome: Outcome) -> Outcome:
    """Give the first event another source."""
    first, *others = outcome.first.events
    events = (replace(first, source_thread_id="elsewhere"), *others)
    return replace(outcome, first=replace(outcome.first, events=events), second=replace(outcome.second, events=events))


def line_lost(outcome: Outcome) -> Outcome:
    """Leave out a line."""
    batch = outcome.told[0]
    return replace(outcome, told=(replace(batch, lines=batch.lines[1:]),))


def line_with_another_value(outcome: Outcome) -> Outcome:
    """Tell another old value."""
    batch = outcome.told[0]
    first, *others = batch.lines
    return replace(outcome, told=(replace(batch, lines=(replace(first, before="another"), *others)),))


def line_counted_wrong(outcome: Outcome) -> Outcome:
    """Tell one event more than there was."""
    batch = outcome.told[0]
    first, *others = batch.lines
    return replace(outcome, told=(replace(batch, lines=(replace(first, count=first.count + 1), *others)),))


def short_batch_lost(outcome: Outcome) -> Outcome:
    """Leave out a short batch."""
    return replace(outcome, told_slowly=outcome.told_slowly[1:])


def repeated_write_took_effect(outcome: Outcome) -> Outcome:
    """Let the second pass have written again."""
    return replace(outcome, second=replace(outcome.second, results=outcome.first.results))


def repeated_write_told(outcome: Outcome) -> Outcome:
    """Let the idle conversation be told everything again."""
    return replace(outcome, told_again=outcome.told)


@pytest.mark.parametrize(
    ("damage", "broken"),
    [
        (rows_changed_past_the_log, {"a"}),
        (event_lost, {"b"}),
        (event_of_somebody_else, {"b"}),
        (line_lost, {"c"}),
        (line_with_another_value, {"c"}),
        (line_counted_wrong, {"c"}),
        (short_batch_lost, {"c"}),
        (repeated_write_took_effect, {"d"}),
        (repeated_write_told, {"d"}),
    ],
)
def test_damage_is_found(damage: Callable[[Outcome], Outcome], broken: set[str], plan: Plan, outcome: Outcome):
    """Each promise is found broken where it is broken, and no other."""
    assert broken == letters(check(plan, damage(outcome)))
