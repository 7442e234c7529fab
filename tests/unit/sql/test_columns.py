"""Column types as they read and write on each database alike."""

import json

import pytest
from sqlalchemy.dialects import sqlite

from abreast.sql.columns import JsonText


@pytest.mark.parametrize("text", ['{"a": [1, null]}', ' {"a":1}\n', '"가"', "null", "[]", None])
def test_json_is_read_with_or_without_spaces(text: str | None):
    """I5: what somebody put into the table by hand is read like what abreast writes."""
    read = JsonText().result_processor(sqlite.dialect(), None)
    assert (None if text is None else json.loads(text)) == read(text)


@pytest.mark.parametrize("text", ["", "[1", "[1] 2", "x"])
def test_json_that_is_none(text: str):
    """What is no JSON is an error, also behind what is."""
    with pytest.raises(json.JSONDecodeError):
        JsonText().result_processor(sqlite.dialect(), None)(text)
