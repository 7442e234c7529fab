"""Folding joins any run of events into what a naive reading of them says."""

import copy
import json
from collections.abc import Iterator
from itertools import count, groupby

from hypothesis import given, settings
from hypothesis import strategies as st

from abreast.model.event import Actor, Event
from abreast.model.fold import VALUE_BYTES, Fold, value_bytes

FIELDS = ("date", "door_code", "stage", "alarm_code")
EXPOSED = ("date", "stage")
SHOWN = ("date", "door_code", "stage")
NO_LIMIT = 10**9

actors = st.sampled_from(
    [Actor.user("u1"), Actor.user("u2"), Actor.agent("a", on_behalf_of="u1"), Actor.system("nightly")]
)
threads = st.sampled_from([None, "t1", "t2"])
mutations = st.sampled_from([None, "k1", "k2"])
values = st.sampled_from(["A", "B", None, 1, True, {"a": [1]}, "x" * 3_000])
rows = st.sampled_from([("move", "m1"), ("move", "m2"), ("item", "m1")])


def shown(_entity_type, field):
    """Say which fields make lines: exposed and hidden ones, not secret ones."""
    return field in SHOWN


def fold_of(events, *, limit=NO_LIMIT, max_bytes=NO_LIMIT):
    """Fold all events that fit."""
    fold = Fold(limit, max_bytes, shown)
    for event in events:
        if not fold.add(event):
            break
    return fold


class Table:
    """Rows as a database has them, whose changes make events."""

    def __init__(self):
        self.rows = {}
        self.revisions = count(1)

    def event(self, draw, key, operation, changed, before, after, version):
        """Give the event of a change."""
        revision = next(self.revisions)
        return Event(
            workspace_id="w1",
            event_id=f"e{revision}",
            revision=revision,
            entity_type=key[0],
            entity_id=key[1],
            version=version,
            operation=operation,
            changed_fields=tuple(sorted(changed)),
            before=before,
            after=after,
            actor=draw(actors),
            source_thread_id=draw(threads),
            run_id=None,
            mutation_id=draw(mutations),
            created_at=draw(st.integers(0, 100)),
        )

    def change(self, draw, *, names_only):
        """Insert, update or delete a row, as its being there allows."""
        key = draw(rows)
        if key not in self.rows:
            row = {field: draw(values) for field in FIELDS}
            self.rows[key] = (row, 1)
            return self.event(draw, key, "insert", FIELDS, None, told(row, names_only), 1)
        row, version = self.rows[key]
        if draw(st.integers(0, 4)) == 0:
            del self.rows[key]
            changed = draw(st.sampled_from([(), FIELDS]))
            return self.event(draw, key, "delete", changed, told(row, names_only), None, version + 1)
        changed = draw(st.sets(st.sampled_from(FIELDS), min_size=1))
        new = row | {field: draw(values) for field in changed}
        self.rows[key] = (new, version + 1)
        before, after = ({field: state[field] for field in changed} for state in (row, new))
        return self.event(draw, key, "update", changed, told(before, names_only), told(after, names_only), version + 1)


def told(row, names_only):
    """Keep the values an event records."""
    return None if names_only else {field: value for field, value in row.items() if field in EXPOSED}


@st.composite
def logs(draw, *, max_size=12):
    """Give the events of rows some of which were there before, each row's in order of its versions."""
    table = Table()
    for key in draw(st.sets(rows)):
        table.rows[key] = ({field: draw(values) for field in FIELDS}, draw(st.integers(1, 9)))
    size = draw(st.integers(0, max_size))
    return [table.change(draw, names_only=draw(st.integers(0, 9)) == 0) for _ in range(size)]


@st.composite
def late_logs(draw):
    """Give events some of which were numbered after a later version of their row."""
    events = draw(logs())
    for at in draw(st.lists(st.integers(0, max(0, len(events) - 2)), max_size=6, unique=True)):
        if at + 1 < len(events) and may_be_late(events[at], events[at + 1]):
            events[at : at + 2] = events[at + 1], events[at]
    return [renumbered(event, revision) for revision, event in enumerate(events, start=1)]


def may_be_late(event, later):
    """Say whether the second event may be numbered first: its writer waited for the row."""
    same = (event.entity_type, event.entity_id) == (later.entity_type, later.entity_id)
    return not same or (event.operation == "update" and later.operation != "insert")


def renumbered(event, revision):
    """Give an event with another revision."""
    parts = {name: getattr(event, name) for name in event.__slots__}
    return Event(**parts | {"revision": revision})


def by_version(events):
    """Order one row's events as its versions came to be; an insert begins a new life of the row."""
    lives = [[]]
    for event in events:
        if event.operation == "insert":
            lives.append([])
        lives[-1].append(event)
    return [event for life in lives for event in sorted(life, key=lambda event: event.version)]


def expected(events) -> Iterator[dict]:
    """Say naively what each row's events come to."""
    row_of = lambda event: (event.entity_type, event.entity_id)  # noqa: E731 - the key of a sort and a group
    for key, group in groupby(sorted(events, key=row_of), key=row_of):
        numbered = sorted(group, key=lambda event: event.revision)
        ordered = by_version(numbered)
        if any(event.operation != "update" for event in ordered):
            yield expected_row(key, numbered, ordered)
        else:
            yield from expected_fields(key, numbered, ordered)


def expected_row(key, numbered, ordered):
    """Say what became of a row that came or went."""
    was_there, is_there = ordered[0].operation != "insert", ordered[-1].operation != "delete"
    kind = {
        (False, True): "insert",
        (True, False): "delete",
        (True, True): "replace",
        (False, False): "transient",
    }[was_there, is_there]
    values = values_after(ordered) if is_there else ordered[-1].before or {}
    return {"key": key, "kind": kind, "field": None, "values": values, **anyhow(expected_who(seen(numbered)))}


def values_after(ordered):
    """Give what is known of a row that is there."""
    row = {}
    for event in ordered:
        kept = {} if event.operation == "insert" else row
        known = {field: value for field, value in kept.items() if field not in event.changed_fields}
        row = known | (event.after or {})
    return row


def anyhow(parts):
    """Leave open in which order those who changed several fields of a row come."""
    return parts | {name: set(parts[name]) for name in ("actors", "threads", "mutations")}


def seen(numbered):
    """Leave out the updates of fields that make no line."""
    return [
        event
        for event in numbered
        if event.operation != "update" or any(field in SHOWN for field in event.changed_fields)
    ]


def expected_fields(key, numbered, ordered):
    """Say what became of each shown field."""
    for field in SHOWN:
        touching = [event for event in ordered if field in event.changed_fields]
        if touching:
            first, last = touching[0].before or {}, touching[-1].after or {}
            yield {
                "key": key,
                "kind": "update",
                "field": field,
                "before": first.get(field),
                "after": last.get(field),
                "has_before": field in first,
                "has_after": field in last,
                **expected_who([event for event in numbered if field in event.changed_fields]),
            }


def expected_who(events):
    """Say who took part, and when."""
    return {
        "actors": tuple(dict.fromkeys(event.actor for event in events)),
        "threads": tuple(dict.fromkeys(event.source_thread_id for event in events)),
        "mutations": tuple(dict.fromkeys(event.mutation_id for event in events)),
        "more_actors": False,
        "more_threads": False,
        "first_revision": min(event.revision for event in events),
        "last_revision": max(event.revision for event in events),
        "first_at": min(event.created_at for event in events),
        "last_at": max(event.created_at for event in events),
    }


def actual(lines) -> Iterator[dict]:
    """Give what lines say, without what does not matter for their kind."""
    for line in lines:
        parts = {name: getattr(line, name) for name in line.__slots__}
        if line.kind != "update":
            parts |= {name: set(parts[name]) for name in ("actors", "threads", "mutations")}
        parts["key"] = parts.pop("entity_type"), parts.pop("entity_id")
        del parts["count"]
        for name in ("values",) if line.kind == "update" else ("before", "after", "has_before", "has_after"):
            del parts[name]
        yield parts


def in_order(lines):
    """Order what is said like a batch does."""
    return sorted(lines, key=lambda line: (line["first_revision"], line["field"] or ""))


@settings(max_examples=300, deadline=None)
@given(late_logs())
def test_fold_says_what_a_naive_reading_says(events):
    """First old value, last new value, everyone in order, and what became of the row."""
    assert in_order(expected(events)) == list(actual(fold_of(events).result()))


@settings(max_examples=100, deadline=None)
@given(logs())
def test_counts(events):
    """A line counts its events; a fold counts all of them, with or without a line."""
    fold = fold_of(events)
    assert len(events) == fold.count
    for line in fold.result():
        joined = [
            event
            for event in events
            if (event.entity_type, event.entity_id) == (line.entity_type, line.entity_id)
            and (line.field is None or line.field in event.changed_fields)
        ]
        assert line.count <= len(joined)
        assert line.kind != "update" or line.count == len(joined)


@settings(max_examples=200, deadline=None)
@given(late_logs(), st.integers(1, 5), st.integers(0, 8_000))
def test_a_refused_event_changes_nothing(events, limit, max_bytes):
    """Bounds hold after the first event, and a fold that refuses is the fold of what came before."""
    fold = Fold(limit, max_bytes, shown)
    for at, event in enumerate(events):
        before = copy.deepcopy(fold)
        if not fold.add(event):
            assert at > 0
            assert before == fold
            assert fold_of(events[:at]).result() == fold.result()
            assert bounded(fold_of(events[: at + 1]).result(), limit, max_bytes) is False
            return
        assert event == fold.last
        assert at == 0 or bounded(fold.result(), limit, max_bytes)


def bounded(lines, limit, max_bytes):
    """Say whether lines are within their bounds, counted anew."""
    size = sum(value_bytes(value) for line in lines for value in (line.before, line.after, *line.values.values()))
    return len(lines) <= limit and size <= max_bytes


def test_line_of_a_crowd_is_bounded():
    """A field that everybody changes names the first ones, and its cost does not grow with the others."""
    fold = Fold(NO_LIMIT, NO_LIMIT, shown)
    for number in range(1, 5_001):
        actor, thread = Actor.agent(f"a{number % 2_000}"), f"t{number % 3_000}"
        change = {"date": f"v{number}"}
        fold.add(
            Event(
                workspace_id="w1",
                event_id=f"e{number}",
                revision=number,
                entity_type="move",
                entity_id="m1",
                version=number,
                operation="update",
                changed_fields=("date",),
                before={"date": f"v{number - 1}"},
                after=change,
                actor=actor,
                source_thread_id=thread,
                run_id=None,
                mutation_id=None,
                created_at=number,
            )
        )
    (line,) = fold.result()
    assert ([f"a{number}" for number in range(1, 17)], True) == ([one.id for one in line.actors], line.more_actors)
    assert (tuple(f"t{number}" for number in range(1, 17)), True) == (line.threads, line.more_threads)
    assert (5_000, "v0", "v5000") == (line.count, line.before, line.after)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_bytes_are_those_of_json(value):
    """A value counts as many bytes as its JSON has."""
    assert min(len(json.dumps(value, ensure_ascii=False).encode()), VALUE_BYTES) == value_bytes(value)


@given(st.text())
def test_bytes_of_a_value(text):
    """A value counts as its JSON in UTF-8, a long one as the most."""
    assert value_bytes(text) <= VALUE_BYTES
    assert value_bytes("가" * 10) == 32
    assert value_bytes("x" * VALUE_BYTES) == VALUE_BYTES
