"""Perform a plan's writes through abreast, twice, and gather what abreast says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from abreast import Actor
from abreast.model.batch import LIMIT, MAX_RUNS
from benchmarks.tau2.tables import Tables, fill_workspace, read_rows

if TYPE_CHECKING:
    from sqlalchemy import Table

    from abreast import Database, WorkspaceLog
    from abreast.model.batch import Batch
    from abreast.model.event import Event
    from abreast.model.write import WriteResult
    from abreast.workspace_log import Write
    from benchmarks.tau2.domains import Row, Side, State
    from benchmarks.tau2.plans import Change, Plan, RowId, Step

ACTING, IDLE, SLOW = "acting", "idle", "slow"
"""The conversation whose tools write, one that sleeps meanwhile, and one that reads a few lines at a time."""

ACTORS: dict[Side, Actor] = {
    "user": Actor.user("customer"),
    "assistant": Actor.agent("assistant", on_behalf_of="customer"),
}

FIRST_VERSION = 1
"""Version of a row that was there before the task."""

MOST_EVENTS = 10_000
MOST_BATCHES = 1_000

Results = dict[int, tuple["WriteResult", ...]]
"""Results of the writes, by the index of the action."""


@dataclass(frozen=True, slots=True)
class Pass:
    """
    What one pass over the actions left behind.

    Attributes:
        rows: The product rows at its end.
        events: The whole log at its end, by revision.
    """

    results: Results
    rows: State
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What a replay left behind.

    Attributes:
        second: The pass that repeats every action with the same mutation ids.
        told: What the idle conversation is told after the first pass.
        told_slowly: What the slow one is told, in many short batches.
        told_again: What the idle conversation is told after the second pass.
    """

    workspace_id: str
    first: Pass
    second: Pass
    told: tuple[Batch, ...]
    told_slowly: tuple[Batch, ...]
    told_again: tuple[Batch, ...]


@dataclass(frozen=True, slots=True)
class Replayer:
    """
    Replays plans of one domain in one database, each in a workspace of its own.

    Attributes:
        prefix: What the workspaces' ids begin with, so that a database can be used again.
    """

    database: Database
    log: WorkspaceLog
    tables: Tables
    prefix: str

    def replay(self, plan: Plan, number: int) -> Outcome:
        """Replay a task in a fresh workspace."""
        workspace_id = f"{self.prefix}-{number}"
        self.database.run(fill_workspace, self.tables, workspace_id, plan.start)
        for name in (ACTING, IDLE, SLOW):
            self.log.open_thread(workspace_id, thread_id(workspace_id, name))
        first = self._pass(plan, workspace_id)
        told = self._told(workspace_id, IDLE)
        told_slowly = self._told(workspace_id, SLOW, limit=2, max_runs=MOST_BATCHES)
        second = self._pass(plan, workspace_id)
        told_again = self._told(workspace_id, IDLE)
        return Outcome(workspace_id, first, second, told, told_slowly, told_again)

    def _pass(self, plan: Plan, workspace_id: str) -> Pass:
        versions: dict[RowId, int] = {}
        results = {step.index: self._write(step, workspace_id, versions) for step in plan.steps}
        rows = self.database.read(read_rows, self.tables, workspace_id)
        return Pass(results, rows, tuple(self.log.changes(workspace_id, limit=MOST_EVENTS)))

    def _write(self, step: Step, workspace_id: str, versions: dict[RowId, int]) -> tuple[WriteResult, ...]:
        if not step.changes and not step.unchanged:
            return ()
        with self.log.write(
            workspace_id,
            actor=ACTORS[step.side],
            mutation_id=mutation_id(workspace_id, step),
            source_thread_id=source_thread_id(workspace_id, step),
        ) as write:
            for change in step.changes:
                version = versions.get((change.entity, change.key), FIRST_VERSION)
                _put(write, self.tables[change.entity], step.side, change, version)
            for (entity, key), row in step.unchanged:
                version = versions.get((entity, key), FIRST_VERSION)
                table = self.tables[entity]
                write.update(table, key, _without_key(table, row), expected_version=version)
        versions.update({(result.entity_type, result.entity_id): result.version for result in write.results})
        return write.results

    def _told(self, workspace_id: str, name: str, *, limit: int = LIMIT, max_runs: int = MAX_RUNS) -> tuple[Batch, ...]:
        batches: list[Batch] = []
        while not batches or batches[-1].remaining:
            if len(batches) == MOST_BATCHES:
                raise RuntimeError(f"{workspace_id}: after {MOST_BATCHES} batches events remain; none is delivered")
            conversation = thread_id(workspace_id, name)
            batches.append(self.log.read_batch(workspace_id, conversation, limit=limit, max_runs=max_runs))
            self.log.confirm(batches[-1])
        return tuple(batches)


def mutation_id(workspace_id: str, step: Step) -> str:
    """Give the idempotency key of an action's writes; the workspace stands for the task."""
    return f"{workspace_id}:{step.index}"


def thread_id(workspace_id: str, name: str) -> str:
    """Give the id of one of a task's conversations."""
    return f"{workspace_id}-{name}"


def source_thread_id(workspace_id: str, step: Step) -> str | None:
    """Name the conversation whose tool wrote; a screen belongs to none."""
    return thread_id(workspace_id, ACTING) if step.side == "assistant" else None


def _put(write: Write, table: Table, side: Side, change: Change, version: int) -> None:
    if change.after is None:
        write.delete(table, change.key, expected_version=version)
    elif change.before is None:
        write.insert(table, change.after)
    else:
        # A screen saves its whole form, a tool what it was asked to change: both must record the same.
        names = change.after if side == "user" else change.fields
        fields = {name: change.after[name] for name in names}
        write.update(table, change.key, _without_key(table, fields), expected_version=version)


def _without_key(table: Table, row: Row) -> Row:
    return {name: value for name, value in row.items() if not table.c[name].primary_key}
