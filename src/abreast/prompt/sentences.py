"""What a language has to be able to say, and the facts it is given: values are text already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abreast.model.cursor import ResetReason
    from abreast.model.event import ActorType
    from abreast.model.fold import LineKind

Place = Literal["here", "elsewhere", "both", "unknown"]


@dataclass(frozen=True, slots=True)
class Party:
    """
    Some of those who took part in a change.

    Attributes:
        name: A display name in quotes, or the name of a job or account; None for unnamed people and agents.
        count: How many there are.
        place: For agents: in which conversation they ran, seen from the one that reads.
    """

    type: ActorType | Literal["others"]
    name: str | None
    count: int
    place: Place


OTHERS: Final = Party("others", None, 0, "unknown")
"""Those who took part beyond the ones that are named or counted."""


class Subject(NamedTuple):
    """
    The row a sentence speaks of.

    Attributes:
        label: What such a row is called.
        identity: Its id.
        title: Its title; None where there is none.
    """

    label: str
    identity: str
    title: str | None


@dataclass(frozen=True, slots=True)
class Span:
    """The events a sentence stands for."""

    count: int
    first_revision: int
    last_revision: int


class FieldChange(NamedTuple):
    """
    A field that got another value.

    Attributes:
        before: Its first old value; None where it is not told.
        after: Its last new value; None where it is not told.
        returned: Whether the last new value is the first old one.
        hidden: Whether values of this field are never shown.
        gone: Whether the row can no longer be seen.
        now: The value it has now; None where it is not told.
    """

    who: Sequence[Party]
    subject: Subject
    field: str
    span: Span
    before: str | None
    after: str | None
    returned: bool
    hidden: bool
    gone: bool
    now: str | None


class RowChange(NamedTuple):
    """
    A row that came or went.

    Attributes:
        values: What a deleted row last said, as one text; empty where it is not told.
        exists: Whether the row can be seen now.
    """

    kind: LineKind
    who: Sequence[Party]
    subject: Subject
    span: Span
    values: str
    exists: bool


@dataclass(frozen=True, slots=True)
class Summed:
    """
    Changes that are counted, not listed.

    Attributes:
        rows: How many different rows they changed; None where only the changes were counted.
        first_day: Day of the first change.
        last_day: Day of the last change.
    """

    operation: str
    who: Sequence[Party]
    label: str
    rows: int | None
    span: Span
    first_day: str
    last_day: str


class Sentences(Protocol):
    """The block in one language. Every text is one line."""

    current_heading: str
    changes_heading: str
    frame: str
    unavailable: str
    yes: str
    no: str
    empty: str
    nothing_changed: str
    summed_up: str

    def date(self, day: str) -> str:
        """Say what day it is."""
        ...

    def time(self, moment: str) -> str:
        """Say what time it is."""
        ...

    def cut(self, text: str, length: int) -> str:
        """Mark a text as the beginning of one of `length` characters."""
        ...

    def rows(self, label: str, total: int) -> str:
        """Begin the list of an entity's rows."""
        ...

    def row(self, subject: Subject, version: int, values: str) -> str:
        """Tell a row."""
        ...

    def unlisted(self, label: str, count: int) -> str:
        """Count rows that are not listed."""
        ...

    def outside(self, label: str) -> str:
        """Begin the list of changed rows that are not among the entity's listed ones."""
        ...

    def field_change(self, change: FieldChange) -> str:
        """Tell a changed field."""
        ...

    def row_change(self, change: RowChange) -> str:
        """Tell a row that came or went."""
        ...

    def summed(self, summed: Summed) -> str:
        """Tell changes that are counted."""
        ...

    def unwritten(self, counts: Sequence[tuple[str, int]], span: Span) -> str:
        """Count changes that did not fit, by label."""
        ...

    def undescribed(self, count: int) -> str:
        """Count changes of entities that are not described to the model."""
        ...

    def remaining(self, count: int) -> str:
        """Say that more changes follow."""
        ...

    def reset(self, reason: ResetReason) -> str:
        """Say that older changes are not listed, and why."""
        ...
