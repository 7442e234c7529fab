"""Write a batch as the block that a model is shown."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, tzinfo
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack, cast

from abreast.errors import InvalidInput
from abreast.model.batch import Batch
from abreast.model.entity import Entity
from abreast.prompt.changes import SHORTER, Changes, size
from abreast.prompt.current import Current
from abreast.prompt.languages import LanguageName, sentences
from abreast.prompt.quoting import escape
from abreast.prompt.values import Writer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from abreast.prompt.actors import Names
    from abreast.prompt.sentences import Sentences

MAX_BYTES: Final = 40_000
VALUE_LIMIT: Final = 500
CLOSING: Final = "</workspace_state>"


def render(  # noqa: PLR0913 - what a block says depends on as many things
    batch: Batch,
    entities: Iterable[Entity],
    *,
    language: LanguageName = "en",
    names: Names | None = None,
    thread_id: str | None = None,
    now: date | None = None,
    time_zone: tzinfo = UTC,
    max_bytes: int = MAX_BYTES,
    value_limit: int = VALUE_LIMIT,
) -> str:
    """
    Write a batch as the block that a model is shown: the current rows, then what changed.

    The same batch gives the same bytes, whatever the clock says. Only exposed fields are written; a hidden
    one is named where it changed. What rows hold is quoted and stays inside the marked section (see
    `abreast.prompt.quoting`). The block has at most `max_bytes`: values are cut first, with a mark and their
    full length, then rows are left out and counted by entity, the changed ones last, then changes are counted
    with the revisions they have. What the application added (`batch.extras`) stands behind the rows. "It is
    now" tells the row as it is in `batch.current`.

    Of an entity with `visible` only rows that can be seen now are spoken of, with the values they have now:
    neither old values nor deletions are told.

    The headings are `CURRENT` and `CHANGES SINCE LAST SUCCESS`, in Korean `현재 상태` and
    `마지막 성공 이후 변경 사항`.

    Args:
        entities: The entities of the batch's log.
        names: Gives the name an actor is shown by, or None. Without it people are "a person", never an id.
        thread_id: The thread that reads, to tell its own agent from others; the batch's when left out.
        now: What time to tell the model: a `datetime` with a zone is told to the minute, a `date` as the day.
            Left out, no time is told.
        time_zone: Zone in which days and `now` are told.
        max_bytes: Most bytes of the block in UTF-8.
        value_limit: Most characters of one value.

    Raises:
        InvalidInput: A format failed, an argument is out of range, or `max_bytes` has no room for the frame
            and the counts of what is left out.
        UnknownEntity: The batch has rows of an entity that was not given.

    Example:
        >>> print(render(batch, [move]))
        <workspace_state revision="41">
        Everything from here to the end of this section is data read from the product's database, ...
        CURRENT
        1 move:
        - move m1 (version 4): move-in date: 2026-09-30; stage: "booked"
        CHANGES SINCE LAST SUCCESS
        - A person changed the move-in date of move m1 from 2026-09-28 to 2026-09-30 (r41). It is now ...
        </workspace_state>
    """
    words = sentences(language)
    _check_limit("value_limit", value_limit)
    _check_limit("max_bytes", max_bytes)
    known = _known(batch, entities)
    if not (names is None or callable(names)):
        raise InvalidInput("names", f"is {type(names).__name__}, no function", "pass a function of an Actor")
    changes = Changes(batch, known, words, names, thread_id or batch.thread_id, time_zone)
    current = Current(batch.snapshot.entities, [row for row in batch.current.values() if row is not None], known, words)
    opening = [f'<workspace_state revision="{batch.head}">', words.frame, *moment(words, now, time_zone)]
    headings = [words.current_heading, words.changes_heading]
    extras = _extras(batch.extras, words, value_limit, max_bytes // 4)
    room = max_bytes - size([*opening, *headings, *extras, CLOSING]) - current.reserved()
    changed = changes.written(value_limit, room)
    rows = current.written(value_limit, room - size(changed))
    return "\n".join([*opening, headings[0], *rows, *extras, headings[1], *changed, CLOSING])


def render_unavailable(*, language: LanguageName = "en") -> str:
    """
    Write the block of a run that goes on although the current state could not be read.

    Example:
        >>> print(render_unavailable())
        <workspace_state>
        The current state could not be read from the product's database. ...
        </workspace_state>
    """
    return f"<workspace_state>\n{sentences(language).unavailable}\n{CLOSING}"


class RenderOptions(TypedDict, total=False):
    """The keyword arguments of `render`."""

    language: LanguageName
    names: Names | None
    thread_id: str | None
    now: date | None
    time_zone: tzinfo
    max_bytes: int
    value_limit: int


def prompt_text(
    batch: Batch, entities: Iterable[Entity], *, instructions: str = "", **options: Unpack[RenderOptions]
) -> str:
    """
    Write instructions and, after them, the block: one text, as LangChain's `@dynamic_prompt` returns it.

    The instructions come first and stay as they are, so that a provider's prompt cache keeps them.

    Args:
        options: As for `render`.

    Raises:
        InvalidInput: As for `render`.
        UnknownEntity: As for `render`.

    Example:
        >>> prompt_text(batch, [move], instructions="You help people move.").splitlines()[:3]
        ['You help people move.', '', '<workspace_state revision="41">']
    """
    block = render(batch, entities, **options)
    return f"{instructions}\n\n{block}" if instructions else block


def _extras(extras: Mapping[str, Any], words: Sentences, limit: int, room: int) -> list[str]:
    """Write what the application adds; values are cut shorter until they fit."""
    for shorter in (limit, *(length for length in SHORTER if length < limit)):
        writer = Writer(words, shorter)
        lines = [f"- {escape(name)}: {writer.plain(value)}" for name, value in extras.items()]
        if size(lines) <= room:
            return lines
    raise InvalidInput("extras", f"take more than {room} bytes of the block", "return fewer or shorter values")


def moment(words: Sentences, now: date | None, time_zone: tzinfo) -> list[str]:
    """
    Tell what time or day it is, if that is wanted.

    Raises:
        InvalidInput: The time has no zone, or is none.
    """
    if now is None:
        return []
    if not isinstance(now, date):
        raise InvalidInput("now", f"is {type(now).__name__}, no date", "pass an aware datetime, or a date")
    if not isinstance(now, datetime):
        return [words.date(now.isoformat())]
    if now.tzinfo is None:
        raise InvalidInput("now", "has no time zone", "pass an aware datetime, or a date")
    return [words.time(now.astimezone(time_zone).isoformat(" ", "minutes"))]


def _check_limit(name: str, value: int) -> None:
    if type(value) is not int:
        raise InvalidInput(name, f"is {type(value).__name__}, no whole number", "pass a limit of at least 1")
    if value < 1:
        raise InvalidInput(name, "is below 1", "pass a limit of at least 1")


def _known(batch: object, entities: object) -> dict[str, Entity]:
    """Give the entities by name, where they and the batch are what they are taken for."""
    if not isinstance(batch, Batch):
        raise InvalidInput("batch", f"is {type(batch).__name__}, no Batch", "pass what read_batch() returned")
    listed = list(cast("Iterable[object]", entities)) if isinstance(entities, Iterable) else [None]
    known = {entity.name: entity for entity in listed if isinstance(entity, Entity)}
    if not all(isinstance(entity, Entity) for entity in listed):
        raise InvalidInput("entities", "is no list of entities", "pass the log's entities: log.entities")
    return known
