"""What a database may be opened with."""

import math

import pytest

from abreast import Database
from abreast.errors import InvalidInput


@pytest.mark.parametrize("lock_timeout", [0, 0.0001, -1, math.nan, math.inf, 86_401, "10", True])
def test_times_that_are_none(lock_timeout):
    """What databases would take for no limit or no waiting, each in its own way, is refused at once."""
    with pytest.raises(InvalidInput, match="lock_timeout"):
        Database.open("sqlite:///app.db", lock_timeout=lock_timeout)


@pytest.mark.parametrize("option", ["hide_parameters", "logging_name"])
def test_options_that_abreast_sets(option):
    """They keep values of rows out of errors and logs."""
    with pytest.raises(InvalidInput, match=option):
        Database.open("sqlite:///app.db", **{option: None})
