"""The block's wordings that are compared: abreast's sentences, and terse lines written by the same renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from abreast.prompt.languages import LANGUAGES
from abreast.prompt.sentences_en import English

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from abreast.prompt.sentences import FieldChange, Subject

WORDINGS: Final = ("sentences", "terse")
_TERSE: Final = "terse"


class Terse(English):
    """A row is `field=value`, a change `old -> new`; everything else is said as in English."""

    changes_heading = "CHANGES"

    def row(self, subject: Subject, version: int, values: str) -> str:  # noqa: ARG002 - no version is told
        """Tell a row."""
        return f"{subject.label} {subject.identity}: {values.replace(': ', '=')}"

    def field_change(self, change: FieldChange) -> str:
        """Tell a changed field."""
        return f"{change.subject.label} {change.subject.identity} {change.field}: {change.before} -> {change.after}"


def language_of(wording: str) -> Any:
    """Give the `language` that writes a block in one of `WORDINGS`."""
    if wording == _TERSE:
        cast("MutableMapping[str, Any]", LANGUAGES).setdefault(_TERSE, Terse())
        return _TERSE
    return "en"
