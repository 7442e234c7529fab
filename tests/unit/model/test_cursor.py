"""Cursors, and why changes after one cannot be listed."""

import json
from dataclasses import replace

import pytest

from abreast.errors import InvalidInput
from abreast.model.cursor import Cursor, Position, reset_reason

AT_7 = Cursor("w1", "t1", "", "epoch", 7, "mark of 7")
LOG = Position("epoch", head=9, head_mark="mark of 9", floor=3)


@pytest.mark.parametrize(
    ("cursor", "mark", "reason"),
    [
        (AT_7, "mark of 7", None),
        (AT_7, "another", "other_mark"),
        (AT_7, None, "other_mark"),
        (replace(AT_7, epoch="older"), "mark of 7", "other_epoch"),
        (replace(AT_7, epoch="older", revision=1), None, "other_epoch"),
        (replace(AT_7, revision=2), None, "below_floor"),
        (replace(AT_7, revision=3), "mark of 7", None),
        (replace(AT_7, revision=9), "mark of 7", None),
        (replace(AT_7, revision=10), None, None),
        (replace(AT_7, revision=0, mark=""), None, "below_floor"),
    ],
)
def test_reasons(cursor, mark, reason):
    """Another log comes first, then what is no longer kept, then another event; beyond HEAD is no reason."""
    assert reason == reset_reason(cursor, LOG, mark)


def test_the_beginning_of_a_whole_log_needs_no_mark():
    """Before the first revision there is no event whose id could be compared."""
    assert None is reset_reason(replace(AT_7, revision=0, mark=""), replace(LOG, floor=0), None)


def test_a_cursor_survives_graph_state():
    """What `to_json` gives can be stored as JSON and read back as the same cursor."""
    assert AT_7 == Cursor.from_json(json.loads(json.dumps(AT_7.to_json())))


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, {"revision": 7}, {**AT_7.to_json(), "more": 1}])
def test_what_has_other_fields_is_no_cursor(value):
    """It is refused with the way out, never filled up."""
    with pytest.raises(InvalidInput, match=r"has other fields than a cursor; pass what Cursor\.to_json"):
        Cursor.from_json(value)


@pytest.mark.parametrize(("field", "value"), [("revision", "7"), ("revision", True), ("mark", None), ("scope", 1)])
def test_what_has_other_types_is_no_cursor(field, value):
    """The field is named; numbers as text and booleans are none."""
    with pytest.raises(InvalidInput, match=rf"^cursor\.{field}: has another type"):
        Cursor.from_json({**AT_7.to_json(), field: value})
