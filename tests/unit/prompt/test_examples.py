"""The examples of the docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

from abreast import prompt
from tests.unit.prompt.batches import MOVE, batch, update

MODULES = [
    prompt.__name__,
    *(found.name for found in pkgutil.iter_modules(prompt.__path__, "abreast.prompt.")),
]
NAMES = {"batch": batch(update("move_in_date", "2026-09-28", "2026-09-30")), "move": MOVE}


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    """What a docstring shows is what happens."""
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, extraglobs=NAMES, optionflags=doctest.ELLIPSIS)
    assert 0 == failed
