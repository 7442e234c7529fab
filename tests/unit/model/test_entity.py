"""What can be said of an entity without its table."""

from types import SimpleNamespace

import pytest

from abreast.errors import InvalidEntity
from abreast.model.entity import Entity

TABLE = SimpleNamespace(name="checklist_item")


def test_names_come_from_the_table():
    """Without a name an entity is called like its table, and its rows like that with spaces."""
    entity = Entity(TABLE, expose=["title"])
    assert ("checklist_item", "checklist item") == (entity.name, entity.label)
    named = Entity(TABLE, expose=[], name="step", label="step to take")
    assert ("step", "step to take") == (named.name, named.label)
    assert "Entity('checklist_item', expose=['title'])" == repr(entity)


def test_what_is_left_out_has_a_default():
    """A column `workspace_id`, the primary key, and at most a hundred rows."""
    entity = Entity(TABLE, expose=[])
    assert ("workspace_id", (), 100, "all") == (entity.workspace, entity.key, entity.limit, entity.event_values)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"expose": ["a", "b"], "hidden": ["b"]}, "b is named twice in expose, hidden and secret"),
        ({"expose": ["a", "a"]}, "a is named twice"),
        ({"expose": [], "hidden": ["b", "c"], "secret": ["c", "b"]}, "b, c is named twice"),
        ({"expose": ["a"], "title": "b"}, "title 'b' is not exposed; add it to expose"),
        ({"expose": [], "limit": 0}, "limit is below 1"),
        ({"expose": [], "event_values": "some"}, 'event_values is unknown; use "all" or "names"'),
    ],
)
def test_contradictions_are_named(options, words):
    """The entity, the problem and the way out are in the message."""
    with pytest.raises(InvalidEntity, match=f"^Entity 'checklist_item': {words}"):
        Entity(TABLE, **options)


def test_what_is_no_table_is_named():
    """A source without a table's name is refused."""
    with pytest.raises(InvalidEntity, match="is neither a mapped class nor a Table; pass one of these"):
        Entity(7, expose=[])
