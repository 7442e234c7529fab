"""The SQL tables of a domain, and the rows a task begins with, put there before abreast sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    and_,
    delete,
    insert,
    literal,
    select,
    update,
)

from abreast import Entity
from benchmarks.tau2.domains import DOMAINS, SINGLETON_KEY, Row, State, models

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import ColumnElement, Connection
    from sqlalchemy.types import TypeEngine

    from benchmarks.tau2.plans import Change

Tables = dict[str, Table]
"""Tables by entity."""

TEMPLATE = "template"
"""The workspace whose rows every task's workspace starts from."""

HIDDEN = frozenset({"payment_methods", "dob", "date_of_birth"})
"""Fields that are hidden wherever a model has them: their changes are named, their values are not copied."""

UNVERSIONED = frozenset({"phone", "surroundings", "bill"})
"""Entities whose tables have no version column, so that abreast keeps the versions itself."""

MOST_ROWS = 5
"""Most rows of an entity in a snapshot: the replay looks at what is told, not at what is listed."""


def define_tables(domain: str) -> Tables:
    """Define one table per collection, with one column per top-level field of its model."""
    metadata = MetaData()
    return {
        collection.entity: _table(metadata, domain, collection.entity, collection.key) for collection in DOMAINS[domain]
    }


def define_entities(domain: str, tables: Tables) -> list[Entity]:
    """Describe the tables to abreast: every field is exposed or hidden."""
    return [_entity(collection.entity, tables[collection.entity]) for collection in DOMAINS[domain]]


def create_tables(connection: Connection, tables: Tables, base: State) -> None:
    """Make the tables and the template's rows."""
    next(iter(tables.values())).metadata.create_all(connection)
    for entity, table in tables.items():
        rows = [{"workspace_id": TEMPLATE, **row} for row in base[entity].values()]
        connection.execute(insert(table), rows)


def drop_tables(connection: Connection, tables: Tables) -> None:
    """Remove the tables."""
    next(iter(tables.values())).metadata.drop_all(connection)


def fill_workspace(connection: Connection, tables: Tables, workspace_id: str, start: Iterable[Change]) -> None:
    """Copy the template's rows and change them to those a task begins with."""
    for table in tables.values():
        others = [column for column in table.c if column.name != "workspace_id"]
        copied = select(literal(workspace_id), *others).where(table.c.workspace_id == TEMPLATE)
        connection.execute(insert(table).from_select(["workspace_id", *others], copied))
    for change in start:
        _apply(connection, tables[change.entity], workspace_id, change)


def empty_workspace(connection: Connection, tables: Tables, workspace_id: str) -> None:
    """Delete a workspace's rows past abreast, to keep the database small."""
    for table in tables.values():
        connection.execute(delete(table).where(table.c.workspace_id == workspace_id))


def read_rows(connection: Connection, tables: Tables, workspace_id: str) -> State:
    """Read a workspace's rows, without the columns that τ²-bench does not know."""
    return {entity: _read(connection, table, workspace_id) for entity, table in tables.items()}


def _read(connection: Connection, table: Table, workspace_id: str) -> dict[str, Row]:
    key = _key(table).name
    columns = [column for column in table.c if column.name not in ("workspace_id", "version")]
    found = connection.execute(select(*columns).where(table.c.workspace_id == workspace_id)).mappings()
    return {row[key]: dict(row) for row in found}


def _apply(connection: Connection, table: Table, workspace_id: str, change: Change) -> None:
    this_row = _this_row(table, workspace_id, change.key)
    if change.after is None:
        connection.execute(delete(table).where(this_row))
    elif change.before is None:
        connection.execute(insert(table).values(workspace_id=workspace_id, **change.after))
    else:
        connection.execute(update(table).where(this_row).values(change.after))


def _this_row(table: Table, workspace_id: str, key: str) -> ColumnElement[bool]:
    return and_(table.c.workspace_id == workspace_id, _key(table) == key)


def _key(table: Table) -> Column[Any]:
    return next(column for column in table.primary_key if column.name != "workspace_id")


def _entity(name: str, table: Table) -> Entity:
    fields = [column.name for column in table.c if column.name not in ("workspace_id", "version")]
    return Entity(
        table,
        name=name,
        expose=[field for field in fields if field not in HIDDEN],
        hidden=[field for field in fields if field in HIDDEN],
        limit=MOST_ROWS,
    )


def _table(metadata: MetaData, domain: str, entity: str, key: str) -> Table:
    schema = models(domain)[entity].model_json_schema(mode="serialization")
    definitions = schema.get("$defs", {})
    types = {name: _type(part, definitions) for name, part in schema["properties"].items()}
    if key == SINGLETON_KEY:
        types = {key: Text(), **types}
    columns: list[Column[Any]] = [
        Column(name, String(255), primary_key=True) if name == key else Column(name, kind)
        for name, kind in types.items()
    ]
    if entity not in UNVERSIONED:
        columns.append(Column("version", Integer, nullable=False, default=1))
    workspace_id = Column("workspace_id", String(255), primary_key=True)
    return Table(f"tau2_{domain}_{entity}", metadata, workspace_id, *columns)


_SCALARS: Mapping[str, TypeEngine[Any]] = {
    "boolean": Boolean(),
    "integer": Integer(),
    "number": Float(53),
    "string": Text(),
}


def _type(schema: Row, definitions: Row) -> TypeEngine[Any]:
    """Choose a column's type by what pydantic dumps: a scalar where it is one, else JSON."""
    if "$ref" in schema:
        return _type(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1:
        return _type(choices[0], definitions)
    return _SCALARS.get(schema.get("type", ""), JSON(none_as_null=True))
