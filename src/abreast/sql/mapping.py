"""Find the table, key, workspace and version behind an `Entity`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import (
    Column,
    ColumnElement,
    Integer,
    Table,
    inspect,
)
from sqlalchemy.exc import NoInspectionAvailable
from sqlalchemy.orm import Mapper, object_mapper

from abreast.errors import InvalidEntity, InvalidInput, UnknownEntity, UnknownField
from abreast.model.entity import Entity, check_shown
from abreast.sql.keys import from_id, key_kind
from abreast.sql.paths import WorkspacePath, bound
from abreast.sql.plain import are_json, is_plain_id, plain_ids
from abreast.sql.values import check_id, from_json, stored_to_json, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class EntityTable(WorkspacePath):
    """
    An entity together with the table it stands for.

    Attributes:
        fields: The table's columns by field name; field names are the mapper's attribute names.
        key: Names of the fields that identify a row.
        version_field: Name of the version column's field; None where abreast keeps the versions.
        shown_values: Names of the fields whose values are shown.
        named: Names of the fields whose changes are told: these, and the hidden ones.
        secrets: Names of the fields that are not even named.
        hops: Foreign keys to follow until the table that holds the workspace column.
        workspace_column: The column that holds the workspace id.
    """

    def __init__(self, entity: Entity) -> None:
        """
        Resolve an entity.

        Raises:
            InvalidEntity: A field, the key, the version column or the path to the workspace does not exist.
        """
        self.entity = entity
        self.name = check_id("Entity name", entity.name)
        self.mapper, self.table, self.fields = _columns(entity)
        super().__init__(self.name, self.table, self.fields, entity.workspace, self._names_of)
        self.key = entity.key or self._primary_key()
        self.version_field = self._version_field()
        self._check_named()
        self.names = {column: name for name, column in self.fields.items()}
        self.shown_values = frozenset(entity.expose)
        self.secrets = frozenset(entity.secret)
        self.named = self.shown_values.union(entity.hidden)

    @property
    def own_workspace_field(self) -> str | None:
        """Name of the field that holds the workspace id, where the row itself has it."""
        return None if self.hops else self.names[self.workspace_column]

    @property
    def key_is_primary(self) -> bool:
        """Whether the key tells a row from those of all workspaces."""
        primary = [self.names[column] for column in self.table.primary_key if column in self.names]
        return bool(primary) and set(primary) <= set(self.key)

    def column(self, field: str) -> Column[Any]:
        """
        Give a field's column.

        Raises:
            UnknownField: The table has no such field.
        """
        if field not in self.fields:
            raise UnknownField(self.name, field, sorted(set(self.fields) - self.secrets))
        return self.fields[field]

    def key_values(self, key: object) -> dict[str, Any]:
        """
        Read a row's key as the caller gives it: a value, a tuple or a mapping by field name, or an entity id.

        Raises:
            InvalidInput: It has other parts than the entity's key, or one of them is None.
        """
        parts = self._key_parts(key)
        for field, part in zip(self.key, parts, strict=True):
            if part is None:
                raise InvalidInput(f"{self.name}.{field}", "is missing", "pass the key of a row")
        return {
            field: from_id(f"{self.name}.{field}", part, self.fields[field].type)
            for field, part in zip(self.key, parts, strict=True)
        }

    def entity_id(self, values: Mapping[str, Any]) -> str:
        """Write a row's key as its entity id: the value itself, or a JSON list for composite keys."""
        first = values[self.key[0]]
        if len(self.key) == 1 and type(first) in (str, int) and is_plain_id(plain := str(first)):
            return plain
        parts = [to_json(f"{self.name}.{field}", values[field], self.fields[field].type) for field in self.key]
        if len(parts) == 1:
            text = parts[0] if isinstance(parts[0], str) else json.dumps(parts[0])
        else:
            text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
        return check_id(f"{self.name}.{'+'.join(self.key)}", text)

    def entity_ids(self, columns: Mapping[str, Sequence[Any]]) -> list[str] | list[str | None]:
        """Write the keys of many rows as entity ids, None where a key makes none; they are passed by column."""
        keys = [columns[field] for field in self.key]
        plain = plain_ids(keys[0]) if len(keys) == 1 else None
        if plain is not None:
            return plain
        return [self._id_of(dict(zip(self.key, parts, strict=True))) for parts in zip(*keys, strict=True)]

    def key_condition(self, key: Mapping[str, Any]) -> list[ColumnElement[bool]]:
        """Build the condition that finds one row."""
        return [self.fields[field] == bound(value, self.fields[field]) for field, value in key.items()]

    def readable(self, extra: Iterable[str] = ()) -> dict[str, Column[Any]]:
        """Name what is read of a row: what is exposed and what finds it; hidden fields only where `extra` says so."""
        own = self.own_workspace_field or self.names[self.hops[0].column]
        version = () if self.version_field is None else (self.version_field,)
        return {
            name: self.fields[name] for name in dict.fromkeys((*self.key, own, *version, *self.entity.expose, *extra))
        }

    def json_value(self, field: str, value: Any) -> Any:
        """Give a field's stored value as JSON value; one that has none, as NaN, is written as text."""
        if value is None or type(value) is int:
            return value
        return stored_to_json(f"{self.name}.{field}", value, self.fields[field].type)

    def exposed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Give those exposed fields of a row that are known, as JSON values in the order of `expose`."""
        return {field: self.json_value(field, values[field]) for field in self.entity.expose if field in values}

    def all_exposed(self, columns: Mapping[str, Sequence[Any]], count: int) -> list[dict[str, Any]]:
        """Give the exposed fields of many rows, as `exposed` does; they are passed by column."""
        shown = [
            columns[field] if are_json(columns[field]) else [self.json_value(field, value) for value in columns[field]]
            for field in self.entity.expose
        ]
        rows = zip(*shown, strict=True) if shown else [()] * count
        return [dict(zip(self.entity.expose, values, strict=True)) for values in rows]

    def instance_id(self, instance: object) -> str | None:
        """Write the key of a mapped object of this table as its entity id, without loading anything."""
        mapper: Mapper[Any] = object_mapper(instance)
        if self.table not in mapper.tables:
            return None
        attributes = {name: mapper.get_property_by_column(self.fields[name]).key for name in self.key}
        return self._id_of({name: vars(instance).get(key) for name, key in attributes.items()})

    def native(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """
        Turn a caller's fields into native values.

        Raises:
            UnknownField: A field does not exist.
            InvalidInput: A value does not fit its column.
        """
        return {
            field: from_json(f"{self.name}.{field}", value, self.column(field).type) for field, value in fields.items()
        }

    def _id_of(self, key: Mapping[str, Any]) -> str | None:
        try:
            return self.entity_id(key)
        except InvalidInput:
            return None

    def _names_of(self, table: Table) -> Mapping[str, Column[Any]]:
        """Name the columns of a table on the way to the workspace: by the attributes of its class, or as they are."""
        of_class: dict[str, Column[Any]] = {}
        for mapper in () if self.mapper is None else self.mapper.registry.mappers:
            if mapper.local_table is table and not mapper.single:
                of_class |= _attributes(mapper, table)
        return {**dict(table.c.items()), **of_class}

    def _key_parts(self, key: object) -> list[Any]:
        if isinstance(key, dict):
            named = cast("dict[str, Any]", key)
            if set(named) != set(self.key):
                raise self._bad_key()
            return [named[field] for field in self.key]
        composite = len(self.key) > 1
        if composite and isinstance(key, str) and key.startswith("["):
            key = _json_list(key)
        parts = list(cast("Sequence[Any]", key)) if isinstance(key, (tuple, list)) else [key]
        if len(parts) != len(self.key):
            raise self._bad_key()
        return parts

    def _bad_key(self) -> InvalidInput:
        return InvalidInput(
            f"{self.name} key",
            "has other parts than the entity's key",
            f"pass ({', '.join(self.key)}) in this order",
        )

    def _primary_key(self) -> tuple[str, ...]:
        names = [name for name, column in self.fields.items() if column.primary_key]
        key = tuple(name for name in names if self.fields[name] is not self.workspace_column) or tuple(names)
        if not key:
            raise InvalidEntity(
                self.name, "its table has no primary key", "pass key=[...] with fields that identify a row"
            )
        return key

    def _version_field(self) -> str | None:
        wanted = self.entity.version
        if wanted != "auto":
            return wanted
        declared = self.mapper.version_id_col if self.mapper is not None else None
        if declared is not None:
            return next(name for name, column in self.fields.items() if column is declared)
        return "version" if "version" in self.fields else None

    def _check_named(self) -> None:
        entity = self.entity
        ordered = tuple(name.lstrip("-") for name in entity.order_by)
        version = (self.version_field,) if self.version_field else ()
        named = (*entity.expose, *entity.hidden, *entity.secret, *self.key, *version, *ordered)
        unknown = [name for name in (*named, *entity.labels, *entity.formats) if name not in self.fields]
        if unknown:
            raise InvalidEntity(
                self.name,
                f"its table has no field {unknown[0]!r}",
                f"use one of: {', '.join(sorted(self.fields))}",
            )
        check_shown(entity, self.key, "is part of the key")
        check_shown(entity, version, "is the version")
        for name in self.key:
            if key_kind(self.fields[name].type) is None:
                raise InvalidEntity(
                    self.name,
                    f"an id made of its key column {name!r} cannot be read back",
                    "choose other fields by key=: text, numbers, dates, UUIDs, enums or bytes",
                )
        if version and not isinstance(self.column(version[0]).type, Integer):
            raise InvalidEntity(
                self.name,
                f"its version column {version[0]!r} is no integer",
                "pass version=None: abreast keeps the versions",
            )


class Catalog:
    """The entities of one log, found by name, class or table."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        """
        Resolve the entities.

        Raises:
            InvalidEntity: One is none or does not fit its table, or two have one name.
        """
        self.by_name: dict[str, EntityTable] = {}
        self._by_source: dict[int, EntityTable] = {}
        for entity in entities:
            if not isinstance(entity, Entity):
                raise InvalidEntity(_shown(entity), "is no Entity", "pass Entity(…, expose=[…]) for it")
            resolved = EntityTable(entity)
            if resolved.name in self.by_name:
                raise InvalidEntity(resolved.name, "two entities have this name", "pass name= to one of them")
            self.by_name[resolved.name] = resolved
            self._by_source.setdefault(id(entity.source), resolved)
            self._by_source.setdefault(id(resolved.table), resolved)

    def find(self, entity: object) -> EntityTable:
        """
        Find an entity by its name, mapped class or table.

        Raises:
            UnknownEntity: It was not given to the log.
        """
        if isinstance(entity, Entity):
            entity = entity.name
        found = self.by_name.get(entity) if isinstance(entity, str) else self._by_source.get(id(entity))
        if found is None:
            raise UnknownEntity(_shown(entity), list(self.by_name))
        return found

    def shown(self, entity_type: str, field: str) -> bool:
        """Say whether a change of a field makes a line: it is exposed, or hidden and so named."""
        found = self.by_name.get(entity_type)
        return found is not None and field in found.named


def _columns(entity: Entity) -> tuple[Mapper[Any] | None, Table, dict[str, Column[Any]]]:
    source: Any = entity.source
    if isinstance(source, Table):
        return None, cast("Any", source), {column.key: column for column in cast("Any", source).columns}
    try:
        mapper: Any = inspect(source)
    except NoInspectionAvailable:
        mapper = None
    if not isinstance(mapper, Mapper) or not isinstance(cast("Any", mapper).local_table, Table):
        raise InvalidEntity(entity.name, "its source is neither a mapped class nor a Table", "pass one of these")
    mapped: Mapper[Any] = cast("Any", mapper)
    if mapped.single:
        raise InvalidEntity(
            entity.name,
            "its class shares a table with others (single-table inheritance)",
            "pass the base class or the Table, and where= for the kind of row",
        )
    table: Any = mapped.local_table
    return mapped, table, _attributes(mapped, table)


def _attributes(mapper: Mapper[Any], table: Table) -> dict[str, Column[Any]]:
    return {
        attribute.key: attribute.columns[0]
        for attribute in mapper.column_attrs
        if isinstance(attribute.columns[0], Column) and attribute.columns[0].table is table
    }


def _json_list(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _shown(entity: object) -> str:
    return (
        entity
        if isinstance(entity, str)
        else getattr(entity, "__name__", None) or getattr(entity, "name", None) or repr(entity)
    )
