"""Column types that behave the same on every database."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Index, LargeBinary, String, Text, case
from sqlalchemy.dialects import mysql, oracle
from sqlalchemy.types import TypeDecorator, TypeEngine

if TYPE_CHECKING:
    from sqlalchemy import Column, Dialect

KEY_BYTES = 255
"""Longest id in UTF-8 bytes: three of them and a BIGINT fit an InnoDB key (3,072 bytes)."""

_DECODER = json.JSONDecoder()

_ORACLE_EMPTY = "\x01"
"""Stands for '' on Oracle, which stores '' as NULL; ids may not hold control characters."""


class KeyText(TypeDecorator[str]):
    """Text compared byte for byte: case and trailing spaces count, '' is a value (also on Oracle)."""

    impl = String(KEY_BYTES)
    cache_ok = True

    def __init__(self, length: int = KEY_BYTES) -> None:
        """Set the longest value in UTF-8 bytes."""
        super().__init__()
        self.length = length

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the type: VARBINARY on MySQL and MariaDB, whose binary collations differ and may pad."""
        if dialect.name in ("mysql", "mariadb"):
            return dialect.type_descriptor(mysql.VARBINARY(self.length))
        if dialect.name == "oracle":
            return dialect.type_descriptor(oracle.VARCHAR2(self.length))
        return dialect.type_descriptor(String(self.length))

    def bind_processor(self, dialect: Dialect) -> Any:
        """Encode for the database, where it takes no text as it is."""
        if dialect.name in ("mysql", "mariadb"):
            return _encoded
        if dialect.name == "oracle":
            return _without_empty
        return None

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:  # noqa: ARG002 - SQLAlchemy's signature
        """Decode from the database: None, and no call for each of many values, where it gives text as it is."""
        if dialect.name in ("mysql", "mariadb"):
            return _decoded
        if dialect.name == "oracle":
            return _with_empty
        return None


def _encoded(value: str | None) -> bytes | None:
    return None if value is None else value.encode()


def _decoded(value: Any) -> Any:
    return value.decode() if isinstance(value, (bytes, bytearray)) else value


def _without_empty(value: str | None) -> str | None:
    return _ORACLE_EMPTY if value == "" else value


def _with_empty(value: str | None) -> str | None:
    return "" if value == _ORACLE_EMPTY else value


class JsonText(TypeDecorator[Any]):
    """JSON kept as text, keys sorted: equality and order of JSON differ between databases, text does not."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the type: MySQL's TEXT ends at 64 KiB."""
        if dialect.name in ("mysql", "mariadb"):
            return dialect.type_descriptor(mysql.LONGTEXT(charset="ascii", collation="ascii_bin"))
        return dialect.type_descriptor(Text())

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Encode as ASCII, so that NUL and lone surrogates are escapes and no server refuses them."""
        if value is None:
            return None
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:  # noqa: ARG002 - as above
        """Decode."""
        return _parsed


def _parsed(value: str | None) -> Any:
    if value is None:
        return None
    try:
        # What `process_bind_param` wrote has no space around it; to look for some takes longer than to read the rest.
        found, end = _DECODER.raw_decode(value)
    except ValueError:
        return _DECODER.decode(value)
    return found if end == len(value) else _DECODER.decode(value)


class Blob(TypeDecorator[bytes]):
    """Bytes without a small limit: MySQL's BLOB ends at 64 KiB."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the type."""
        if dialect.name in ("mysql", "mariadb"):
            return dialect.type_descriptor(mysql.LONGBLOB())
        return dialect.type_descriptor(LargeBinary())


CELL_TEXT = Text().with_variant(LargeBinary(), "sqlite")
"""What a cell is cast to that cannot be read otherwise; SQLite's text need not be text, so its bytes are asked for."""

Micros = BigInteger
"""UTC microseconds: time zones and precision of timestamps differ between databases."""


def unique_once_set(name: str, key: Column[Any], value: Column[Any]) -> tuple[Index, ...]:
    """
    Index `(key, value)`, unique where the value is set; NULLs do not count.

    Oracle leaves out of an index only entries that are NULL as a whole, and would take two rows `(key, NULL)`
    for duplicates. There the key is made NULL too, and a plain index beside it serves the reads.
    """
    only_set = case((value.is_not(None), key))
    return (
        Index(name, key, value, unique=True).ddl_if(callable_=_is_not_oracle),
        Index(name, only_set, value, unique=True).ddl_if(dialect="oracle"),
        Index(f"{name}_all", key, value).ddl_if(dialect="oracle"),
    )


def _is_not_oracle(*_: object, dialect: Dialect, **__: object) -> bool:
    return dialect.name != "oracle"
