"""How a middleware writes its block: the options of `render`, and what happens when a read fails."""

from __future__ import annotations

from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Final, Literal, TypedDict, cast

from sqlalchemy.exc import SQLAlchemyError

from abreast.errors import (
    AccessDenied,
    DatabaseUnavailable,
    InvalidInput,
    ReplicaBehind,
    StateUnavailable,
    TableMissing,
)
from abreast.langgraph.arguments import check_choice, check_functions, check_kind, check_whole
from abreast.prompt import PLACEMENTS
from abreast.prompt.languages import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from abreast.prompt import LanguageName, Names, Placement, RenderOptions

OnReadError = Literal["raise", "say_so"]

_OWN: Final = (DatabaseUnavailable, ReplicaBehind, TableMissing, AccessDenied)
READ_ERRORS: Final = (*_OWN, SQLAlchemyError, OSError, TimeoutError)
"""What says that the state could not be read; anything else is a mistake in the code and is raised as it is."""


class BlockOptions(TypedDict, total=False):
    """
    How a middleware writes its block; see `abreast.prompt.render`.

    Attributes:
        now: Gives the time that the model is told, in each block anew; left out, no time is told.
    """

    language: LanguageName
    names: Names | None
    now: Callable[[], date] | None
    time_zone: tzinfo
    max_bytes: int
    value_limit: int


def render_options(options: BlockOptions) -> RenderOptions:
    """Give the options of one block, with the time of now."""
    now = options.get("now")
    given = {name: value for name, value in options.items() if name != "now"}
    return cast("RenderOptions", given if now is None else {**given, "now": now()})


def check_options(placement: Placement | None, on_read_error: OnReadError, options: BlockOptions) -> None:
    """
    Check what every middleware takes.

    Raises:
        InvalidInput: An option is unknown, of another type or out of range.
    """
    check_choice("placement", placement, PLACEMENTS, optional=True)
    check_choice("on_read_error", on_read_error, ("raise", "say_so"))
    unknown = sorted(set(options) - set(BlockOptions.__annotations__))
    if unknown:
        raise InvalidInput(unknown[0], "is unknown", f"use one of: {', '.join(BlockOptions.__annotations__)}")
    check_functions(now=options.get("now"), names=options.get("names"))
    check_choice("language", options.get("language", "en"), tuple(LANGUAGES))
    check_whole("max_bytes", options.get("max_bytes", 1))
    check_whole("value_limit", options.get("value_limit", 1))
    zone = options.get("time_zone", UTC)
    check_kind("time_zone", zone, tzinfo, "time zone", 'pass ZoneInfo("Europe/Berlin") or datetime.UTC')


def unavailable(workspace_id: str, error: BaseException) -> StateUnavailable:
    """Build the error that ends a run."""
    return StateUnavailable(workspace_id, type(error).__name__)


def told(error: BaseException) -> BaseException | None:
    """Give an error as a cause that may be logged; a driver's own, whose text can hold values, is left out."""
    return error if isinstance(error, _OWN) else None
