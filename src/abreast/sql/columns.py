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

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """Encode for the database."""
        if value is None:
            return None
        if dialect.name in ("mysql", "mariadb"):
            return value.encode()
        if dialect.name == "oracle" and value == "":
            return _ORACLE_EMPTY
        return value

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Decode from the database."""
        if isinstance(value, (bytes, bytearray)):
            return value.decode()
        if dialect.name == "oracle" and value == _ORACLE_EMPTY:
            return ""
        return value  # type: ignore[no-any-return]


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

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002 - as above
        """Decode."""
        return None if value is None else json.loads(value)


class Blob(TypeDecorator[bytes]):
    """Bytes without a small limit: MySQL's BLOB ends at 64 KiB."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the type."""
        if dialect.name in ("mysql", "mariadb"):
            return dialect.type_descriptor(mysql.LONGBLOB())
        return dialect.type_descriptor(LargeBinary())


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
