"""Between database values and JSON values: the same canonical form in events, rows, receipts and prompts."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from sqlalchemy import BINARY, JSON, VARBINARY, Date, DateTime, Interval, LargeBinary, Numeric, Time, Uuid
from sqlalchemy import Enum as EnumType
from sqlalchemy.sql.elements import ClauseElement
from sqlalchemy.types import Boolean, Float, Integer, String, TypeDecorator

from abreast.errors import InvalidInput
from abreast.sql.columns import KEY_BYTES
from abreast.sql.plain import is_plain_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy.types import TypeEngine

M = TypeVar("M", datetime, time)

_FIRST_PRINTABLE = " "
_MOST_DIGITS = 2_000
_MOST_NAMES = 30
_MOST_NESTED = 100
BINARY_TYPES = (LargeBinary, BINARY, VARBINARY)
LARGEST_INTEGER = 2**63 - 1
"""Highest number that every database keeps in a BIGINT; the lowest is one further from 0."""


def check_id(name: str, value: object, *, empty: bool = False) -> str:
    """
    Give an id back if every database can keep it byte for byte.

    Raises:
        InvalidInput: It is no string, empty, longer than 255 bytes, or holds control characters.
    """
    if not isinstance(value, str):
        raise InvalidInput(name, f"is {type(value).__name__}, not a string", "pass the id as a string")
    if not value and not empty:
        raise InvalidInput(name, "is empty", "pass an id of 1 to 255 bytes")
    if is_plain_id(value):
        return value
    if any(character < _FIRST_PRINTABLE for character in value):
        raise InvalidInput(name, "holds a control character (NUL to U+001F)", "use an id without it")
    length = _utf8_length(value)
    if length is None:
        raise InvalidInput(name, "holds a lone surrogate", "use an id that is valid Unicode")
    if length > KEY_BYTES:
        raise InvalidInput(name, f"is {length} bytes long", f"use an id of at most {KEY_BYTES} bytes")
    return value


def to_json(name: str, value: Any, column_type: TypeEngine[Any] | None = None) -> Any:
    """
    Turn a database value into its JSON value.

    Dates, times, UUIDs and Decimals become strings, an Enum its name. A point in time of a column with a time
    zone is written in UTC, whatever zone the session has; a number of a column without a scale has no padding.

    Raises:
        InvalidInput: The value has no JSON form (NaN, an unknown type, more than 100 levels) or text that no
            database keeps (NUL).
    """
    kind: type[Any] = type(cast("object", value))
    if value is None or kind is bool or kind is int:
        return value
    if kind is str:
        return _text(name, value)
    if isinstance(value, (dict, list, tuple)):
        _check_depth(name, value)
    if isinstance(value, Enum) and isinstance(column_type, EnumType):
        return value.name
    if isinstance(value, datetime) and isinstance(column_type, DateTime) and column_type.timezone:
        return _utc_text(name, value)
    if isinstance(value, Decimal) and isinstance(column_type, Numeric) and column_type.scale is None:
        return _without_padding(_decimal(name, value))
    return _json(name, value)


def _json(name: str, value: Any) -> Any:
    """Write a value that was looked at, or one inside of it."""
    if value is None or value is True or value is False:
        return value
    for kinds, convert in _CONVERSIONS:
        if isinstance(value, kinds):
            return convert(name, value)
    raise InvalidInput(
        name,
        f"holds a {type(value).__name__}, which does not fit JSON",
        "store a JSON value, or do not expose the field",
    )


def stored_to_json(name: str, value: Any, column_type: TypeEngine[Any]) -> Any:
    """Turn what a column holds into a JSON value; what has none, put there past the log, is written as text."""
    try:
        return to_json(name, value, column_type)
    except InvalidInput:
        kind: Any = type(cast("object", value))
        told = not issubclass(kind, (dict, list, tuple, str)) and "__str__" in vars(kind)
        return str(value) if told else f"({kind.__name__} that does not fit JSON)"


def canonical(value: Any) -> str:
    """Write a JSON value so that equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def same(first: Any, second: Any) -> bool:
    """Say whether two JSON values are the same; 1, 1.0 and true are three values."""
    return canonical(first) == canonical(second)


def from_json(name: str, value: Any, column_type: TypeEngine[Any]) -> Any:
    """
    Turn a caller's value, native or JSON, into what the column's type takes.

    A tool gives dates as text; the column wants a `date`. Values of other types are passed through.

    Raises:
        InvalidInput: The value cannot be read as the column's type.
    """
    if value is None:
        return None
    if isinstance(value, ClauseElement) or hasattr(value, "__clause_element__"):
        raise InvalidInput(name, "is a SQL expression, whose value no event could tell", "pass the value itself")
    if isinstance(value, Enum) and isinstance(value, (str, int)) and not isinstance(column_type, EnumType):
        value = value.value
    impl = _implementation(value, column_type)
    if isinstance(value, str):
        _text(name, value)
    if isinstance(value, float):
        _finite(name, value)
    for kinds, read in _READERS:
        if isinstance(impl, kinds):
            return _read(name, read, value, impl)
    return value


def _implementation(value: Any, column_type: TypeEngine[Any]) -> Any:
    """Give the type that reads a value; None for a value of a decorator's own kind, which only that one can read."""
    # SQLAlchemy's Interval is a decorator of DateTime, but to whoever uses it no DateTime.
    if not isinstance(column_type, TypeDecorator) or isinstance(column_type, Interval):
        return column_type
    held = column_type.impl_instance
    own = isinstance(held, BINARY_TYPES) or not isinstance(value, (str, int, float, list, dict))
    return None if own else held


def _read(name: str, read: Callable[[Any, Any], Any], value: Any, impl: Any) -> Any:
    problem = f"{_with_article(type(value).__name__)} was given that is no {_type_name(impl)}"
    way_out = f"pass {_with_article(_type_name(impl))}"
    try:
        return read(value, impl)
    except InvalidInput as error:
        problem, way_out = error.problem, error.way_out
    except RecursionError:
        problem = "is nested too deeply"
    except (ValueError, TypeError, AttributeError, ArithmeticError, KeyError):
        pass
    # Raised out here, where it is not chained to the error above, whose text can hold the value.
    raise InvalidInput(name, problem, way_out)


def _type_name(impl: Any) -> str:
    return type(impl).__name__.lower()


def _with_article(name: str) -> str:
    # A "uuid" is spoken with a consonant.
    return f"an {name}" if name[0].lower() in "aeio" or name.startswith("un") else f"a {name}"


def _text(name: str, value: str) -> str:
    if "\0" in value:
        raise InvalidInput(name, "holds a NUL character, which PostgreSQL cannot store", "remove it")
    if _utf8_length(value) is None:
        raise InvalidInput(name, "holds a lone surrogate", "pass valid Unicode text")
    return value


def _utf8_length(value: str) -> int | None:
    """Count a text's bytes in UTF-8; None where it has none. The codec's own error would hold the text."""
    if value.isascii():
        return len(value)
    try:
        return len(value.encode())
    except UnicodeEncodeError:
        return None


def _finite(name: str, value: float) -> float:
    if not math.isfinite(value):
        raise InvalidInput(name, "is not a finite number, which does not fit JSON", "store a number or None")
    return value


def _key(name: str, key: Any) -> str:
    if not isinstance(key, str):
        raise InvalidInput(name, "holds a JSON object whose key is not text", "use text keys")
    return _text(name, key)


def _enum(name: str, value: Enum) -> Any:
    """Give the name, or the text or number of an enum that is one."""
    return _json(name, value.value) if isinstance(value, (str, int)) else value.name


def _object(name: str, value: dict[Any, Any]) -> dict[str, Any]:
    return {_key(name, key): _json(name, item) for key, item in value.items()}


def _decimal(name: str, value: Decimal) -> str:
    if not value.is_finite():
        raise InvalidInput(name, "is not a finite number, which does not fit JSON", "store a number or None")
    # Written out it has as many digits as its exponent says.
    return format(value, "f") if abs(value.adjusted()) <= _MOST_DIGITS else str(value)


def _without_padding(number: str) -> str:
    """Take off the zeros that databases add differently where a column has no scale."""
    return number.rstrip("0").rstrip(".") if "." in number else number


_CONVERSIONS: tuple[tuple[type | tuple[type, ...], Callable[[str, Any], Any]], ...] = (
    (Enum, _enum),
    (str, _text),
    (int, lambda _name, value: value),
    (float, _finite),
    (dict, _object),
    ((list, tuple), lambda name, value: [_json(name, item) for item in value]),
    ((datetime, date, time), lambda _name, value: value.isoformat()),
    (Decimal, _decimal),
    (UUID, lambda _name, value: str(value)),
    (timedelta, lambda _name, value: value.total_seconds()),
    ((bytes, bytearray, memoryview), lambda _name, value: b64encode(bytes(value)).decode()),
)


def _check_depth(name: str, value: Any) -> None:
    """Refuse what readers of JSON would give up on, each at a depth of its own."""
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > _MOST_NESTED:
            raise InvalidInput(name, "is nested too deeply", f"nest at most {_MOST_NESTED} levels")
        level = [item for container in level for item in _contained(container)]


def _contained(value: Any) -> list[Any]:
    container: Any = value
    items = container.values() if isinstance(value, dict) else container
    return [item for item in items if isinstance(item, (dict, list, tuple))]


def _utc_text(name: str, value: datetime) -> str:
    try:
        return _in_utc(value).isoformat()
    except OverflowError:
        pass
    raise InvalidInput(name, "is at an end of the calendar", "pass another point in time")


def _in_utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _as_date(value: Any, _impl: Any) -> date:
    if isinstance(value, datetime) or not isinstance(value, (str, date)):
        raise TypeError
    return date.fromisoformat(value) if isinstance(value, str) else value


def _as_datetime(value: Any, impl: Any) -> datetime:
    moment = datetime.fromisoformat(value) if isinstance(value, str) else _instance(value, datetime)
    if impl.timezone:
        return _in_utc(moment)
    return _without_zone(moment, "DateTime")


def _as_time(value: Any, impl: Any) -> time:
    if not isinstance(value, (str, time)):
        raise TypeError
    moment = time.fromisoformat(value) if isinstance(value, str) else value
    return moment if impl.timezone else _without_zone(moment, "Time")


def _without_zone(moment: M, kind: str) -> M:
    if moment.tzinfo is None:
        return moment
    problem = "has a time zone, and its column keeps none"
    raise InvalidInput("value", problem, f"pass it without one, or make the column {kind}(timezone=True)")


def _as_interval(value: Any, _impl: Any) -> timedelta:
    return timedelta(seconds=value) if isinstance(value, (int, float)) else _instance(value, timedelta)


def _as_number(value: Any, impl: Any) -> Any:
    if isinstance(value, bool):
        raise TypeError
    if not impl.asdecimal:
        return _finite("value", float(value))
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
        raise ValueError
    if impl.scale is None:
        return number
    with localcontext() as context:
        # As databases do it: half away from zero, and with as many digits as there are.
        context.prec, context.rounding = _MOST_DIGITS, ROUND_HALF_UP
        rounded = number.quantize(Decimal(1).scaleb(-impl.scale))
    if impl.precision is not None and rounded and rounded.adjusted() >= impl.precision - impl.scale:
        problem = f"has more than {impl.precision - impl.scale} digits before the point, too many for this numeric"
        raise InvalidInput("value", problem, "pass a smaller number")
    return rounded


def _as_integer(value: Any, _impl: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    if not -LARGEST_INTEGER <= value + 1 <= LARGEST_INTEGER + 1:
        raise InvalidInput("value", "is an integer of more than 64 bits", "pass a smaller one")
    return value


def _as_boolean(value: Any, _impl: Any) -> bool:
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise TypeError


def _as_enum(value: Any, impl: Any) -> Any:
    if impl.enum_class is None:
        if value not in impl.enums:
            raise _no_member(impl.enums)
        return value
    if isinstance(value, impl.enum_class):
        return value
    members = impl.enum_class.__members__
    if isinstance(value, str) and value in members:
        return members[value]
    try:
        return impl.enum_class(value)
    except (ValueError, TypeError):
        pass
    # Raised out here: the error above holds the value.
    raise _no_member(list(members))


def _no_member(names: Sequence[str]) -> InvalidInput:
    listed = ", ".join(map(repr, names[:_MOST_NAMES]))
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return InvalidInput("value", "is none of the enum's names", f"pass one of: {listed}{more}")


def _as_json(value: Any, _impl: Any) -> Any:
    return to_json("value", value)


def _as_uuid(value: Any, impl: Any) -> Any:
    found = value if isinstance(value, UUID) else UUID(_instance(value, str))
    return found if impl.as_uuid else str(found)


def _as_bytes(value: Any, _impl: Any) -> bytes:
    return bytes(_instance(value, (bytes, bytearray, memoryview)))


def _instance(value: Any, kind: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError
    return value


_READERS: tuple[tuple[type[Any] | tuple[type[Any], ...], Callable[[Any, Any], Any]], ...] = (
    (EnumType, _as_enum),
    (Date, _as_date),
    (DateTime, _as_datetime),
    (Time, _as_time),
    (Interval, _as_interval),
    (Uuid, _as_uuid),
    (Float, _as_number),
    (Numeric, _as_number),
    (Boolean, _as_boolean),
    (Integer, _as_integer),
    (JSON, _as_json),
    (BINARY_TYPES, _as_bytes),
    (String, lambda value, _impl: _instance(value, str)),
)
