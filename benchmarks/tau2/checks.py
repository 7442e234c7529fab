"""What must hold after a replay: pure comparisons of a plan with its outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks.tau2.plans import Change, diff
from benchmarks.tau2.replay import ACTORS, mutation_id, source_thread_id
from benchmarks.tau2.tables import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from abreast.model.batch import Batch
    from abreast.model.event import Event
    from abreast.model.fold import Line
    from benchmarks.tau2.domains import Row, Side, State
    from benchmarks.tau2.plans import Plan
    from benchmarks.tau2.replay import Outcome, Pass

Differences = dict[tuple[str, str, str | None], Any]
"""Values before and after by entity, key and field; a whole row's values where the field is None."""

UNTOLD = ("<hidden>", "<hidden>")
"""Stands for the values of a hidden field."""


def check(plan: Plan, outcome: Outcome) -> list[str]:
    """List everything that is wrong with a replay."""
    found = (
        *check_rows(plan, outcome.first.rows),
        *check_events(plan, outcome),
        *check_told(plan, outcome.told),
        *check_told_slowly(plan, outcome.told_slowly),
        *check_second_pass(outcome),
    )
    return [f"{plan.domain} {plan.task_id}: {problem}" for problem in found]


def check_rows(plan: Plan, rows: State) -> Iterator[str]:
    """(a) Compare the product rows with those of τ²-bench's own run."""
    if plan.errors != tuple(step.index for step in plan.steps if step.error is not None):
        yield "(a) the two runs in τ²-bench refused different actions"
    for change in diff(plan.final_rows, rows):
        yield f"(a) {_name(change)} differs from τ²-bench's in {', '.join(change.fields)}"


def check_events(plan: Plan, outcome: Outcome) -> Iterator[str]:
    """(b) Compare the log with one event per changed row of each action, in the order of the actions."""
    expected = list(_expected_events(plan, outcome.workspace_id))
    actual = outcome.first.events
    if len(expected) != len(actual):
        yield f"(b) {len(expected)} rows were changed, {len(actual)} events recorded"
    if [event.revision for event in actual] != list(range(1, len(actual) + 1)):
        yield "(b) the revisions have a gap"
    for wanted, event in zip(expected, actual, strict=False):
        if wanted != _comparable(event):
            yield f"(b) r{event.revision} of {event.entity_type} {event.entity_id!r} is not what was changed"
    yield from _check_versions(actual)
    yield from _check_results(plan, outcome.first)


def check_told(plan: Plan, batches: Sequence[Batch]) -> Iterator[str]:
    """(c) Compare what an idle conversation is told with the difference between the first and last rows."""
    yield from _check_batches(plan, batches)
    if len(batches) != 1:
        yield f"(c) {len(batches)} batches for one task; the lines cannot be compared as they are"
        return
    lines = batches[0].lines
    expected, told = _expected_differences(plan), dict(_told(lines))
    if len(told) + sum(map(returned, lines)) != len(lines):
        yield "(c) two lines speak of the same field"
    for entity, key, field in expected.keys() | told.keys():
        if expected.get((entity, key, field)) != told.get((entity, key, field)):
            yield f"(c) {entity} {key!r} {field or ''} is not told as it differs"
    for line in lines:
        yield from _check_line(plan, line)


def check_told_slowly(plan: Plan, batches: Sequence[Batch]) -> Iterator[str]:
    """(c) Let many short batches lead from the first rows to the last."""
    yield from _check_batches(plan, batches)
    rows = {entity: {key: _exposed(row) for key, row in found.items()} for entity, found in plan.start_rows.items()}
    for batch in batches:
        for line in batch.lines:
            yield from _follow(rows[line.entity_type], line)
    final = {entity: {key: _exposed(row) for key, row in found.items()} for entity, found in plan.final_rows.items()}
    for change in diff(final, rows):
        yield f"(c) {_name(change)} is not where the short batches lead"


def check_second_pass(outcome: Outcome) -> Iterator[str]:
    """(d) Let the repeated actions have changed nothing and returned what they returned first."""
    first, second = outcome.first, outcome.second
    for change in diff(first.rows, second.rows):
        yield f"(d) {_name(change)} was changed by a repeated action"
    if first.events != second.events:
        yield "(d) a repeated action was recorded"
    for index, results in first.results.items():
        if second.results[index] != tuple(replace(result, replayed=True) for result in results):
            yield f"(d) action {index} returned another result when it was repeated"
    if any(batch.lines or batch.event_count for batch in outcome.told_again):
        yield "(d) the idle conversation was told of repeated actions"


def returned(line: Line) -> bool:
    """Say whether a line tells of a field that is again what it was."""
    return line.kind == "update" and line.has_before and line.before == line.after


def _expected_events(plan: Plan, workspace_id: str) -> Iterator[Row]:
    for step in plan.steps:
        for change in step.changes:
            yield {
                "entity": (change.entity, change.key),
                "operation": change.operation,
                "fields": change.fields,
                "before": _values(change.before, change),
                "after": _values(change.after, change),
                "actor": ACTORS[step.side],
                "mutation_id": mutation_id(workspace_id, step),
                "source_thread_id": source_thread_id(workspace_id, step),
            }


def _comparable(event: Event) -> Row:
    return {
        "entity": (event.entity_type, event.entity_id),
        "operation": event.operation,
        # An inserted row's workspace is a field that was set, but none that τ²-bench knows.
        "fields": tuple(name for name in event.changed_fields if name != "workspace_id"),
        "before": event.before,
        "after": event.after,
        "actor": event.actor,
        "mutation_id": event.mutation_id,
        "source_thread_id": event.source_thread_id,
    }


def _values(row: Row | None, change: Change) -> Row | None:
    if row is None:
        return None
    return {name: value for name, value in _exposed(row).items() if name in change.fields}


def _check_versions(events: Sequence[Event]) -> Iterator[str]:
    versions: dict[tuple[str, str], int] = {}
    for event in events:
        before = versions.get((event.entity_type, event.entity_id), 0 if event.operation == "insert" else 1)
        if event.version != before + 1:
            yield f"(b) {event.entity_type} {event.entity_id!r} goes from version {before} to {event.version}"
        versions[event.entity_type, event.entity_id] = event.version


def _check_results(plan: Plan, done: Pass) -> Iterator[str]:
    recorded = {event.event_id for event in done.events}
    for step in plan.steps:
        results = done.results[step.index]
        events = [result.event_id for result in results if result.event_id is not None]
        if len(results) != len(step.changes) + len(step.unchanged) or len(events) != len(step.changes):
            yield f"(b) action {step.index} returned {len(events)} events for {len(step.changes)} changes"
        if not recorded.issuperset(events) or any(result.replayed for result in results):
            yield f"(b) action {step.index} returned an event that is not in the log"


def _check_batches(plan: Plan, batches: Sequence[Batch]) -> Iterator[str]:
    events = sum(len(step.changes) for step in plan.steps)
    if sum(batch.event_count for batch in batches) != events or batches[-1].remaining:
        yield f"(c) other than {events} events were delivered"
    if any(batch.reset_required or batch.summary for batch in batches):
        yield "(c) changes were summarised or no longer listed"
    final = plan.final_rows
    for (entity, key), row in batches[-1].current.items():
        if (None if row is None else row.values) != _exposed_or_none(final[entity].get(key)):
            yield f"(c) {entity} {key!r} is not given as it is now"


def _expected_differences(plan: Plan) -> Differences:
    """Give what differs between the first and last rows, and the hidden fields that were ever written."""
    expected: Differences = {}
    for change in diff(plan.start_rows, plan.final_rows):
        expected.update(_differences(change))
    for step in plan.steps:
        for change in step.changes:
            if (change.entity, change.key, None) not in expected:
                hidden = HIDDEN.intersection(change.fields)
                expected.update({(change.entity, change.key, name): UNTOLD for name in hidden})
    return expected


def _differences(change: Change) -> Differences:
    before, after = change.before, change.after
    if before is None or after is None:
        return {(change.entity, change.key, None): (change.operation, _exposed(after or before or {}))}
    shown = [name for name in change.fields if name not in HIDDEN]
    return {(change.entity, change.key, name): (before[name], after[name]) for name in shown}


def _told(lines: Sequence[Line]) -> Iterator[tuple[tuple[str, str, str | None], Any]]:
    for line in lines:
        place = (line.entity_type, line.entity_id, line.field)
        if line.kind != "update":
            yield place, (line.kind, line.values)
        elif not line.has_before and not line.has_after:
            yield place, UNTOLD
        elif not returned(line):
            yield place, (line.before, line.after)


def _check_line(plan: Plan, line: Line) -> Iterator[str]:
    """Compare who took part and how often with the actions that wrote the row or field."""
    steps = [step for step in plan.steps if any(_speaks_of(line, change) for change in step.changes)]
    sides: list[Side] = list(dict.fromkeys(step.side for step in steps))
    if line.count != len(steps) or line.actors != tuple(ACTORS[side] for side in sides):
        yield f"(c) {line.entity_type} {line.entity_id!r} {line.field or ''} is told of others than wrote it"
    if returned(line) and line.count < 2:
        yield f"(c) {line.entity_type} {line.entity_id!r} {line.field} is told although nobody changed it"


def _speaks_of(line: Line, change: Change) -> bool:
    same_row = (line.entity_type, line.entity_id) == (change.entity, change.key)
    return same_row and (line.field is None or line.field in change.fields)


def _follow(rows: dict[str, Row], line: Line) -> Iterator[str]:
    """Apply a line to the rows, which must be as the line says they were."""
    row = rows.get(line.entity_id)
    if line.kind == "insert":
        if row is not None:
            yield f"(c) {line.entity_type} {line.entity_id!r} is told to be new but was there"
        rows[line.entity_id] = dict(line.values)
    elif line.kind == "delete":
        rows.pop(line.entity_id, None)
    elif row is None or line.field is None:
        yield f"(c) {line.entity_type} {line.entity_id!r} is told to be changed but was not there"
    elif line.has_before:
        if row[line.field] != line.before:
            yield f"(c) {line.entity_type} {line.entity_id!r} {line.field} was not what a short batch says"
        row[line.field] = line.after


def _exposed(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in HIDDEN}


def _exposed_or_none(row: Row | None) -> Row | None:
    return None if row is None else _exposed(row)


def _name(change: Change) -> str:
    return f"{change.entity} {change.key!r}"
