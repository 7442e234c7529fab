"""INSERT .. SELECT .. WHERE NOT EXISTS, for databases without ON CONFLICT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, exists, insert, literal, select

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Table
    from sqlalchemy.sql.dml import Insert


def insert_unless_there(table: Table, values: Mapping[str, Any]) -> Insert:
    """
    Insert a row unless its primary key is there.

    A key that another transaction brings between the look and the insert is still a duplicate: each dialect
    adds the word that has it passed over.
    """
    key = [column == literal(values[column.name], column.type) for column in table.primary_key]
    row = select(*(_value(table, name, value).label(name) for name, value in values.items()))
    there = exists(select(1).select_from(table).where(*key))
    return insert(table).from_select(list(values), row.where(~there))


def _value(table: Table, name: str, value: Any) -> ColumnElement[Any]:
    """Take an expression, such as the database's clock, as it is."""
    if isinstance(value, ColumnElement):
        return value  # pyright: ignore[reportUnknownVariableType]
    return literal(value, table.c[name].type)
