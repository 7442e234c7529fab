"""What a task's gold actions write, learned by running them in τ²-bench, and what they must lead to."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.tau2.domains import (
    DOMAINS,
    SINGLETON_ID,
    Row,
    Side,
    State,
    base_state,
    read_state,
    start_environment,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau2.data_model.tasks import Action, Task
    from tau2.environment.environment import Environment

RowId = tuple[str, str]
"""Entity and key of a row."""


@dataclass(frozen=True, slots=True)
class Change:
    """
    How one row differs between two states.

    Attributes:
        before: None where the row was inserted.
        after: None where the row was deleted.
    """

    entity: str
    key: str
    before: Row | None
    after: Row | None

    @property
    def operation(self) -> str:
        """Name what happened to the row."""
        if self.before is None:
            return "insert"
        return "delete" if self.after is None else "update"

    @property
    def fields(self) -> tuple[str, ...]:
        """Name the fields that differ, sorted; all of them for an insert or delete."""
        before, after = self.before, self.after
        if before is None or after is None:
            return tuple(sorted(before or after or {}))
        return tuple(sorted(name for name in after if before[name] != after[name]))


@dataclass(frozen=True, slots=True)
class Step:
    """
    One gold action and what it did.

    Attributes:
        error: τ²-bench's message where its tool refused the action.
        changes: The rows the action changed.
        unchanged: Rows of an action that changed nothing: those its arguments name, or the actor's own phone.
    """

    index: int
    tool: str
    side: Side
    error: str | None
    changes: tuple[Change, ...]
    unchanged: tuple[tuple[RowId, Row], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """
    A task to replay.

    Attributes:
        start: How the task's first rows differ from those the domain ships with.
        steps: The gold actions in order.
        final: How the last rows differ from those the domain ships with, of a run of their own.
        errors: Indexes of the actions that run refused.
    """

    domain: str
    task_id: str
    start: tuple[Change, ...]
    steps: tuple[Step, ...]
    final: tuple[Change, ...]
    errors: tuple[int, ...]

    @property
    def start_rows(self) -> State:
        """Give the rows the task begins with."""
        return apply(base_state(self.domain), self.start)

    @property
    def final_rows(self) -> State:
        """Give the rows the task must end with."""
        return apply(base_state(self.domain), self.final)


def plan_task(domain: str, task: Task) -> Plan:
    """Run a task's gold actions twice in τ²-bench: once to see each action's writes, once for the result."""
    with without_collector():
        base = base_state(domain)
        environment = start_environment(domain, task)
        start = read_state(domain, environment)
        steps = tuple(_observe(domain, environment, _actions(task), start))
        final, errors = _run_through(domain, task)
        return Plan(domain, task.id, diff(base, start), steps, diff(base, final), errors)


def diff(before: State, after: State) -> tuple[Change, ...]:
    """List the rows that differ between two states of one domain."""
    return tuple(
        Change(entity, key, before[entity].get(key), after[entity].get(key))
        for entity in before
        for key in before[entity] | after[entity]
        if before[entity].get(key) != after[entity].get(key)
    )


def apply(state: State, changes: tuple[Change, ...]) -> State:
    """Give the state that `changes` make of another one, which stays as it is."""
    changed = {entity: dict(rows) for entity, rows in state.items()}
    for change in changes:
        if change.after is None:
            del changed[change.entity][change.key]
        else:
            changed[change.entity][change.key] = change.after
    return changed


def _actions(task: Task) -> list[Action]:
    criteria = task.evaluation_criteria
    return (criteria.actions or []) if criteria is not None else []


def _observe(domain: str, environment: Environment, actions: list[Action], state: State) -> Iterator[Step]:
    for index, action in enumerate(actions):
        error = _call(environment, action)
        after = read_state(domain, environment)
        changes = diff(state, after)
        unchanged = () if changes else tuple(_named_rows(domain, action, after))
        yield Step(index, action.name, action.requestor, error, changes, unchanged)
        state = after


def _call(environment: Environment, action: Action) -> str | None:
    try:
        environment.make_tool_call(action.name, requestor=action.requestor, **action.arguments)
        environment.sync_tools()
    except Exception as error:  # noqa: BLE001 - the tools raise what they like, and τ²-bench catches it so
        return str(error)
    return None


def _named_rows(domain: str, action: Action, state: State) -> Iterator[tuple[RowId, Row]]:
    named = {value for value in action.arguments.values() if isinstance(value, str)}
    for collection in DOMAINS[domain]:
        keys = {SINGLETON_ID} if collection.side == action.requestor == "user" else named
        for key in sorted(keys & state[collection.entity].keys()):
            yield (collection.entity, key), state[collection.entity][key]


def _run_through(domain: str, task: Task) -> tuple[State, tuple[int, ...]]:
    """Run the gold actions as τ²-bench's own simulation does, in another environment."""
    from tau2.data_model.message import ToolCall  # noqa: PLC0415 - τ²-bench is imported only where it runs

    environment = start_environment(domain, task)
    errors = []
    for index, action in enumerate(_actions(task)):
        call = ToolCall(id=str(index), name=action.name, arguments=action.arguments, requestor=action.requestor)
        if environment.get_response(call).error:
            errors.append(index)
    return read_state(domain, environment), tuple(errors)


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep the cycle collector from walking the hundreds of thousands of values a database is made of."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
