"""How the cases of a contract ended."""

from __future__ import annotations

import unittest
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Outcome = Literal["passed", "failed", "skipped"]


class ContractBroken(AssertionError):
    """A saver does not do what its contract says; the message says what it did, and how often."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class Left(Exception):
    """A case cannot be tried on this saver; the message says why."""


@dataclass(frozen=True, slots=True)
class Result:
    """
    How one case ended.

    Attributes:
        case: Its name.
        detail: What was counted, what is broken, or why it was skipped.
        error: What was raised.
    """

    case: str
    outcome: Outcome
    detail: str
    error: Exception | None = None

    def check(self) -> None:
        """
        Return if the case passed; for tests.

        Raises:
            ContractBroken: It failed.
            unittest.SkipTest: It was skipped; pytest takes that for its own.
        """
        if self.outcome == "failed":
            raise ContractBroken(f"{self.case}: {self.detail}") from self.error
        if self.outcome == "skipped":
            raise unittest.SkipTest(f"{self.case}: {self.detail}")

    def __str__(self) -> str:
        return f"{self.outcome:<7} {self.case}{': ' if self.detail else ''}{self.detail}"


@dataclass(frozen=True, slots=True)
class Report:
    """How all cases ended with one saver; as text it has a line for each."""

    saver: str
    results: Sequence[Result]

    @property
    def failed(self) -> list[Result]:
        """The cases that failed."""
        return self._of("failed")

    @property
    def passed(self) -> list[Result]:
        """The cases that passed."""
        return self._of("passed")

    @property
    def skipped(self) -> list[Result]:
        """The cases that could not be tried."""
        return self._of("skipped")

    def _of(self, outcome: Outcome) -> list[Result]:
        return [result for result in self.results if result.outcome == outcome]

    def __str__(self) -> str:
        counts = f"{len(self.passed)} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"
        return "\n".join([f"{self.saver}: {counts}", *(f"  {result}" for result in self.results)])
