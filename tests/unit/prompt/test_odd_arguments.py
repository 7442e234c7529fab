"""Arguments of another kind are refused by name, with the way out."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Column, MetaData, String, Table

from abreast import Entity
from abreast.errors import InvalidEntity, InvalidInput
from abreast.model import Batch, Cursor, EntityRows, Snapshot
from abreast.prompt import place, render

TABLE = Table("move", MetaData(), Column("id", String, primary_key=True), Column("workspace_id", String))
ENTITY = Entity(TABLE, expose=["id"])
CURSOR = Cursor("w1", "t1", "", "e", 0, "")
BATCH = Batch("w1", "t1", "", CURSOR, CURSOR, (), (), 0, 0, None, Snapshot("w1", "e", 0, ()), {}, {})
MESSAGES = [{"role": "user", "content": "When?"}]


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *((name, 5) for name in ("name", "workspace", "version", "label", "title", "key", "order_by", "expose")),
        *((name, 5) for name in ("labels", "formats", "where", "visible")),
        *((name, "x") for name in ("limit", "where", "event_values")),
        ("labels", {"id": 5}),
        ("formats", {"id": 5}),
    ],
)
def test_an_entity_says_which_argument_is_of_another_kind(argument, value):
    """What an entity is described by is checked where it is written, not where it fails."""
    options: dict[str, Any] = {"expose": ["id"], argument: value}
    with pytest.raises(InvalidEntity, match=argument if argument not in ("labels", "formats") else argument[:-1]):
        Entity(TABLE, **options)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("batch", 5),
        ("entities", 5),
        ("entities", [5]),
        ("entities", ENTITY),
        ("max_bytes", "x"),
        ("max_bytes", None),
        ("max_bytes", 0),
        ("value_limit", "x"),
        ("value_limit", True),
        ("names", 5),
        ("now", 5),
        ("now", datetime(2026, 9, 28, tzinfo=UTC).timestamp()),
        ("language", 5),
    ],
)
def test_render_says_which_argument_is_of_another_kind(argument, value):
    """So does the block. I14"""
    options: dict[str, Any] = {"batch": BATCH, "entities": [ENTITY], argument: value}
    with pytest.raises(InvalidInput, match=argument):
        render(**options)
    assert render(BATCH, [ENTITY])


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("messages", 5),
        ("messages", "When?"),
        ("messages", [5]),
        ("block", 5),
        ("placement", 5),
        ("read_at", "1"),
        ("skip", 5),
        ("make", 5),
    ],
)
def test_place_says_which_argument_is_of_another_kind(argument, value):
    """So does its place. I14"""
    options: dict[str, Any] = {"messages": MESSAGES, "block": "b", argument: value}
    with pytest.raises(InvalidInput, match=argument):
        place(**options)
    assert 2 == len(place(MESSAGES, "b"))


def test_very_many_entities_name_the_way_out():
    """A block too small for the counts of all entities says what can be changed. I14"""
    entities = [Entity(TABLE, name=f"entity {place}", expose=["id"]) for place in range(1_500)]
    rows = tuple(EntityRows(entity.name, (), 0) for entity in entities)
    batch = Batch("w1", "t1", "", CURSOR, CURSOR, (), (), 0, 0, None, Snapshot("w1", "e", 0, rows), {}, {})
    with pytest.raises(InvalidInput, match="pass a larger max_bytes, or describe fewer entities"):
        render(batch, entities)
    assert len(render(batch, entities, max_bytes=400_000).encode()) <= 400_000
