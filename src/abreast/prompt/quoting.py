"""
Write texts that came from rows so that they cannot leave their quotes, their line or the block.

Rows are untrusted: a title can hold anything its writer typed. What is guaranteed, whatever a text holds:

- A quoted text begins and ends with `"` and holds no further `"`, so quotes pair up from left to right.
- It is a JSON string: `json.loads` gives the text back, and what a model copies into a tool call is right.
- It holds no line break of any kind, no control, format, bidirectional, zero-width or otherwise invisible
  character, and no lone surrogate. Left are spaces, and one variation selector after a symbol that has a
  form as an emoji.
- It holds no `<`, `>`, `[` or `]`, so `</workspace_state>`, `<|im_start|>`, `[/INST]`, `[|system|]` or
  `]~b]` cannot stand in it. The brackets of a list are written outside of its texts.
- All this is still so after Unicode normalization: fullwidth and small forms are escaped too.

Characters that only look like a delimiter stay as they are: nothing that reads the block takes them for one.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import cast

_INVISIBLE = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0e\ufeff\uffa0"
    r"\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U00013440\U00016fe4\U0001bca0-\U0001bca3"
    r"\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_DELIMITERS = r"\"\\<>\u226e\u226f\ufe64\ufe65\ufe68\uff02\uff1c\uff1e\uff3c"
_BRACKETS = r"\[\]\ufe47\ufe48\uff3b\uff3d"
_KEYS = "#*0-9"
_SYMBOLS = (
    r"\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u2300-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935\u2b00-\u2b5f"
    r"\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_SELECTOR = rf"(?<![{_KEYS}{_SYMBOLS}])\ufe0f|(?<=[{_KEYS}])\ufe0f(?!\u20e3)"
_UNSAFE_IN_LABELS = re.compile(f"[{_INVISIBLE}{_DELIMITERS}]|{_SELECTOR}")
_UNSAFE = re.compile(f"[{_INVISIBLE}{_DELIMITERS}{_BRACKETS}]|{_SELECTOR}")
_SAFE = re.compile(r"[ !#-;=?-Z^-~]*")
"""Printable ASCII with nothing to escape: what most values are, told apart at a fraction of the cost."""
_SHORT = {"\n": r"\n", "\t": r"\t", "\\": r"\\"}
_TIME = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
_ZONE = r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
_PLAIN = re.compile(
    rf"-?[0-9]{{1,30}}(?:\.[0-9]{{1,30}})?|{_TIME}|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[T ]{_TIME}{_ZONE})?"
)
_IDENTIFIER = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z0-9](?:[A-Za-z0-9_.:-]{0,62}[A-Za-z0-9])?")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.:-]{0,62}[A-Za-z0-9])?")
_LAST_BMP = 0xFFFF
_FEWEST_PARTS = 2


def escape(text: str) -> str:
    r"""
    Write the characters that could break out of a quoted text as JSON escapes.

    Example:
        >>> print(escape("</workspace_state>\nSYSTEM"))
        \u003c/workspace_state\u003e\nSYSTEM
    """
    return text if _SAFE.fullmatch(text) else _UNSAFE.sub(_escaped, text)


def quote(text: str) -> str:
    r"""
    Put a text in double quotes that it cannot leave.

    Example:
        >>> print(quote('a "b"'))
        "a \u0022b\u0022"
    """
    return f'"{escape(text)}"'


@lru_cache(maxsize=1_024)
def write_label(text: str) -> str:
    """
    Write what the application calls a field or a kind of row: on one line, with its brackets.

    Example:
        >>> print(write_label("weight [kg]"))
        weight [kg]
    """
    return _UNSAFE_IN_LABELS.sub(_escaped, text)


def write_text(text: str) -> str:
    """
    Write a text bare where it is plainly a number, a date or a time, else quoted.

    Example:
        >>> print(write_text("2026-09-30"), write_text("booked"))
        2026-09-30 "booked"
    """
    return _written_short(text) if len(text) <= _SHORT_TEXT else _written(text)


def _written(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else quote(text)


_SHORT_TEXT = 64
_written_short = lru_cache(maxsize=8_192)(_written)
"""Rows say the same again and again, from call to call and among each other: states, dates, names."""


def write_id(text: str) -> str:
    """
    Write an id bare where it is one word with a digit in it, the parts of a composite one in brackets, else quoted.

    What stands in brackets is the id itself as JSON, so that it can be copied into a tool call; no other id is
    written like it.

    Example:
        >>> print(write_id("m1"), write_id("the old one"), write_id('["m1",3]'))
        m1 "the old one" ["m1",3]
    """
    return _id_written_short(text) if len(text) <= _SHORT_TEXT else _id_written(text)


def _id_written(text: str) -> str:
    if _IDENTIFIER.fullmatch(text):
        return text
    parts = _parts(text)
    return quote(text) if parts is None else f"[{','.join(map(_written_part, parts))}]"


_id_written_short = lru_cache(maxsize=8_192)(_id_written)
"""A changed row is named twice in a block, and others in each."""


def _parts(text: str) -> list[str | int] | None:
    """Give the parts of a composite id; None for what only looks like one, as it would not be copied back."""
    if not text.startswith("["):
        return None
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    given = cast("list[object]", found) if isinstance(found, list) else []
    parts = [part for part in given if isinstance(part, (str, int)) and not isinstance(part, bool)]
    same = len(parts) >= _FEWEST_PARTS and json.dumps(given, ensure_ascii=False, separators=(",", ":")) == text
    return parts if same and len(parts) == len(given) else None


def _written_part(part: str | int) -> str:
    return quote(part) if isinstance(part, str) else str(part)


def write_name(text: str) -> str:
    """Write the name of a job or database account bare where it is one word, else quoted."""
    return text if _NAME.fullmatch(text) else quote(text)


def _escaped(match: re.Match[str]) -> str:
    character = match.group()
    short = _SHORT.get(character)
    if short is not None:
        return short
    code = ord(character)
    if code <= _LAST_BMP:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
