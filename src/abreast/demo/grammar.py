"""Read the block that a request holds, by the headings and frames of `abreast.prompt` alone."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from abreast.prompt.languages import LANGUAGES
from abreast.prompt.render import CLOSING
from abreast.prompt.sentences import FieldChange, Party, Span, Subject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from abreast.prompt.languages import LanguageName
    from abreast.prompt.sentences import Sentences

_TAG: Final = CLOSING.strip("</>")
_BLOCK: Final = re.compile(rf'<{_TAG}(?: revision="\d+")?>\n(?P<inside>.*?)\n{CLOSING}', re.DOTALL)
_VALUE: Final = re.compile(r'(?P<field>[^";]+?): (?P<value>(?:"[^"]*"|[^";])*)(?:; |$)')
_LABEL, _IDENTITY, _VALUES, _VERSION = "\ue000", "\ue001", "\ue002", 987654321


@dataclass(frozen=True, slots=True)
class Row:
    """
    A row as CURRENT tells it.

    Attributes:
        identity: Its id as it is written.
        values: What its fields hold, by label, as it is written.
    """

    label: str
    identity: str
    version: int
    values: Mapping[str, str]

    @property
    def entity_id(self) -> str:
        """The id itself."""
        return unquoted(self.identity)


@dataclass(frozen=True, slots=True)
class Block:
    """
    What a block says.

    Attributes:
        rows: The lines of CURRENT that tell a row.
        changes: The lines that tell a change, without their dash.
        remarks: The other lines about changes.
    """

    language: LanguageName
    rows: tuple[Row, ...]
    changes: tuple[str, ...]
    remarks: tuple[str, ...]

    def without_now(self, change: str, value: str) -> str:
        """Give a sentence about a change without its ending that repeats the current value."""
        return change.removesuffix(_now(LANGUAGES[self.language], value))


def find_block(text: str) -> str | None:
    """Give the last block of a text as it stands there, or None."""
    found = list(_BLOCK.finditer(text))
    return found[-1].group() if found else None


def without_blocks(text: str) -> str:
    """Give what else a text says."""
    return _BLOCK.sub("", text).strip()


def read_block(text: str) -> Block | None:
    """Read the last block of a text, or None where there is none or it tells no state."""
    found = list(_BLOCK.finditer(text))
    lines = found[-1].group("inside").split("\n") if found else []
    for language, words in LANGUAGES.items():
        if words.current_heading in lines and words.changes_heading in lines:
            start, middle = lines.index(words.current_heading), lines.index(words.changes_heading)
            told = lines[middle + 1 :]
            return Block(
                "ko" if language == "ko" else "en",
                tuple(_rows(lines[start + 1 : middle], words)),
                tuple(line.removeprefix("- ") for line in told if line.startswith("- ")),
                tuple(line for line in told if not line.startswith("- ")),
            )
    return None


def unquoted(value: str) -> str:
    """Give what a quoted text says; anything else as it is."""
    return str(json.loads(value)) if re.fullmatch(r'"[^"]*"', value) else value


def _rows(lines: list[str], words: Sentences) -> list[Row]:
    frame = _row_frame(words)
    return [
        Row(
            found["label"],
            found["identity"],
            int(found["version"]),
            {part["field"]: part["value"] for part in _VALUE.finditer(found["values"] or "")},
        )
        for found in map(frame.fullmatch, lines)
        if found is not None
    ]


def _row_frame(words: Sentences) -> re.Pattern[str]:
    """Turn the sentence that tells a row into what reads it."""
    subject = Subject(_LABEL, _IDENTITY, None)
    bare = words.row(subject, _VERSION, "")
    frame = re.escape(bare) + f"(?:{re.escape(words.row(subject, _VERSION, _VALUES).removeprefix(bare))})?"
    for mark, pattern in (
        (_LABEL, "(?P<label>.+?)"),
        (_IDENTITY, r'(?P<identity>"[^"]*"|[^\s"]+?)'),
        (str(_VERSION), r"(?P<version>\d+)"),
        (_VALUES, "(?P<values>.*)"),
    ):
        frame = frame.replace(mark, pattern)
    return re.compile(frame)


def _now(words: Sentences, value: str) -> str:
    """Give the words by which a sentence ends that also tells the current value."""
    told, bare = (words.field_change(_change(now)) for now in (value, None))
    return told.removeprefix(bare)


def _change(now: str | None) -> FieldChange:
    return FieldChange(
        who=(Party("user", None, 1, "unknown"),),
        subject=Subject(_LABEL, _IDENTITY, None),
        field=_VALUES,
        span=Span(1, 1, 1),
        before=None,
        after=None,
        returned=False,
        hidden=False,
        gone=False,
        now=now,
    )
