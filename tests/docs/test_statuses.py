"""The map of errors to HTTP statuses that the docs show knows every error."""

import inspect
import re
from typing import Any

import pytest

from abreast import AbreastError, Conflict, NotFound, errors
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "fastapi.md").read_text(encoding="utf-8")
CALLERS_MISTAKES = {
    "InvalidInput": 422,
    "UnknownEntity": 422,
    "UnknownField": 422,
    "VersionRequired": 422,
    "WriteRefused": 422,
    "EntityNotFound": 404,
    "WorkspaceNotFound": 404,
    "ThreadBoundElsewhere": 404,
    "StaleWrite": 409,
    "MutationReused": 409,
    "ThreadBusy": 409,
    "LeaseLost": 409,
    "CheckpointConflict": 409,
    "ThreadDeleted": 409,
    "RunStopped": 409,
    "CursorRefused": 409,
}
FOR_LATER = {"DatabaseUnavailable", "DatabaseBusy", "ReplicaBehind", "StateUnavailable"}


def concrete() -> dict[str, type[AbreastError]]:
    """Give the errors that are raised: those without kinds of their own, or that are raised beside them."""
    public = {
        name: kind for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, AbreastError)
    }
    roots = {AbreastError, Conflict, NotFound, errors.SchemaError}
    return {name: kind for name, kind in public.items() if kind not in roots}


def status(kind: type[AbreastError]) -> int:
    """Look an error up as the page's handler does."""
    found = re.search(r"^STATUS = (\{.*?^\})", PAGE, flags=re.DOTALL | re.MULTILINE)
    assert found
    names: dict[str, Any] = {"errors": errors, "Conflict": Conflict, "NotFound": NotFound}
    table = eval(found[1], names)  # noqa: S307 - the page's own text
    return next((status for known, status in table.items() if issubclass(kind, known)), 500)


@pytest.mark.parametrize("name", concrete())
def test_every_error_has_a_status(name: str):
    """What the caller can mend is his, what passes can be tried again, and the rest is named as the service's."""
    expected = CALLERS_MISTAKES.get(name, 503 if name in FOR_LATER else 500)
    assert expected == status(concrete()[name])
    if expected == 500:
        named = {name, *(base.__name__ for base in concrete()[name].__bases__)}
        told = PAGE.partition("and 500: ")[2].partition(".\n")[0]
        assert named & set(re.findall(r"`(\w+)`", told))
