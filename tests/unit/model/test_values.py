"""Between database values and JSON values."""

import enum
import json
from base64 import b64encode
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest
from sqlalchemy import (
    JSON,
    Boolean,
    Date,
    DateTime,
    Enum,
    Float,
    Integer,
    Interval,
    LargeBinary,
    Numeric,
    String,
    Time,
    TypeDecorator,
    Uuid,
)

from abreast.errors import InvalidInput
from abreast.sql.values import canonical, check_id, from_json, same, to_json


class Size(enum.Enum):
    """Names and values differ."""

    SMALL = "s"
    LARGE = "l"


class Color(enum.StrEnum):
    """A text that is an Enum."""

    RED = "red"


class Stars(enum.IntEnum):
    """A number that is an Enum."""

    FIVE = 5


class Trimmed(TypeDecorator):
    """A type of the application's own."""

    impl = String
    cache_ok = True


ID = UUID(int=7)
NAIVE = datetime(2026, 9, 28, 9, 30)  # noqa: DTZ001 - as columns without a zone hold it
SEOUL = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (7, 7),
        (0.5, 0.5),
        ("ü", "ü"),
        (date(2026, 9, 28), "2026-09-28"),
        (time(9, 30), "09:30:00"),
        (NAIVE, "2026-09-28T09:30:00"),
        (timedelta(minutes=1.5), 90.0),
        (Decimal("12.50"), "12.50"),
        (Decimal("1E+3"), "1000"),
        (Decimal("-0.00"), "-0.00"),
        (ID, "00000000-0000-0000-0000-000000000007"),
        (Size.LARGE, "LARGE"),
        (Color.RED, "red"),
        (Stars.FIVE, 5),
        (b"\x00\xff", "AP8="),
        (memoryview(b"\x00\xff"), "AP8="),
        ({"a": [1, (2.5, None)], "b": {"c": date(2026, 9, 28)}}, {"a": [1, [2.5, None]], "b": {"c": "2026-09-28"}}),
    ],
)
def test_to_json(value, expected):
    """Each kind of value has one JSON form."""
    assert expected == to_json("move.field", value)
    assert type(expected) is type(to_json("move.field", value))
    json.dumps(to_json("move.field", value), allow_nan=False)


def test_points_in_time_are_written_in_utc():
    """In a column with a time zone one moment has one form; a database that lost the zone means UTC."""
    moment = datetime(2026, 9, 28, 9, 30, tzinfo=SEOUL)
    with_zone = DateTime(timezone=True)
    assert "2026-09-28T00:30:00+00:00" == to_json("f", moment, with_zone)
    assert "2026-09-28T09:30:00+00:00" == to_json("f", NAIVE, with_zone)
    assert "2026-09-28T09:30:00" == to_json("f", NAIVE, DateTime())


def test_numbers_without_a_scale_have_no_padding():
    """What a database adds to a number is no part of it; a column's own scale is."""
    for text, expected in (("12.5000000000", "12.5"), ("100", "100"), ("1E+2", "100"), ("0.00", "0")):
        assert expected == to_json("f", Decimal(text), Numeric())
    assert "12.50" == to_json("f", Decimal("12.50"), Numeric(10, 2))
    digits = "1234567890" * 4
    assert f"{digits}.5" == to_json("f", Decimal(f"{digits}.50"), Numeric())


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "is not a finite number"),
        (float("-inf"), "is not a finite number"),
        (Decimal("NaN"), "is not a finite number"),
        ([1, float("inf")], "is not a finite number"),
        ({1, 2}, "holds a set, which does not fit JSON; store a JSON value, or do not expose the field"),
        ({"a": object()}, "holds a object, which does not fit JSON"),
        ({1: "a"}, "holds a JSON object whose key is not text"),
        ("a\0", "holds a NUL character, which PostgreSQL cannot store; remove it"),
        ({"a\0": 1}, "holds a NUL character"),
        (["\udfff"], "holds a lone surrogate"),
    ],
)
def test_what_has_no_json_form_is_named(value, words):
    """The field and the problem are told, not the value."""
    with pytest.raises(InvalidInput, match=f"^move.field: {words}"):
        to_json("move.field", value)


@pytest.mark.parametrize(
    ("column_type", "value", "expected"),
    [
        (Date(), "2026-09-28", date(2026, 9, 28)),
        (Date(), date(2026, 9, 28), date(2026, 9, 28)),
        (DateTime(), "2026-09-28T09:30:00", NAIVE),
        (DateTime(), "2026-09-28 09:30", NAIVE),
        (DateTime(timezone=True), "2026-09-28T09:30:00+09:00", datetime(2026, 9, 28, 0, 30, tzinfo=UTC)),
        (DateTime(timezone=True), NAIVE, datetime(2026, 9, 28, 9, 30, tzinfo=UTC)),
        (Time(), "09:30", time(9, 30)),
        (Interval(), 90, timedelta(seconds=90)),
        (Interval(), timedelta(seconds=90), timedelta(seconds=90)),
        (Uuid(), str(ID), ID),
        (Uuid(), ID, ID),
        (Uuid(as_uuid=False), ID, str(ID)),
        (Uuid(as_uuid=False), str(ID), str(ID)),
        (Numeric(10, 2), "12.5", Decimal("12.50")),
        (Numeric(10, 2), 12.5, Decimal("12.50")),
        (Numeric(10, 2), 0.1 + 0.2, Decimal("0.30")),
        (Numeric(10, 2, asdecimal=False), "12.5", 12.5),
        (Float(), 7, 7.0),
        (Float(), "0.5", 0.5),
        (Integer(), 2**63 - 1, 2**63 - 1),
        (Boolean(), 1, True),
        (Enum(Size), "LARGE", Size.LARGE),
        (Enum(Size), "l", Size.LARGE),
        (Enum(Size), Size.SMALL, Size.SMALL),
        (Enum("s", "l"), "l", "l"),
        (JSON(), {"a": (1, date(2026, 9, 28))}, {"a": [1, "2026-09-28"]}),
        (LargeBinary(), bytearray(b"x"), b"x"),
        (String(), "x", "x"),
        (Trimmed(), "x", "x"),
        (Date(), None, None),
    ],
)
def test_from_json(column_type, value, expected):
    """What a tool or a caller gives becomes what the column takes."""
    found = from_json("move.field", value, column_type)
    assert (expected, type(expected)) == (found, type(found))


@pytest.mark.parametrize(
    ("column_type", "value", "words"),
    [
        (Date(), "soon", "a str was given that is no date; pass a date"),
        (Date(), NAIVE, "a datetime was given that is no date"),
        (DateTime(), "2026-09-28T09:30:00+09:00", "has a time zone, and its column keeps none; pass it without one"),
        (Time(), time(9, 30, tzinfo=UTC), "has a time zone, and its column keeps none; pass it without one"),
        (Time(), 9, "an int was given that is no time"),
        (Uuid(), "x", "a str was given that is no uuid"),
        (Uuid(), 7, "an int was given that is no uuid"),
        (Numeric(10, 2), "much", "a str was given that is no numeric"),
        (Numeric(10, 2), "Infinity", "a str was given that is no numeric"),
        (Numeric(10, 2), True, "a bool was given that is no numeric"),
        (Float(), "nan", "is not a finite number"),
        (Float(), 10**400, "an int was given that is no float"),
        (Float(), float("inf"), "is not a finite number"),
        (Integer(), "7", "a str was given that is no integer"),
        (Integer(), True, "a bool was given that is no integer"),
        (Integer(), 2**63, "is an integer of more than 64 bits; pass a smaller one"),
        (Boolean(), 2, "an int was given that is no boolean"),
        (Boolean(), "true", "a str was given that is no boolean"),
        (Enum(Size), "XL", "is none of the enum's names; pass one of: 'SMALL', 'LARGE'"),
        (Enum("s", "l"), ["XL"], "is none of the enum's names; pass one of: 's', 'l'"),
        (Enum(Size), ["XL"], "is none of the enum's names"),
        (JSON(), {1}, "holds a set, which does not fit JSON"),
        (LargeBinary(), "x", "a str was given that is no largebinary"),
        (String(), 7, "an int was given that is no string"),
        (String(), "a\0", "holds a NUL character"),
        (Trimmed(), "\ud800", "holds a lone surrogate"),
    ],
)
def test_what_does_not_fit_the_column_is_named(column_type, value, words):
    """Field, problem and way out are told; neither the message nor what it is chained to holds the value."""
    with pytest.raises(InvalidInput, match=f"^move.field: {words}") as raised:
        from_json("move.field", value, column_type)
    assert (None, None) == (raised.value.__cause__, raised.value.__context__)


def test_json_values_are_compared_with_their_types():
    """1, 1.0 and true are three values; the order of keys is none."""
    assert same({"a": 1, "b": [2]}, {"b": [2], "a": 1})
    assert [False] * 4 == [same(1, 1.0), same(1, True), same("1", 1), same(None, "")]
    assert '{"a":1,"b":"\\u00fc"}' == canonical({"b": "ü", "a": 1})


@pytest.mark.parametrize("id_", ["m1", "x" * 255, "é" * 127, "a b ", " ", "\x7f", "漢", "😀"])
def test_ids_that_every_database_keeps(id_):
    """Up to 255 bytes of anything but control characters, compared byte for byte."""
    assert id_ == check_id("thread_id", id_)


@pytest.mark.parametrize(
    ("id_", "words"),
    [
        ("", "is empty; pass an id of 1 to 255 bytes"),
        ("x" * 256, "is 256 bytes long; use an id of at most 255 bytes"),
        ("漢" * 86, "is 258 bytes long"),
        ("a\x1f", "holds a control character"),
        ("\0", "holds a control character"),
        ("\ud800", "holds a lone surrogate; use an id that is valid Unicode"),
        (b"x", "is bytes, not a string; pass the id as a string"),
    ],
)
def test_ids_that_some_database_loses(id_, words):
    """They are refused by the argument's name, with the way out."""
    with pytest.raises(InvalidInput, match=f"^thread_id: {words}") as raised:
        check_id("thread_id", id_)
    assert None is raised.value.__context__


def test_an_empty_id_where_it_means_something():
    """A scope may be empty."""
    assert "" == check_id("scope", "", empty=True)


def test_bytes_round_trip():
    """Bytes are told as base64."""
    assert b64encode(bytes(range(256))).decode() == to_json("f", bytes(range(256)))
