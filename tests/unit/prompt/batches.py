"""Short ways to write entities, rows, lines and batches."""

from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from abreast.model.batch import Batch
from abreast.model.cursor import Cursor, ResetReason
from abreast.model.entity import Entity, EntityRows, Row, Snapshot
from abreast.model.event import Actor
from abreast.model.fold import Line, LineKind, SummaryLine

DAY = 86_400_000_000
PERSON = Actor.user("u1")
OTHER_PERSON = Actor.user("u2")
AGENT = Actor.agent("assistant")
JOB = Actor.system("nightly")
ACCOUNT = Actor.database("reporting")


def table(name: str) -> Any:
    """Stand in for a table; the prompt looks at nothing but its name."""
    return SimpleNamespace(name=name)


MOVE = Entity(
    table("move"),
    expose=["move_in_date", "stage"],
    hidden=["door_code"],
    secret=["alarm_code"],
    labels={"move_in_date": "move-in date"},
)
ITEM = Entity(table("checklist_item"), expose=["title", "done"], title="title")
MOVE_KO = Entity(
    table("move"),
    expose=["move_in_date", "stage"],
    hidden=["door_code"],
    label="이사",
    labels={"move_in_date": "입주일", "stage": "단계", "door_code": "출입 코드"},
)
ITEM_KO = Entity(
    table("checklist_item"),
    expose=["title", "done"],
    title="title",
    label="체크리스트 항목",
    labels={"title": "제목", "done": "완료"},
)
M1 = Row("move", "m1", 4, {"move_in_date": "2026-09-30", "stage": "booked"})


def item(number: int, *, title: str = "Boxes", done: bool = False, version: int = 1) -> Row:
    """Give a row of the checklist."""
    return Row("checklist_item", f"c{number}", version, {"title": title, "done": done})


def update(field: str, *values: Any, of: Row = M1, **how: Any) -> Line:
    """Tell that a field of a row changed, from a first to a second value if they are given."""
    before, after = values or (None, None)
    told = bool(values)
    return line("update", of.entity_type, of.entity_id, field, before, after, told=told, **how)


def line(  # noqa: PLR0913 - a line has as many parts
    kind: LineKind,
    entity_type: str,
    entity_id: str,
    field: str | None = None,
    before: Any = None,
    after: Any = None,
    *,
    told: bool = False,
    values: Mapping[str, Any] | None = None,
    actors: Sequence[Actor] = (PERSON,),
    threads: Sequence[str | None] = (None,),
    revisions: Sequence[int] = (41,),
) -> Line:
    """Give a line that joins as many events as there are revisions."""
    return Line(
        kind=kind,
        entity_type=entity_type,
        entity_id=entity_id,
        field=field,
        before=before,
        after=after,
        has_before=told,
        has_after=told,
        values=dict(values or {}),
        actors=tuple(actors),
        threads=tuple(threads),
        count=len(revisions),
        first_revision=revisions[0],
        last_revision=revisions[-1],
        first_at=0,
        last_at=0,
    )


def counted(operation: str, actor: Actor, *, count: int, rows: int, entity_type: str = "move") -> SummaryLine:
    """Give a summary line of September 2026."""
    first = 20_697 * DAY
    return SummaryLine(entity_type, operation, actor, count, rows, 100, 900, first, first + 19 * DAY)


def batch(
    *lines: Line,
    rows: Iterable[Row] = (M1,),
    totals: Mapping[str, int] | None = None,
    types: Sequence[str] = ("move",),
    outside: Iterable[Row] = (),
    summary: Sequence[SummaryLine] = (),
    remaining: int = 0,
    reset: ResetReason | None = None,
    head: int = 41,
) -> Batch:
    """
    Give a batch for the thread t1.

    Args:
        rows: The snapshot's rows.
        totals: How many rows there are, by type; as many as `rows` has when left out.
        outside: Rows that the lines speak of and that the snapshot leaves out.
    """
    listed = list(rows)
    known = {(row.entity_type, row.entity_id): row for row in (*listed, *outside)}
    spoken_of = [(part.entity_type, part.entity_id) for part in lines]
    cursor = Cursor("w1", "t1", "", "e", 40, "k40")
    parts = [tuple(row for row in listed if row.entity_type == kind) for kind in types]
    entities = tuple(
        EntityRows(kind, part, (totals or {}).get(kind, len(part))) for kind, part in zip(types, parts, strict=True)
    )
    return Batch(
        workspace_id="w1",
        thread_id="t1",
        scope="",
        since=cursor,
        cursor_after=cursor,
        lines=lines,
        summary=tuple(summary),
        remaining=remaining,
        event_count=sum(part.count for part in (*lines, *summary)),
        reset=reset,
        snapshot=Snapshot("w1", "e", head, entities),
        current={key: known.get(key) for key in spoken_of},
    )
