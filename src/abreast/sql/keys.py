"""Read entity ids back: which key columns allow it, and how each kind is read."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sqlalchemy import Date, DateTime, Interval, LargeBinary, Numeric, Time, Uuid
from sqlalchemy import Enum as EnumType
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.types import Boolean, Float, Integer, String, TypeDecorator

from abreast.sql.values import BINARY_TYPES, from_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.types import TypeEngine

_WHOLE_NUMBER = re.compile(r"-?\d{1,24}")
_UUID_BYTES = 16
_KINDS = (EnumType, Date, DateTime, Time, Interval, Uuid, Float, Numeric, Boolean, Integer, String, *BINARY_TYPES)
_KINDS_OF_VALUES: dict[type[Any], type[Any]] = {
    UUID: Uuid,
    str: String,
    int: Integer,
    bytes: LargeBinary,
    timedelta: Interval,
}


def from_id(name: str, part: Any, column_type: TypeEngine[Any]) -> Any:
    """
    Turn a part of a key into what the column's type takes; it may be written as in an entity id.

    Raises:
        InvalidInput: The part cannot be read as the column's type.
    """
    kind = key_kind(column_type)
    if not isinstance(part, str) or kind is None:
        return from_json(name, part, column_type)
    read = next((read for kinds, read in _ID_READERS if issubclass(kind, kinds)), None)
    try:
        native = part if read is None else read(part)
    except (ValueError, OverflowError):
        native = None
    if native is not None:
        return from_json(name, native, column_type)
    # What another type is written as in entity ids, this one refuses with words of its own.
    return from_json(name, part, kind())


def key_kind(column_type: TypeEngine[Any]) -> type[Any] | None:
    """Give the type of whose values a key column's entity ids are made; None if they cannot be read back."""
    if isinstance(column_type, TypeDecorator) and not isinstance(column_type, Interval):
        held = column_type.impl_instance
        return _made_of_bytes(column_type) if isinstance(held, BINARY_TYPES) else key_kind(held)
    return next((kind for kind in _KINDS if isinstance(column_type, kind)), None) or _python_kind(column_type)


def _python_kind(column_type: TypeEngine[Any]) -> type[Any] | None:
    """Judge a database's own type by the values it says it gives."""
    try:
        return _KINDS_OF_VALUES.get(column_type.python_type)
    except NotImplementedError:
        return None


def _made_of_bytes(column_type: TypeDecorator[Any]) -> type[Any] | None:
    """Find out what a decorator makes of bytes, by a sample of them: UUIDs in most schemas."""
    length = getattr(column_type.impl_instance, "length", None) or _UUID_BYTES
    try:
        made = column_type.process_result_value(bytes(range(1, length + 1)), DefaultDialect())
    except Exception:  # noqa: BLE001 - the application's own code, which need not take these bytes
        return None
    return next((kind for values, kind in _KINDS_OF_VALUES.items() if isinstance(made, values)), None)


def _id_bytes(text: str) -> bytes:
    found = b64decode(text, validate=True)
    if b64encode(found).decode() != text:
        raise ValueError
    return found


def _id_boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError
    return text == "true"


_ID_READERS: tuple[tuple[type[Any] | tuple[type[Any], ...], Callable[[str], Any]], ...] = (
    (Boolean, _id_boolean),
    (Integer, lambda text: int(text) if _WHOLE_NUMBER.fullmatch(text) else text),
    (Interval, lambda text: timedelta(seconds=float(text))),
    (Uuid, UUID),
    (BINARY_TYPES, _id_bytes),
)
