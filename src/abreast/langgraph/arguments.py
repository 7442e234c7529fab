"""What callers of `abreast.langgraph` and `abreast.langchain` pass, checked where it is passed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from abreast.errors import InvalidInput
from abreast.sql.values import check_id
from abreast.workspace_log import WorkspaceLog

T = TypeVar("T")

_LONGEST_SHOWN: Final = 40


def came(value: object) -> str:
    """Say in an error what came: a short text or number as it is, else the type."""
    text = repr(value) if value is None or isinstance(value, (str, int, float)) else ""
    return text if 0 < len(text) <= _LONGEST_SHOWN else type(value).__name__


def check_kind(name: str, value: object, kinds: type[Any] | tuple[type[Any], ...], what: str, way_out: str) -> None:
    """
    Make sure that an argument is of a kind.

    Args:
        what: Names the kind, as in "no WorkspaceLog".

    Raises:
        InvalidInput: It is something else.
    """
    if not isinstance(value, kinds):
        raise InvalidInput(name, f"is {came(value)}, no {what}", way_out)


def check_log(log: object) -> None:
    """
    Make sure that a log is one.

    Raises:
        InvalidInput: It is something else.
    """
    check_kind("log", log, WorkspaceLog, "WorkspaceLog", "pass WorkspaceLog(database, entities)")


def check_function(name: str, function: object) -> None:
    """
    Make sure that what is called later can be called.

    Raises:
        InvalidInput: It is no function.
    """
    if not callable(function):
        raise InvalidInput(name, f"is {came(function)}, no function", "pass a function")


def check_functions(**functions: object) -> None:
    """
    Make sure that functions that may be left out are some, or None.

    Raises:
        InvalidInput: One is no function.
    """
    for name, function in functions.items():
        if function is not None:
            check_function(name, function)


def check_choice(name: str, value: object, choices: Collection[str], *, optional: bool = False) -> None:
    """
    Make sure that an argument is one of a few words.

    Raises:
        InvalidInput: It is another one, or no word.
    """
    if (value is None and optional) or (isinstance(value, str) and value in choices):
        return
    listed = ", ".join(f'"{choice}"' for choice in choices)
    raise InvalidInput(name, f"is {came(value)}, which is unknown", f"use {listed}{' or None' if optional else ''}")


def check_whole(name: str, value: object) -> None:
    """
    Make sure that an argument is a whole number of at least 1.

    Raises:
        InvalidInput: It is not.
    """
    if type(value) is not int or value < 1:
        raise InvalidInput(name, f"is {came(value)}, no whole number of at least 1", "pass 1 or more")


def check_flag(name: str, value: object) -> None:
    """
    Make sure that an argument is True or False.

    Raises:
        InvalidInput: It is something else.
    """
    check_kind(name, value, bool, "bool", "pass True or False")


def check_text(name: str, value: object, *, empty: bool = False) -> None:
    """
    Make sure that an argument is a text that can be stored as an id.

    Raises:
        InvalidInput: It is something else.
    """
    check_kind(name, value, str, "text", "pass a str")
    check_id(name, value, empty=empty)


def check_list(
    name: str, value: object, kinds: type[Any] | tuple[type[Any], ...], what: str, way_out: str
) -> Sequence[Any]:
    """
    Give the members of a list whose members are of a kind; a text is none, though it has members.

    Raises:
        InvalidInput: It is no list, or a member is something else.
    """
    if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, set, frozenset)):
        raise InvalidInput(name, f"is {came(value)}, no list of {what}", way_out)
    members = tuple(cast("Collection[object]", value))
    for member in members:
        if not isinstance(member, kinds):
            raise InvalidInput(name, f"has {came(member)}, which is none of {what}", way_out)
    return members


def check_mapping(name: str, value: object, what: str, way_out: str) -> Mapping[Any, Any]:
    """
    Give a mapping back.

    Raises:
        InvalidInput: It is something else.
    """
    check_kind(name, value, Mapping, f"mapping of {what}", way_out)
    return cast("Mapping[Any, Any]", value)
