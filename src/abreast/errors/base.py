"""The roots of abreast's errors."""

from __future__ import annotations

from typing import Any


class AbreastError(Exception):
    """
    Root of every error abreast raises on purpose.

    Survives `pickle` and `copy` with its message and attributes, whatever its own arguments are: so it reaches
    the caller of another process.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Restore message and attributes without calling `__init__`, whose arguments are others."""
        return _made, (type(self), *self.args), self.__dict__.copy()


def _made(kind: type[AbreastError], *args: object) -> AbreastError:
    return kind.__new__(kind, *args)


class InvalidInput(AbreastError, ValueError):
    """
    A value given to abreast cannot be used; nothing was stored.

    Attributes:
        name: What was wrong: an argument or `entity_type.field`.
        problem: Why, without the value itself, which may be hidden.
        way_out: What to do.
    """

    def __init__(self, name: str, problem: str, way_out: str) -> None:
        super().__init__(f"{name}: {problem}; {way_out}")
        self.name = name
        self.problem = problem
        self.way_out = way_out


class NotFound(AbreastError, LookupError):
    """Something named does not exist, or not in this workspace."""

    def __init__(self, what: str, identity: str, way_out: str) -> None:
        super().__init__(f"{what} {identity!r} was not found; {way_out}")
        self.what = what
        self.identity = identity


class Conflict(AbreastError):
    """
    Somebody else was first; nothing was stored.

    Attributes:
        what: The thing that changed.
        expected: What the caller had read.
        actual: What is there now; None when it is gone.
    """

    def __init__(self, what: str, expected: object, actual: object, way_out: str, detail: str = "") -> None:
        extra = f" ({detail})" if detail else ""
        super().__init__(f"{what}: expected {expected}, found {actual}{extra}; {way_out}")
        self.what = what
        self.expected = expected
        self.actual = actual
