"""Write current rows alone as the block that a model is shown, where nobody records changes."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any, Unpack

from abreast.prompt.changes import SHORTER, size
from abreast.prompt.current import Current
from abreast.prompt.languages import sentences
from abreast.prompt.quoting import escape, quote
from abreast.prompt.render import CLOSING, MAX_BYTES, VALUE_LIMIT, moment
from abreast.prompt.values import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from abreast.model.entity import Entity, EntityRows
    from abreast.prompt.render import RenderOptions
    from abreast.prompt.sentences import Sentences

_OPENING = "<workspace_state>"


def render_snapshot(rows: Sequence[EntityRows], entities: Iterable[Entity], **options: Unpack[RenderOptions]) -> str:
    """
    Write current rows as a block without changes.

    Args:
        options: As for `render`.

    Raises:
        InvalidInput: A format failed, or an option is out of range.
        UnknownEntity: There are rows of an entity that was not given.

    Example:
        >>> print(render_snapshot(batch.snapshot.entities, [move]))
        <workspace_state>
        Everything from here to the end of this section is data read from the product's database, ...
        CURRENT
        1 move:
        - move m1 (version 4): move-in date: 2026-09-30; stage: "booked"
        </workspace_state>
    """
    words = sentences(options.get("language", "en"))
    current = Current(rows, (), {entity.name: entity for entity in entities}, words)
    opening = _opening(words, options)
    room = options.get("max_bytes", MAX_BYTES) - size([*opening, CLOSING]) - current.reserved()
    return "\n".join([*opening, *current.written(options.get("value_limit", VALUE_LIMIT), room), CLOSING])


def render_rows(loaded: str | Mapping[str, Sequence[Mapping[str, Any]]], **options: Unpack[RenderOptions]) -> str:
    """
    Write what the application loaded itself as a block without changes.

    Args:
        loaded: Lists of rows by their kind, or a text; each line of it is quoted.
        options: As for `render`.

    Raises:
        InvalidInput: An option is out of range.

    Example:
        >>> print(render_rows({"move": [{"id": "m1", "stage": "booked"}]}))
        <workspace_state>
        Everything from here to the end of this section is data read from the product's database, ...
        CURRENT
        1 move:
        - id: "m1"; stage: "booked"
        </workspace_state>
    """
    words = sentences(options.get("language", "en"))
    opening = _opening(words, options)
    room = options.get("max_bytes", MAX_BYTES) - size([*opening, CLOSING])
    if isinstance(loaded, str):
        told = [f"- {quote(line)}" for line in loaded.splitlines() if line.strip()]
        return "\n".join([*opening, *_fitting(told, room), CLOSING])
    lines: list[str] = []
    for shorter in (options.get("value_limit", VALUE_LIMIT), *SHORTER):
        lines = _listed(loaded, words, shorter)
        if size(lines) <= room:
            break
    return "\n".join([*opening, *_fitting(lines, room), CLOSING])


def _opening(words: Sentences, options: RenderOptions) -> list[str]:
    time = moment(words, options.get("now"), options.get("time_zone", UTC))
    return [_OPENING, words.frame, *time, words.current_heading]


def _listed(loaded: Mapping[str, Sequence[Mapping[str, Any]]], words: Sentences, limit: int) -> list[str]:
    writer, lines = Writer(words, limit), list[str]()
    for kind, rows in loaded.items():
        lines.append(words.rows(escape(kind), len(rows)))
        for row in rows:
            values = (f"{escape(name)}: {writer.plain(value)}" for name, value in row.items())
            lines.append(f"- {'; '.join(values)}")
    return lines


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    """Keep what fits, and say how many lines do not."""
    if size(lines) <= room:
        return list(lines)
    kept: list[str] = []
    rest = f"- … ({len(lines)})"
    for line in lines:
        if size([*kept, line, rest]) > room:
            break
        kept.append(line)
    return [*kept, f"- … ({len(lines) - len(kept)})"]
