"""Join the events of one row and field into one line, and cut a log into batches of bounded length."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from abreast.model.event import Actor, Event, JsonObject

LineKind = Literal["insert", "update", "delete", "replace", "transient"]
MOST_NAMED: Final = 16
"""Most actors and most threads that a line names."""
T = TypeVar("T", bound="Hashable")
Versions = dict[str, tuple[int, int]]
"""Lowest and highest version of the row among the joined events that set a field, by field name."""
_NO_LINES: Final[dict[str | None, Line]] = {}
_NO_VERSIONS: Final[Versions] = {}


@dataclass(frozen=True, slots=True)
class Line:
    """
    What happened to one row, or to one field of it, within a batch.

    Attributes:
        kind: `insert`, `update`, `delete`; `replace`: deleted and inserted again; `transient`: inserted and
            deleted again.
        field: The changed field of an `update`; None for the other kinds, which speak of the whole row.
        before: First old value of the field. Meaningful only if `has_before`.
        after: Last new value of the field. Meaningful only if `has_after`.
        has_before: False for hidden fields and where the event recorded no values.
        has_after: As `has_before`.
        values: Exposed values of a row that was inserted (last ones) or deleted; empty otherwise.
        actors: Who took part, in order of appearance: the first 16.
        threads: Threads whose runs took part, in order of appearance: the first 16. None stands for no thread.
        more_actors: Whether others than `actors` took part as well.
        more_threads: As `more_actors`.
        count: Number of events joined; for a row that was changed and then deleted, at least so many.
        first_revision: Revision of the first event joined.
        last_revision: Revision of the last event joined.
        first_at: UTC microseconds of the first event.
        last_at: UTC microseconds of the last event.
        mutations: Mutation ids of the events joined; None stands for an event without one.
    """

    kind: LineKind
    entity_type: str
    entity_id: str
    field: str | None
    before: Any
    after: Any
    has_before: bool
    has_after: bool
    values: JsonObject
    actors: tuple[Actor, ...]
    threads: tuple[str | None, ...]
    count: int
    first_revision: int
    last_revision: int
    first_at: int
    last_at: int
    mutations: tuple[str | None, ...] = ()
    more_actors: bool = False
    more_threads: bool = False


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """
    How many changes of one kind one actor made in a period; stands for events not listed one by one.

    Attributes:
        count: Number of events.
        rows: Number of different rows.
        first_revision: Every event from here to `last_revision` of this type, operation and actor is meant.
        first_at: UTC microseconds.
        last_at: UTC microseconds.
    """

    entity_type: str
    operation: str
    actor: Actor
    count: int
    rows: int
    first_revision: int
    last_revision: int
    first_at: int
    last_at: int


@dataclass(slots=True)
class Fold:
    """
    The lines of a growing run of events, bounded in lines and bytes.

    `add` takes events in revision order and says whether the event still fits; a refused one changes nothing.
    The first event always fits. An update that was numbered after a later version of its row takes its place
    by version: it changes neither a newer value nor, once the row is gone, anything but the count.

    Args:
        limit: Most lines.
        max_bytes: Most bytes of values, each capped as `value_bytes` says.
        shown: `(entity_type, field) -> bool`: does a change of this field make a line? Fields that do not are
            delivered without one.
    """

    limit: int
    max_bytes: int
    shown: Callable[[str, str], bool]
    lines: dict[tuple[str, str], dict[str | None, Line]] = field(
        default_factory=dict[tuple[str, str], dict[str | None, Line]]
    )
    last: Event | None = None
    count: int = 0
    _line_count: int = 0
    _bytes: int = 0
    _sizes: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    _versions: dict[tuple[str, str], Versions] = field(default_factory=dict[tuple[str, str], Versions])

    def add(self, event: Event) -> bool:
        """Join one event, or refuse it because the fold would grow past its bounds."""
        key = (event.entity_type, event.entity_id)
        old, versions = self.lines.get(key, _NO_LINES), self._versions.get(key, _NO_VERSIONS)
        new = _joined(old, event, self.shown, versions) if old else _begun(event, self.shown)
        lines = self._line_count - len(old) + len(new)
        new_size = _size(new)
        size = self._bytes - self._sizes.get(key, 0) + new_size
        if self.count and (lines > self.limit or size > self.max_bytes):
            return False
        if new:
            self.lines[key] = new
            self._sizes[key], self._versions[key] = new_size, _widened(versions, event)
        self._line_count, self._bytes = lines, size
        self.count += 1
        self.last = event
        return True

    def result(self) -> tuple[Line, ...]:
        """Give the lines in order of their first revision, a row's fields by name."""
        everything = (line for fields in self.lines.values() for line in fields.values())
        return tuple(sorted(everything, key=lambda line: (line.first_revision, line.field or "")))


_ENCODER = json.JSONEncoder(ensure_ascii=False)
VALUE_BYTES = 2_000
"""A longer value counts as this many bytes: it is shown cut, so that no huge field fills the window."""


def value_bytes(value: Any) -> int:
    """Count the bytes of a value as JSON, at most `VALUE_BYTES`; what is longer is not read to its end."""
    if value is None or isinstance(value, bool):
        return 5 if value is False else 4
    if isinstance(value, str):
        if len(value) >= VALUE_BYTES:
            return VALUE_BYTES
        if value.isascii() and value.isprintable():
            # Of such a text JSON escapes these two alone; to write it out takes several times as long.
            return min(VALUE_BYTES, len(value) + 2 + value.count('"') + value.count("\\"))
        return min(VALUE_BYTES, len(_ENCODER.encode(value).encode("utf-8", "surrogatepass")))
    count = 0
    for part in _ENCODER.iterencode(value):
        count += len(part.encode("utf-8", "surrogatepass"))
        if count >= VALUE_BYTES:
            return VALUE_BYTES
    return count


def without_past(line: Line) -> Line | None:
    """
    Give what a line may tell of a row that not every viewer may see, where this viewer sees it now.

    Whether the viewer was entitled to what the row held before, or to an earlier row of the same id, cannot be
    known any more. So no values are left, the row was added rather than replaced, and where it was deleted in
    the end nothing is told: what is there now is a later row.
    """
    if line.kind in ("delete", "transient"):
        return None
    kind: LineKind = "insert" if line.kind == "replace" else line.kind
    return replace(line, kind=kind, before=None, after=None, has_before=False, has_after=False, values={})


def _size(lines: dict[str | None, Line]) -> int:
    size = 0
    for line in lines.values():
        size += value_bytes(line.before) + value_bytes(line.after)
        if line.values:
            size += sum(map(value_bytes, line.values.values()))
    return size


def _begun(event: Event, shown: Callable[[str, str], bool]) -> dict[str | None, Line]:
    """Give the lines of a row's first event."""
    if event.operation == "insert":
        return {None: _whole(event, "insert", event.after)}
    if event.operation == "delete":
        return {None: _whole(event, "delete", event.before)}
    return {name: _changed(event, name) for name in event.changed_fields if shown(event.entity_type, name)}


def _joined(
    old: dict[str | None, Line], event: Event, shown: Callable[[str, str], bool], versions: Versions
) -> dict[str | None, Line]:
    whole = old.get(None)
    if event.operation == "insert":
        kind: LineKind = "replace" if old and (whole is None or whole.kind in ("delete", "replace")) else "insert"
        return {None: _extended(_all(old), _whole(event, kind, event.after))}
    if event.operation == "delete":
        made_here = whole is not None and whole.kind in ("insert", "transient")
        return {None: _extended(_all(old), _whole(event, "transient" if made_here else "delete", event.before))}
    named = [name for name in event.changed_fields if shown(event.entity_type, name)]
    if not named:
        return old
    if whole is not None:
        return {None: _extended([whole], _whole(event, whole.kind, _values(whole, event, versions)))}
    joined = dict(old)
    for name in named:
        joined[name] = _field(old.get(name), event, name, versions)
    return joined


def _values(whole: Line, event: Event, versions: Versions) -> JsonObject:
    """Give what is known, after an update, of a row that came or went within the run of events."""
    if whole.kind not in ("insert", "replace"):
        return whole.values
    newest = [name for name in event.changed_fields if _is_newest(event, name, versions)]
    after = event.after or {}
    kept = {name: value for name, value in whole.values.items() if name not in newest}
    return kept | {name: after[name] for name in newest if name in after}


def _is_newest(event: Event, name: str, versions: Versions) -> bool:
    return name not in versions or event.version >= versions[name][1]


def _widened(versions: Versions, event: Event) -> Versions:
    """Note which version an event gave its fields; an insert begins anew, as versions may."""
    if not versions or event.operation == "insert":
        return dict.fromkeys(event.changed_fields, (event.version, event.version))
    widened = dict(versions)
    for name in event.changed_fields:
        lowest, highest = versions.get(name, (event.version, event.version))
        widened[name] = min(lowest, event.version), max(highest, event.version)
    return widened


def _all(lines: dict[str | None, Line]) -> Iterable[Line]:
    return sorted(lines.values(), key=lambda line: line.first_revision)


def _changed(event: Event, name: str) -> Line:
    before, after = event.before or {}, event.after or {}
    return _line(event, "update", {}, name, before.get(name), after.get(name), name in before, name in after)


def _field(old: Line | None, event: Event, name: str, versions: Versions) -> Line:
    line = _changed(event, name)
    if old is None:
        return line
    if event.version >= versions[name][0]:
        line = replace(line, before=old.before, has_before=old.has_before)
    if not _is_newest(event, name, versions):
        line = replace(line, after=old.after, has_after=old.has_after)
    return _extended([old], line)


def _whole(event: Event, kind: LineKind, values: JsonObject | None) -> Line:
    return _line(event, kind, values or {})


def _line(
    event: Event,
    kind: LineKind,
    values: JsonObject,
    field: str | None = None,
    before: Any = None,
    after: Any = None,
    has_before: bool = False,  # noqa: FBT001, FBT002 - by position, as below
    has_after: bool = False,  # noqa: FBT001, FBT002 - as above
) -> Line:
    revision, at = event.revision or 0, event.created_at
    # By position, as `Line` lists them: names would take half as long again, for each of many events.
    return Line(
        kind,
        event.entity_type,
        event.entity_id,
        field,
        before,
        after,
        has_before,
        has_after,
        values,
        (event.actor,),
        (event.source_thread_id,),
        1,
        revision,
        revision,
        at,
        at,
        (event.mutation_id,),
    )


def _extended(earlier: Iterable[Line], line: Line) -> Line:
    """Give `line` the actors, threads, counts and beginning of the lines it takes the place of."""
    lines = [*earlier, line]
    actors, more_actors = _first([part.actors for part in lines])
    threads, more_threads = _first([part.threads for part in lines])
    return replace(
        line,
        actors=actors,
        threads=threads,
        more_actors=more_actors or any(part.more_actors for part in lines),
        more_threads=more_threads or any(part.more_threads for part in lines),
        mutations=tuple(dict.fromkeys(mutation for part in lines for mutation in part.mutations)),
        count=_events(lines),
        first_revision=lines[0].first_revision,
        first_at=min(part.first_at for part in lines),
        last_at=max(part.last_at for part in lines),
    )


def _first(parts: Iterable[tuple[T, ...]]) -> tuple[tuple[T, ...], bool]:
    """Give the different ones in order of appearance, as many as a line names, and say whether there are more."""
    found = dict.fromkeys(one for part in parts for one in part)
    return tuple(found)[:MOST_NAMED], len(found) > MOST_NAMED


def _events(lines: list[Line]) -> int:
    return max(part.count for part in lines[:-1]) + lines[-1].count if lines[:-1] else lines[-1].count
