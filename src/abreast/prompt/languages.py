"""The languages a block can be written in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from abreast.errors import InvalidInput
from abreast.prompt.sentences_en import English
from abreast.prompt.sentences_ko import Korean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from abreast.prompt.sentences import Sentences

LanguageName = Literal["en", "ko"]
LANGUAGES: Final[Mapping[str, Sentences]] = {"en": English(), "ko": Korean()}


def sentences(language: str) -> Sentences:
    """
    Give the sentences of a language.

    Raises:
        InvalidInput: The language is unknown.
    """
    found = LANGUAGES.get(language)
    if found is None:
        raise InvalidInput("language", "is unknown", f"use one of: {', '.join(LANGUAGES)}")
    return found
