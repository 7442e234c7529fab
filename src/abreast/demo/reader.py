"""Find in a serialized request what is asked and the newest statement about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from abreast.demo.grammar import read_block, unquoted, without_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abreast.demo.grammar import Block, Row

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_SAY_NOTHING: Final = frozenset(
    (
        *("a", "an", "the", "of", "our", "my", "your", "is", "are", "was", "it", "in", "on", "to", "for"),
        *("what", "which", "when", "who", "how", "do", "does", "did", "we", "i", "and", "now"),
    )
)
_SYLLABLES: Final = range(ord("가"), ord("힣") + 1)
_BY_ID, _BY_VALUE, _BY_LABEL = 8, 4, 1


@dataclass(frozen=True, slots=True)
class Target:
    """
    What a question or instruction is about.

    Attributes:
        field: Label of a field; None where only the row is named.
    """

    row: Row
    field: str | None


@dataclass(frozen=True, slots=True)
class Reading:
    """
    A request as far as it is understood.

    Attributes:
        question: What was said last by the user.
        block: The newest block, if there is one.
        statements: What was answered before, oldest first.
        results: What tools have answered since the question.
    """

    question: str
    block: Block | None
    statements: tuple[str, ...]
    results: tuple[str, ...]

    def target(self) -> Target | None:
        """Find the row, and the field, that the question names in words of the block."""
        rows = self.block.rows if self.block else ()
        labels = {label for row in rows for label in row.values if is_named(label, self.question)}
        field = max(labels, key=len, default=None)
        scored = [(self._score(row, field), row) for row in rows if field is None or field in row.values]
        if not scored:
            return None
        score, row = max(scored, key=lambda pair: pair[0])
        return Target(row, field) if field is not None or score >= _BY_VALUE else None

    def changes_of(self, target: Target) -> list[str]:
        """Give the sentences about changes of what was asked."""
        row, block = target.row, self.block
        subject = f"{row.label} {row.identity}"
        about = [change for change in (block.changes if block else ()) if is_named(subject, change)]
        if target.field is None or block is None:
            return about
        longer = [label for label in row.values if target.field in label and label != target.field]
        return [
            block.without_now(change, row.values[target.field])
            for change in about
            if is_named(target.field, _bare(change)) and not any(is_named(label, change) for label in longer)
        ]

    def last_statement(self) -> str | None:
        """Give the newest of the earlier sentences that says most about what is asked."""
        asked = _words(self.question)
        best, most = None, 0
        for statement in self.statements:
            for sentence in _SENTENCE_END.split(statement):
                shared = sum(any(_is_same(word, other) for other in _words(sentence)) for word in asked)
                if shared and shared >= most:
                    best, most = sentence, shared
        return best

    def _score(self, row: Row, field: str | None) -> int:
        """Say how well a row is named; not by what the field holds, since that may be what it is to hold."""
        others = [value for label, value in row.values.items() if label != field]
        by_value = any(is_named(unquoted(value), self.question) for value in others)
        return (
            _BY_ID * is_named(row.entity_id, self.question)
            + _BY_VALUE * by_value
            + _BY_LABEL * is_named(row.label, self.question)
        )


def read(messages: Sequence[dict[str, Any]]) -> Reading:
    """Read messages as a provider is sent them: roles and texts."""
    texts = [(str(message.get("role")), _text(message.get("content"))) for message in messages]
    asked = [place for place, (role, text) in enumerate(texts) if role == "user" and without_blocks(text)]
    last = asked[-1] if asked else -1
    return Reading(
        question=without_blocks(texts[last][1]) if asked else "",
        block=read_block("\n".join(text for role, text in texts if role in ("user", "system"))),
        statements=tuple(text for role, text in texts[: last + 1] if role in ("assistant", "tool")),
        results=tuple(text for role, text in texts[last + 1 :] if role == "tool"),
    )


def is_named(phrase: str, text: str) -> bool:
    """Say whether a phrase stands in a text as words of its own; endings of Korean words may follow."""
    if not phrase:
        return False
    end = r"(?![A-Za-z0-9_-])" if phrase[-1].isascii() else ""
    return bool(re.search(rf"(?<![\w-]){re.escape(phrase.casefold())}{end}", text.casefold()))


def _bare(sentence: str) -> str:
    """Give a sentence without what it quotes."""
    return re.sub(r'"[^"]*"', '""', sentence)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = cast("list[dict[str, Any]]", content) if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts)


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _SAY_NOTHING]


def _is_same(word: str, other: str) -> bool:
    """Compare words; of Korean ones the beginning, as their endings vary."""
    if ord(word[0]) in _SYLLABLES:
        return word[:2] == other[:2]
    return word == other
