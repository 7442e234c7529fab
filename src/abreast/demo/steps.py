"""What one step of the story tells, and how it is checked."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any, Final

_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DATE: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


@dataclass(frozen=True, slots=True)
class Check:
    """
    One thing that has to be so.

    Attributes:
        what: What is looked at.
        holds: Whether it is as expected.
    """

    what: str
    expected: Any
    actual: Any
    holds: bool


@dataclass(frozen=True, slots=True)
class Told:
    """
    What an act brought.

    Attributes:
        revision: The last revision it made, if any.
        asked: What was asked.
        given: The block of its last request as it was sent.
        called: The calls of tools that the model made.
        answer: What was answered.
        error: What failed or was refused, and why.
        checks: What has to be so now.
    """

    checks: list[Check]
    revision: int | None = None
    asked: str | None = None
    given: str | None = None
    called: list[str] = field(default_factory=list[str])
    answer: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """
    One step as it was told.

    Attributes:
        step: Its number.
        revision: The last revision it made; None where it wrote nothing.
        head: HEAD afterwards.
        cursor: Where each conversation stands afterwards, by name.
        asked: What was asked.
        given: What the model was given: the block as it was sent.
        called: The calls of tools that the model made.
        answer: What was answered.
        error: What failed or was refused, and why.
    """

    step: int
    title: str
    revision: int | None
    head: int
    cursor: dict[str, int]
    asked: str | None = None
    given: str | None = None
    called: list[str] = field(default_factory=list[str])
    answer: str | None = None
    error: str | None = None
    checks: list[Check] = field(default_factory=list[Check])

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """Give the step as JSON values."""
        return asdict(self)


def equal(what: str, expected: object, actual: object) -> Check:
    """Check that something is what it should be."""
    return Check(what, expected, actual, expected == actual)


def says(what: str, expected: str, text: str | None) -> Check:
    """Check that a text says something; a date may be written in words."""
    found = any(re.search(rf"{re.escape(form)}(?!\d)", text or "") for form in _forms(expected))
    return Check(what, expected, text, found)


def _forms(value: str) -> list[str]:
    date = _DATE.fullmatch(value)
    if date is None:
        return [value]
    month, day = int(date[2]), int(date[3])
    name = _MONTHS[month - 1]
    return [value, f"{name} {day}", f"{day} {name}", f"{name[:3]} {day}", f"{month}월 {day}일"]
