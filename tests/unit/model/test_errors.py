"""Errors reach the caller of another process as they were raised."""

import copy
import inspect
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from abreast import errors
from abreast.errors import AbreastError, InvalidInput
from abreast.model.cursor import Cursor
from abreast.model.event import Actor, Event

EVENT = Event("w1", "e1", 2, "m", "m1", 2, "update", ("a",), None, None, Actor.user("u1"), None, None, None, 0)


ALL = sorted(
    (kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, AbreastError)),
    key=lambda kind: kind.__qualname__,
)


def made(kind: type[AbreastError]) -> AbreastError:
    """Make an error with plain arguments."""
    if kind.__init__ is Exception.__init__ or "__init__" not in dir(kind):
        return kind("told")
    parameters = list(inspect.signature(kind).parameters.values())
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return kind("told")
    given: dict[str, Any] = {one.name: f"<{one.name}>" for one in parameters}
    return kind(**given | {name: [EVENT] for name in ("changes",) if name in given})


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_and_copied(kind: type[AbreastError], protocol: int):
    """Type, message and attributes come back."""
    error = made(kind)
    for back in (pickle.loads(pickle.dumps(error, protocol)), copy.copy(error), copy.deepcopy(error)):  # noqa: S301
        assert (kind, str(error), error.args, vars(error)) == (type(back), str(back), back.args, vars(back))


def test_out_of_another_process():
    """A pool gives the error to who waits, and does not break."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.raises(InvalidInput, match="other fields than a cursor") as caught:
            pool.submit(Cursor.from_json, {}).result()
        assert "cursor" == caught.value.name
        assert 1 == pool.submit(abs, -1).result()
