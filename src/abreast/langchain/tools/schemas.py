"""What the tools of an entity take, from the columns of its table."""

from __future__ import annotations

import json
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator
from sqlalchemy import JSON, Date, DateTime, Interval, LargeBinary, Numeric, Time, Uuid
from sqlalchemy import Enum as EnumType
from sqlalchemy.types import Boolean, Float, Integer, String, TypeDecorator

from abreast.errors import InvalidEntity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Column

    from abreast.sql.mapping import EntityTable

_TYPES: tuple[tuple[type[Any], Any], ...] = (
    (Date, date),
    (DateTime, datetime),
    (Time, time),
    (Interval, float),
    (Uuid, UUID),
    (Float, float),
    (Numeric, float | str),
    (Boolean, bool),
    (Integer, int),
    (JSON, Any),
)


_RUNTIME = "runtime"


class Fields(BaseModel):
    """Values of fields by name, as far as they were given."""

    model_config = ConfigDict(extra="forbid")

    def given(self, *, plain: bool = False) -> dict[str, Any]:
        """Give the values that were passed, native or as JSON; fields that were left out are missing."""
        return self.model_dump(by_alias=True, exclude_unset=True, mode="json" if plain else "python")


def _written_id(value: object) -> object:
    """Take an id as a model may send it: a number, or the list that a composite id looks like."""
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return str(value) if type(value) is int else value


EntityId = Annotated[str, BeforeValidator(_written_id)]


class Arguments(BaseModel):
    """What a tool takes; a name it does not know is refused, as the model would take its result for filtered."""

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, given: Any) -> Any:
        # LangChain passes the runtime along, so that extra="forbid" would refuse every call.
        names = set(cast("dict[str, object]", given)) if isinstance(given, dict) else set[str]()
        unknown = sorted(names - set(cls.model_fields) - {_RUNTIME})
        if unknown:
            raise ValueError(f"{unknown[0]!r} is unknown: it takes {', '.join(cls.model_fields)}")
        return cast("object", given)


class Row(Arguments):
    """A row and the version it was read with."""

    id: EntityId = Field(description="Id of the row, as it stands in CURRENT.")
    expected_version: int = Field(description="The row's version as you last read it; a changed row is refused.")


def update_arguments(entity: EntityTable, writable: Sequence[str]) -> type[BaseModel]:
    """Make the arguments of an update: the row, and only the fields that change."""
    changes = _fields(entity, f"{entity.name} changes", dict.fromkeys(writable, False))
    told = Field(description="New values by field; fields left out stay as they are.")
    return create_model(f"update_{entity.name}", __base__=Row, changes=(changes, told))


def create_arguments(entity: EntityTable, writable: Sequence[str]) -> type[BaseModel]:
    """
    Make the arguments of an insert; keys that abreast or the database makes are left out.

    Raises:
        InvalidEntity: A value is needed that nobody gives.
    """
    wanted = {name: _is_needed(entity.fields[name]) for name in (*_given_keys(entity, writable), *writable)}
    parent = None if not entity.hops else entity.names[entity.hops[0].column]
    if parent is not None:
        wanted = {parent: True, **wanted}
    missing = [name for name in entity.fields if name not in wanted and not _fills_itself(entity, name)]
    if missing:
        raise InvalidEntity(
            entity.name,
            f"a tool cannot create it: {missing[0]!r} needs a value",
            "expose the field, name it in fields=, give its column a default, or do not allow create",
        )
    told = Field(description="Values by field.")
    values = (_fields(entity, f"{entity.name} values", wanted), told)
    return create_model(f"create_{entity.name}", __base__=Arguments, values=values)


def makes_key(entity: EntityTable) -> str | None:
    """Give the key field that a tool fills in when it creates a row; None where the caller or database does."""
    if len(entity.key) != 1:
        return None
    name = entity.key[0]
    column = entity.fields[name]
    return name if isinstance(_impl(column), (String, Uuid)) and _is_needed(column) else None


def is_writable(entity: EntityTable, name: str) -> bool:
    """Say whether a tool may write an exposed field: not the key, the version, or what places the row."""
    placing = entity.own_workspace_field or entity.names[entity.hops[0].column]
    column = entity.fields[name]
    owned = (*entity.key, entity.version_field, placing)
    return name not in owned and not isinstance(_impl(column), LargeBinary) and column.computed is None


def _given_keys(entity: EntityTable, writable: Sequence[str]) -> list[str]:
    made = makes_key(entity)
    return [
        name
        for name in entity.key
        if name != made and name not in writable and name != entity.own_workspace_field and not _counts(entity, name)
    ]


def _fills_itself(entity: EntityTable, name: str) -> bool:
    column = entity.fields[name]
    filled = name in (entity.version_field, entity.own_workspace_field, makes_key(entity))
    return filled or not _is_needed(column) or _counts(entity, name)


def _counts(entity: EntityTable, name: str) -> bool:
    return entity.fields[name] is entity.table.autoincrement_column


def _is_needed(column: Column[Any]) -> bool:
    return not column.nullable and column.default is None and column.server_default is None


def _fields(entity: EntityTable, title: str, wanted: dict[str, bool]) -> type[Fields]:
    # Fields get names of their own: a column may be called like something that every model has.
    definitions: dict[str, Any] = {
        f"field_{place}": (_type(entity.fields[name]), _field(entity, name, needed=needed))
        for place, (name, needed) in enumerate(wanted.items())
    }
    return create_model(title.replace(" ", "_"), __base__=Fields, **definitions)


def _field(entity: EntityTable, name: str, *, needed: bool) -> Any:
    label = entity.entity.labels.get(name)
    return Field(alias=name, description=label) if needed else Field(default=None, alias=name, description=label)


def _type(column: Column[Any]) -> Any:
    found = _plain_type(_impl(column))
    return found | None if column.nullable and found is not Any else found


def _plain_type(impl: Any) -> Any:
    if isinstance(impl, EnumType):
        names = impl.enums if impl.enum_class is None else list(impl.enum_class.__members__)
        return Literal[tuple(names)]
    for kind, found in _TYPES:
        if isinstance(impl, kind):
            return found
    length = getattr(impl, "length", None)
    if isinstance(impl, String):
        return Annotated[str, Field(max_length=length)] if length else str
    return Any


def _impl(column: Column[Any]) -> Any:
    kind = column.type
    return kind.impl_instance if isinstance(kind, TypeDecorator) else kind
