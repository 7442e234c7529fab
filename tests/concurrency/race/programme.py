"""What each writer of a race does: the same with and without abreast, from a seed."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

HOT_ROWS = 2
HOLD_SHARE, HOLD_SECONDS = 0.2, 0.02
ROLLBACK_SHARE = 0.05
HOT_SHARE = 0.25
MOST_STEPS = 12
INSERT_SHARE, PART_SHARE, DELETE_SHARE = 0.15, 0.1, 0.05


class RolledBack(Exception):
    """A transaction of the programme that is not to be committed."""


@dataclass(frozen=True, slots=True)
class Step:
    """One change of one row; `token` is the value it leaves, different for each change of a race."""

    operation: str
    entity: str
    row_id: str
    token: str
    expected: int | None
    item_id: str = ""

    @property
    def row(self) -> tuple[str, str]:
        """Name the row."""
        return self.entity, self.row_id


@dataclass(frozen=True, slots=True)
class Transaction:
    """Changes that are committed together, after a while, or rolled back."""

    number: int
    steps: tuple[Step, ...]
    hold: float
    rolled_back: bool


@dataclass
class Programme:
    """The transactions of one writer, who alone knows and changes the rows with its number."""

    writer: int
    seed: int
    contended: bool
    rows: dict[tuple[str, str], int] = field(default_factory=dict)
    items_with_parts: set[str] = field(default_factory=set)
    made: int = 0

    def __post_init__(self) -> None:
        """Begin at the seed."""
        self._random = random.Random(f"{self.seed}.{self.writer}")

    def transactions(self) -> Iterator[Transaction]:
        """Give one transaction after the other; `committed` says that the last one was."""
        number = 0
        while True:
            number += 1
            steps = self._steps(number)
            hold = self._random.uniform(0, HOLD_SECONDS) if self._random.random() < HOLD_SHARE else 0.0
            yield Transaction(number, steps, hold, self._random.random() < ROLLBACK_SHARE)

    def committed(self, transaction: Transaction) -> None:
        """Know the rows as the transaction left them."""
        for step in transaction.steps:
            if step.operation == "delete":
                del self.rows[step.row]
            elif step.expected is not None:
                self.rows[step.row] = step.expected + 1
            if step.item_id:
                self.items_with_parts.add(step.item_id)

    def _steps(self, number: int) -> tuple[Step, ...]:
        steps: list[Step] = []
        for place in range(self._random.randint(1, MOST_STEPS)):
            taken = {step.row for step in steps} | {("item", step.item_id) for step in steps}
            steps.append(self._step(f"{self.writer}.{number}.{place}", taken))
        if self.contended and self._random.random() < HOT_SHARE:
            hot = f"hot{self._random.randrange(HOT_ROWS)}"
            steps.append(Step("update", "item", hot, f"{self.writer}.{number}.hot", None))
        return tuple(steps)

    def _step(self, token: str, taken: set[tuple[str, str]]) -> Step:
        choice = self._random.random()
        known = [row for row in self.rows if row not in taken]
        if not known or choice < INSERT_SHARE:
            return Step("insert", "item", self._new("i"), token, 0)
        entity, row_id = self._random.choice(known)
        if entity == "item" and choice < INSERT_SHARE + PART_SHARE:
            return Step("insert", "part", self._new("p"), token, 0, row_id)
        version = self.rows[entity, row_id]
        if choice > 1 - DELETE_SHARE and row_id not in self.items_with_parts:
            return Step("delete", entity, row_id, token, version)
        return Step("update", entity, row_id, token, version)

    def _new(self, kind: str) -> str:
        self.made += 1
        return f"{kind}{self.writer}-{self.made}"


@dataclass(frozen=True, slots=True)
class Committed:
    """One change whose commit was acknowledged, and the event abreast said it recorded."""

    event_id: str
    entity: str
    row_id: str
    operation: str
    version: int
    token: str


@dataclass
class Log:
    """What a writer did."""

    kind: str
    committed: list[Committed] = field(default_factory=list)
    changes: int = 0
    transactions: int = 0
    rolled_back: int = 0
    retried: int = 0

    def keep(self, transaction: Transaction, results: list[Any]) -> None:
        """Note an acknowledged commit; without abreast there are no results."""
        self.transactions += 1
        self.changes += len(transaction.steps)
        for step, result in zip(transaction.steps, results, strict=bool(results)):
            self.committed.append(Committed(result.event_id, *step.row, step.operation, result.version, step.token))
