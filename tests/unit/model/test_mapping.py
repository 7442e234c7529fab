"""Which table, key, workspace and version stand behind an entity."""

from datetime import date
from typing import Any

import pytest
from sqlalchemy import Column, Date, ForeignKey, Integer, MetaData, String, Table, select
from sqlalchemy.orm import DeclarativeBase, Mapped, column_property, mapped_column

from abreast.errors import InvalidEntity, InvalidInput, UnknownEntity, UnknownField
from abreast.model.entity import Entity
from abreast.sql.mapping import Catalog, EntityTable

metadata = MetaData()


class Base(DeclarativeBase):
    """Mapped classes of these tests."""

    metadata = metadata


class Move(Base):
    """Attributes and columns have different names."""

    __tablename__ = "move"
    id: Mapped[str] = mapped_column("move_id", String(40), primary_key=True)
    team: Mapped[str] = mapped_column("workspace_id", String(40))
    stage: Mapped[str]
    counter: Mapped[int] = mapped_column("v")
    next_counter: Mapped[Any] = column_property(counter.column + 1)
    __mapper_args__ = {"version_id_col": counter}  # noqa: RUF012 - SQLAlchemy's own form


item = Table(
    "item",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("move_id", ForeignKey("move.move_id")),
    Column("parent_id", ForeignKey("item.id")),
    Column("title", String(40)),
)
slot = Table(
    "slot",
    metadata,
    Column("workspace_id", String(40), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("hour", Integer, primary_key=True),
    Column("version", Integer),
)


def sql(condition):
    """Write a condition."""
    return " ".join(str(select(1).where(condition)).partition("WHERE ")[2].split())


def test_a_mapped_class():
    """Fields are called like attributes, the version is the mapper's, computed attributes are none."""
    entity = EntityTable(Entity(Move, expose=["stage"], workspace="team"))
    assert ["id", "team", "stage", "counter"] == list(entity.fields)
    assert (("id",), "counter", "team") == (entity.key, entity.version_field, entity.own_workspace_field)
    assert "move.workspace_id = :abreast_bound_1" == sql(entity.in_workspace("w1"))


def test_a_table():
    """A key without the workspace column, and a column called version."""
    entity = EntityTable(Entity(slot, expose=["day"]))
    assert (("day", "hour"), "version", "workspace_id") == (
        entity.key,
        entity.version_field,
        entity.own_workspace_field,
    )


def test_a_table_without_a_version_column():
    """Versions are kept by abreast, also where it is told to."""
    assert None is EntityTable(Entity(item, expose=[], workspace="move_id.workspace_id")).version_field
    assert None is EntityTable(Entity(slot, expose=[], version=None)).version_field


def test_a_workspace_over_foreign_keys():
    """Each step is a subquery of its own, so that a table may be passed twice."""
    one = EntityTable(Entity(item, expose=[], workspace="move_id.workspace_id"))
    assert None is one.own_workspace_field
    assert "item.move_id IN (SELECT hop0.move_id FROM move AS hop0 WHERE hop0.workspace_id = :abreast_bound_1)" == sql(
        one.in_workspace("w1")
    )
    two = EntityTable(Entity(item, expose=[], workspace="parent_id.move_id.workspace_id"))
    assert "item.parent_id IN (SELECT hop0.id FROM item AS hop0" in sql(two.in_workspace("w1"))


def test_keys_are_read_in_every_form():
    """A value, a tuple, a list, a mapping in any order, or the entity id."""
    entity = EntityTable(Entity(slot, expose=[]))
    expected = {"day": date(2026, 9, 28), "hour": 9}
    for key in (
        (date(2026, 9, 28), 9),
        ["2026-09-28", 9],
        {"hour": 9, "day": "2026-09-28"},
        '["2026-09-28",9]',
    ):
        assert expected == entity.key_values(key)
    assert '["2026-09-28",9]' == entity.entity_id(expected)
    numbered = EntityTable(Entity(item, expose=[], workspace="move_id.workspace_id"))
    for key in (7, "7", (7,), [7], {"id": 7}):
        assert {"id": 7} == numbered.key_values(key)
    assert "7" == numbered.entity_id({"id": 7})
    assert {"id": -7} == numbered.key_values("-7")


@pytest.mark.parametrize("key", [("2026-09-28",), ("2026-09-28", 9, 1), "2026-09-28", {"day": 1}, '["2026"', 7])
def test_keys_of_another_shape(key):
    """The parts are named in order."""
    with pytest.raises(InvalidInput, match=r"slot key: has other parts .*; pass \(day, hour\) in this order"):
        EntityTable(Entity(slot, expose=[])).key_values(key)


@pytest.mark.parametrize("key", ["--7", "7.0", "", "seven", "-", True, 7.0])
def test_keys_of_another_type(key):
    """A number column's key is a number, or one as text."""
    with pytest.raises(InvalidInput, match=r"^item\.id: "):
        EntityTable(Entity(item, expose=[], workspace="move_id.workspace_id")).key_values(key)


def test_entities_are_found_by_name_class_and_table():
    """Each way leads to the same one; what was not given is named with what was."""
    catalog = Catalog([Entity(Move, expose=[], workspace="team"), Entity(slot, expose=[], name="hour")])
    assert catalog.find("move") is catalog.find(Move) is catalog.find(Move.__table__)
    assert catalog.find(slot) is catalog.find("hour")
    for stranger in ("slot", item, object):
        with pytest.raises(UnknownEntity, match=r"is not registered \(registered: hour, move\); add Entity"):
            catalog.find(stranger)


def test_only_exposed_fields_are_given():
    """In the order of `expose`, as JSON; fields that are not known are left out."""
    entity = EntityTable(Entity(slot, expose=["hour", "day"]))
    assert {"hour": 9, "day": "2026-09-28"} == entity.exposed({"day": date(2026, 9, 28), "hour": 9, "version": 1})
    assert ["hour", "day"] == list(entity.exposed({"day": None, "hour": 9}))
    assert {"day": None} == entity.exposed({"day": None})


def test_which_changes_make_a_line():
    """Those of exposed and hidden fields of a known entity."""
    catalog = Catalog(
        [Entity(Move, expose=["stage"], hidden=["counter"], secret=["team"], workspace="team", version=None)]
    )
    assert [True, True, False, False, False] == [
        catalog.shown("move", "stage"),
        catalog.shown("move", "counter"),
        catalog.shown("move", "team"),
        catalog.shown("move", "id"),
        catalog.shown("item", "stage"),
    ]


def test_objects_of_a_session_are_named_without_loading():
    """The id is read from what is there; objects of other tables have none."""
    entity = EntityTable(Entity(Move, expose=[], workspace="team"))
    assert "m1" == entity.instance_id(Move(id="m1"))
    assert None is EntityTable(Entity(slot, expose=[])).instance_id(Move(id="m1"))


@pytest.mark.parametrize("workspace", ["team.workspace_id", "stage", "move_id.team", "nothing.workspace_id"])
def test_paths_that_lead_nowhere(workspace):
    """The step that does not exist, or is no foreign key, is named."""
    with pytest.raises(InvalidEntity, match=r"workspace='.*: (there is no column|'\w+' is no foreign key)"):
        EntityTable(Entity(item, expose=[], workspace=workspace))


def test_an_unknown_field_is_named_with_the_others():
    """Secret fields are not among those that are named."""
    entity = EntityTable(Entity(Move, expose=[], secret=["stage"], workspace="team"))
    with pytest.raises(UnknownField, match="move has no field 'size'; use one of: counter, id, team$"):
        entity.native({"size": 1})


@pytest.mark.parametrize(("kind", "native"), [(Integer(), 7), (String(40), "7")], ids=["integer", "text"])
def test_workspace_ids_are_the_text_of_what_the_column_holds(kind, native):
    """A product's numbers become ids and back."""
    table = Table("t", MetaData(), Column("id", Integer, primary_key=True), Column("workspace_id", kind))
    entity = EntityTable(Entity(table, expose=[]))
    assert (native, "7") == (entity.native_workspace("7"), entity.workspace_text(native))


def test_a_workspace_id_that_the_column_cannot_hold():
    """It is named as the workspace id."""
    table = Table("t", MetaData(), Column("id", Integer, primary_key=True), Column("workspace_id", Integer))
    with pytest.raises(InvalidInput, match="^workspace_id: a str was given that is no integer"):
        EntityTable(Entity(table, expose=[])).native_workspace("w1")


@pytest.mark.parametrize(
    "keys",
    [
        [1, 2, 3],
        ["m1", "the one"],
        [1, "1"],
        ["m1", "é"],
        ["m1", "a\nb"],
        ["m1", ""],
        ["m1", "x" * 256],
        ["m1", "\ud800"],
        [1, None],
        [True, 1],
        [date(2026, 9, 28)],
        [],
    ],
)
def test_many_ids_are_those_of_each_row(keys: list[Any]):
    """I4: the ids of rows read together are those by which each row is found; None for what makes none."""
    entity = EntityTable(Entity(slot, expose=["version"], key=["hour"]))
    assert [one_id(entity, {"hour": key}) for key in keys] == entity.entity_ids({"hour": keys})


def test_many_composite_ids():
    """I4: ids of several columns are those of each row too."""
    entity, day = EntityTable(Entity(slot, expose=["version"])), date(2026, 9, 28)
    assert ['["2026-09-28",1]', '["2026-09-28",2]'] == entity.entity_ids({"day": [day, day], "hour": [1, 2]})


def one_id(entity: EntityTable, values: dict[str, Any]) -> str | None:
    """Write the id of one row."""
    try:
        return entity.entity_id(values)
    except InvalidInput:
        return None


@pytest.mark.parametrize(
    "column",
    [
        ["open", None, "booked"],
        ["가나다", "x"],
        ["a\0b", "x"],
        ["\ud800"],
        [1, None],
        [True, 1],
        [1.5, float("nan")],
        [date(2026, 9, 28), None],
        [None],
        [[1, "x"], "x"],
        [],
    ],
)
def test_many_values_are_those_of_each_row(column: list[Any]):
    """I5: values read together are shown as each would be, whatever stands beside it in its column."""
    entity = EntityTable(Entity(item, expose=["id", "title"], workspace="move_id.workspace_id"))
    rows = [{"id": place, "title": value} for place, value in enumerate(column)]
    columns = {"id": range(len(rows)), "title": column}
    assert repr([entity.exposed(row) for row in rows]) == repr(entity.all_exposed(columns, len(rows)))


def test_many_rows_of_which_nothing_is_shown():
    """Rows without an exposed field are rows all the same."""
    entity = EntityTable(Entity(item, expose=[], workspace="move_id.workspace_id"))
    assert [{}, {}] == entity.all_exposed({"id": [1, 2]}, 2)
