"""Korean particles, whose form depends on how the word before them ends."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

OBJECT: Final = ("을", "를", "을(를)")
SUBJECT: Final = ("이", "가", "이(가)")
TOPIC: Final = ("은", "는", "은(는)")
WITH: Final = ("과", "와", "과(와)")
TOWARDS: Final = ("으로", "로", "(으)로")

Particle = tuple[str, str, str]

_SYLLABLES = range(ord("가"), ord("힣") + 1)
_FINALS = 28
_RIEUL = 8
# How digits are read: 영 일 이 삼 사 오 육 칠 팔 구; the number stands for the final consonant, 0 for none.
_DIGITS = {"0": 21, "1": 8, "2": 0, "3": 16, "4": 0, "5": 0, "6": 1, "7": 8, "8": 8, "9": 0}
_UNSPOKEN = re.compile(r"(?<=.)\([^()]*\)\Z|(?:\\u[0-9a-f]{4}|\\[nt\\])+\"?\Z")


def with_particle(text: str, particle: Particle, *, spoken: str | None = None) -> str:
    """
    Append a particle in the form that fits the end of a text.

    Decides by the final consonant of the last Hangul syllable, by how a last digit is read, and writes both
    forms after other letters, whose sound is unknown. Quotes, punctuation and a closing remark in parentheses
    are passed over.

    Args:
        spoken: The part of the text that decides, where it is not its end.

    Example:
        >>> [with_particle(word, OBJECT) for word in ("입주일", "단계", "m1", "m2", '"done"')]
        ['입주일을', '단계를', 'm1을', 'm2를', '"done"을(를)']
    """
    closed, open_, either = particle
    final = _final(_last_letter(text if spoken is None else spoken))
    if final is None:
        return text + either
    if final == 0 or (particle == TOWARDS and final == _RIEUL):
        return text + open_
    return text + closed


def _last_letter(text: str) -> str:
    spoken = unicodedata.normalize("NFC", _UNSPOKEN.sub("", text))
    return next((character for character in reversed(spoken) if character.isalnum()), "")


def _final(character: str) -> int | None:
    if character and ord(character) in _SYLLABLES:
        return (ord(character) - _SYLLABLES.start) % _FINALS
    return _DIGITS.get(character)
