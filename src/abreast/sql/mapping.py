"""Find the table, key, workspace and version behind an `Entity`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import Column, ColumnElement, FromClause, Integer, Select, Table, inspect, literal, select
from sqlalchemy.exc import NoInspectionAvailable
from sqlalchemy.orm import Mapper, object_mapper

from abreast.errors import InvalidEntity, InvalidInput, UnknownEntity, UnknownField
from abreast.model.entity import Entity
from abreast.sql.values import check_id, from_json, stored_to_json, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import Row as SqlRow


@dataclass(frozen=True)
class Hop:
    """One step from a row towards its workspace: a foreign key column and the column it points to."""

    column: Column[Any]
    target: Column[Any]


class EntityTable:
    """
    An entity together with the table it stands for.

    Attributes:
        fields: The table's columns by field name; field names are the mapper's attribute names.
        key: Names of the fields that identify a row.
        version_field: Name of the version column's field; None where abreast keeps the versions.
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
        self.hops, self.workspace_column = self._path()
        self._targets = [hop.target.table.alias(f"hop{place}") for place, hop in enumerate(self.hops)]
        self.key = entity.key or self._primary_key()
        self.version_field = self._version_field()
        self._check_named()
        self.names = {column: name for name, column in self.fields.items()}

    @property
    def columns(self) -> list[Column[Any]]:
        """The columns in the order of `fields`."""
        return list(self.fields.values())

    @property
    def own_workspace_field(self) -> str | None:
        """Name of the field that holds the workspace id, where the row itself has it."""
        return None if self.hops else self.names[self.workspace_column]

    @property
    def key_is_primary(self) -> bool:
        """Whether the key tells a row from those of all workspaces."""
        primary = [self.names[column] for column in self.table.primary_key if column in self.names]
        return bool(primary) and set(primary) <= set(self.key)

    @property
    def secrets(self) -> frozenset[str]:
        """Fields that are not even named."""
        return frozenset(self.entity.secret)

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
            field: from_json(f"{self.name}.{field}", part, self.fields[field].type)
            for field, part in zip(self.key, parts, strict=True)
        }

    def entity_id(self, values: Mapping[str, Any]) -> str:
        """Write a row's key as its entity id: the value itself, or a JSON list for composite keys."""
        parts = [to_json(f"{self.name}.{field}", values[field], self.fields[field].type) for field in self.key]
        if len(parts) == 1:
            text = parts[0] if isinstance(parts[0], str) else json.dumps(parts[0])
        else:
            text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
        return check_id(f"{self.name}.{'+'.join(self.key)}", text)

    def key_condition(self, key: Mapping[str, Any]) -> list[ColumnElement[bool]]:
        """Build the condition that finds one row."""
        return [self.fields[field] == value for field, value in key.items()]

    def in_workspace(self, workspace_id: str) -> ColumnElement[bool]:
        """Build the condition that a row belongs to a workspace."""
        last = self._last_table().c[self.workspace_column.key]
        return self._through(last == self.native_workspace(workspace_id), len(self.hops))

    def below(
        self, table: Table, values: Mapping[str, Any], names: Mapping[Column[Any], str]
    ) -> Iterator[ColumnElement[bool]]:
        """
        Build the conditions that a row lies below a row of another table on the way to its workspace.

        Args:
            values: The other row, by field name.
            names: The other table's field names by column.
        """
        for reached, hop in enumerate(self.hops):
            if hop.target.table is table:
                source = self._source(reached)
                condition: ColumnElement[bool] = source == values[names[hop.target]]
                yield self._through(condition, reached)

    def _source(self, position: int) -> ColumnElement[Any]:
        column = self.hops[position].column
        return column if position == 0 else self._target(position - 1).c[column.key]

    def _through(self, condition: ColumnElement[bool], hops: int) -> ColumnElement[bool]:
        """Carry a condition on a table up the path down to the row's own table."""
        for position in range(hops - 1, -1, -1):
            target = self._target(position)
            reached = select(target.c[self.hops[position].target.key]).where(condition)
            condition = self._source(position).in_(reached)
        return condition

    def native_workspace(self, workspace_id: str) -> Any:
        """
        Turn a workspace id into what the product's column holds, a number or UUID for example.

        Raises:
            InvalidInput: It cannot be one, or is written in another way than the value: each way would be another log.
        """
        kind = self.workspace_column.type
        number = isinstance(kind, Integer) and workspace_id.isdecimal()
        native = from_json("workspace_id", int(workspace_id) if number else workspace_id, kind)
        written = self.workspace_text(native)
        if written != workspace_id:
            raise InvalidInput("workspace_id", f"{workspace_id!r} is another spelling", f"write it as {written!r}")
        return native

    def workspace_text(self, value: Any) -> str:
        """Write what the product's column holds as a workspace id."""
        return str(to_json("workspace_id", value, self.workspace_column.type))

    def workspace_by_parent(self, value: Any) -> Select[Any]:
        """Select the workspace that a first foreign key of this value leads to."""
        reached: ColumnElement[Any] = literal(value, self.hops[0].column.type)
        conditions: list[ColumnElement[bool]] = []
        for position, hop in enumerate(self.hops):
            target = self._target(position)
            conditions.append(target.c[hop.target.key] == reached)
            last = position + 1 == len(self.hops)
            reached = target.c[self.workspace_column.key if last else self.hops[position + 1].column.key]
        return select(reached).where(*conditions)

    def _target(self, position: int) -> FromClause:
        """Give a hop's table under an alias of its own, as a path may pass one table twice."""
        return self._targets[position]

    def _last_table(self) -> FromClause:
        return self._targets[-1] if self._targets else self.table

    def row_values(self, row: SqlRow[Any]) -> dict[str, Any]:
        """Give a selected row's native values by field name."""
        return dict(zip(self.fields, row, strict=False))

    def json_value(self, field: str, value: Any) -> Any:
        """Give a field's stored value as JSON value; one that has none, as NaN, is written as text."""
        return stored_to_json(f"{self.name}.{field}", value, self.fields[field].type)

    def exposed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Give those exposed fields of a row that are known, as JSON values in the order of `expose`."""
        return {field: self.json_value(field, values[field]) for field in self.entity.expose if field in values}

    def instance_id(self, instance: object) -> str | None:
        """Write the key of a mapped object of this table as its entity id, without loading anything."""
        mapper: Mapper[Any] = object_mapper(instance)
        if self.table not in mapper.tables:
            return None
        attributes = {name: mapper.get_property_by_column(self.fields[name]).key for name in self.key}
        return self.entity_id({name: vars(instance).get(key) for name, key in attributes.items()})

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
        return parts if composite else [self._single(parts[0])]

    def _single(self, part: Any) -> Any:
        """Read an entity id: of a number column it is the number as text."""
        number = isinstance(part, str) and isinstance(self.fields[self.key[0]].type, Integer)
        return int(part) if number and part.removeprefix("-").isdecimal() else part

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

    def _path(self) -> tuple[tuple[Hop, ...], Column[Any]]:
        *steps, last = self.entity.workspace.split(".")
        columns: Mapping[str, Column[Any]] = self.fields
        hops: list[Hop] = []
        for step in steps:
            hop = self._hop(columns, step)
            hops.append(hop)
            columns = dict(hop.target.table.c.items())
        return tuple(hops), self._path_column(columns, last)

    def _hop(self, columns: Mapping[str, Column[Any]], step: str) -> Hop:
        column = self._path_column(columns, step)
        if len(column.foreign_keys) != 1:
            raise InvalidEntity(
                self.name,
                f"workspace={self.entity.workspace!r}: {step!r} is no foreign key to one table",
                "name a column with one ForeignKey, or the workspace column itself",
            )
        return Hop(column, next(iter(column.foreign_keys)).column)

    def _path_column(self, columns: Mapping[str, Column[Any]], name: str) -> Column[Any]:
        if name not in columns:
            raise InvalidEntity(
                self.name,
                f"workspace={self.entity.workspace!r}: there is no column {name!r}",
                'pass workspace="<column>" or a path of foreign keys like "move_id.workspace_id"',
            )
        return columns[name]

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
            InvalidEntity: One does not fit its table, or two have one name.
        """
        self.by_name: dict[str, EntityTable] = {}
        self._by_source: dict[int, EntityTable] = {}
        for entity in entities:
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
            raise UnknownEntity(entity if isinstance(entity, str) else _shown(entity), list(self.by_name))
        return found

    def shown(self, entity_type: str, field: str) -> bool:
        """Say whether a change of a field makes a line: it is exposed, or hidden and so named."""
        found = self.by_name.get(entity_type)
        return found is not None and field in (*found.entity.expose, *found.entity.hidden)


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
    fields = {
        attribute.key: attribute.columns[0]
        for attribute in mapped.column_attrs
        if isinstance(attribute.columns[0], Column) and attribute.columns[0].table is table
    }
    return mapped, table, fields


def _json_list(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _shown(entity: object) -> str:
    return getattr(entity, "__name__", None) or getattr(entity, "name", None) or repr(entity)
