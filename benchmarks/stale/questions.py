"""Questions whose answer a conversation has wrong: generated from a seed, and how an answer is judged."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.stale.product import FIELDS, IDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.stale.product import Field

Verdict = Literal["right", "stale", "other"]
Rows = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Change:
    """A field of a row that gets another value."""

    field: Field
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Question:
    """
    One conversation.

    Attributes:
        number: Its place among the others.
        rows: The rows it begins with, by entity.
        asked: What is asked about, and changes in between.
        besides: What changes besides.
        wordings: The question before and after the change.
        talk: A question about something else in between, and its answer; None where nothing else was said.
        spelled: The assistant spells a day out, as "September 28, 2026".
    """

    number: int
    rows: Rows
    asked: Change
    besides: Change
    wordings: tuple[str, str]
    talk: tuple[str, str] | None
    spelled: bool

    @property
    def stale_answer(self) -> str:
        """What the assistant said before the change."""
        return self.asked.field.said.format(_said(self.asked.before, spelled=self.spelled))


def generate(count: int, seed: int) -> list[Question]:
    """Give questions, as many of each field as of any other; the same for the same seed."""
    dice = random.Random(seed)
    return [_question(dice, number) for number in range(count)]


def _question(dice: random.Random, number: int) -> Question:
    asked = FIELDS[number % len(FIELDS)]
    rows = _rows(dice)
    others = [field for field in FIELDS if field.entity != asked.entity]
    besides, talked = dice.sample(others, 2)
    used = {value for row in rows.values() for value in row.values()}
    asked_change, besides_change = _change(dice, asked, rows, used), _change(dice, besides, rows, used)
    first, second = asked.questions if dice.random() < 0.5 else asked.questions[::-1]
    said = _said(rows[talked.entity][talked.name], spelled=False)
    return Question(
        number=number,
        rows=rows,
        asked=asked_change,
        besides=besides_change,
        wordings=(first, dice.choice((first, second))),
        talk=(talked.questions[0], talked.said.format(said)) if dice.random() < 0.5 else None,
        spelled=dice.random() < 0.5,
    )


def _rows(dice: random.Random) -> Rows:
    """Draw a row of each entity; no two fields have the same value, so that an answer tells which it is about."""
    rows: Rows = {entity: {} for entity in IDS}
    used: set[Any] = set()
    for field in FIELDS:
        rows[field.entity][field.name] = _unused(dice, field, used)
    return rows


def _change(dice: random.Random, field: Field, rows: Rows, used: set[Any]) -> Change:
    return Change(field, rows[field.entity][field.name], _unused(dice, field, used))


def _unused(dice: random.Random, field: Field, used: set[Any]) -> Any:
    while (value := field.value(dice)) in used:
        pass
    used.add(value)
    return value


def _said(value: Any, *, spelled: bool) -> str:
    if isinstance(value, date):
        return f"{value:%B} {value.day}, {value.year}" if spelled else value.isoformat()
    return str(value)


def judge(question: Question, answer: str) -> Verdict:
    """Say whether an answer tells the new value alone, the old one alone, or both or neither."""
    new, old = _tells(answer, question.asked.after), _tells(answer, question.asked.before)
    if new == old:
        return "other"
    return "right" if new else "stale"


def tells_both(question: Question, answer: str) -> bool:
    """Say whether an answer tells the old value beside the new one."""
    return _tells(answer, question.asked.after) and _tells(answer, question.asked.before)


def _tells(answer: str, value: Any) -> bool:
    return any(re.search(rf"(?<![\w-]){form}(?![\w-])", answer, re.IGNORECASE) for form in _forms(value))


def _forms(value: Any) -> list[str]:
    """Give the patterns in which a value is told."""
    if isinstance(value, date):
        month, day = f"(?:{value:%B}|{value:%b})", f"0?{value.day}(?:st|nd|rd|th)?"
        return [value.isoformat(), rf"{month}\.? (?:the )?{day}", rf"{day} (?:of )?{month}"]
    if isinstance(value, int):
        return [str(value), re.escape(f"{value:,}")]
    return [re.escape(str(value))]


def differs(first: Mapping[int, Verdict], second: Mapping[int, Verdict], verdict: Verdict) -> tuple[int, int]:
    """Count the questions that only the first, and only the second, answers so."""
    only_first = sum(own == verdict != second[number] for number, own in first.items())
    only_second = sum(own == verdict != first[number] for number, own in second.items())
    return only_first, only_second
