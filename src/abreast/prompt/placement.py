"""Put the block into the messages of one request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeVar, get_args

from abreast.errors import InvalidInput
from abreast.prompt.messages import is_summary, merged, new_message, role_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from abreast.prompt.messages import Role

M = TypeVar("M")

Placement = Literal["before", "after", "merge", "system"]
PLACEMENTS: Final[tuple[Placement, ...]] = get_args(Placement)


def place(
    messages: Sequence[M],
    block: str,
    placement: Placement = "before",
    *,
    make: Callable[[str], M] | None = None,
    read_at: int | None = None,
    skip: Callable[[M], bool] | None = None,
) -> list[M]:
    """
    Give the messages of a request with the block in its place; neither the list nor a message is changed.

    The block stands beside the last user message that was there when it was read, or, where tool results that
    are older than the block follow that message, after the last of them: a block before an older tool result
    loses against it. It never parts the results of one assistant message. Without a user message it stands at
    the end of what was there. While `read_at` and the older messages stay the same, so does everything before
    the block.

    Messages are dicts with `role` and `content`, or objects like LangChain's, with `type` and `content`.

    Args:
        placement: `"before"` or `"after"` the user's message as a message of its own; `"merge"` into its
            content, ahead of what it says (or into the older tool result, after what it says), for models
            that refuse two user messages in a row; `"system"`: a message of its own after the first system
            messages.
        make: Builds the message of a block, `HumanMessage` or, for `"system"`, `SystemMessage`. Left out,
            dicts are built. `"merge"` needs it only where there is nothing to merge into.
        read_at: How many of the messages there were when the block was read; all of them when left out. Later
            ones neither attract the block nor push it on.
        skip: Says of a user message that it is not one. Summaries that LangChain's summarization middleware
            marks with `lc_source` are skipped in any case.

    Raises:
        InvalidInput: The placement is unknown, a message has no role, `make` is missing, or an argument is of
            another kind.

    Example:
        >>> place([{"role": "user", "content": "When do I move?"}], "<workspace_state>")
        [{'role': 'user', 'content': '<workspace_state>'}, {'role': 'user', 'content': 'When do I move?'}]
    """
    if placement not in PLACEMENTS:
        raise InvalidInput("placement", "is unknown", f"use one of: {', '.join(PLACEMENTS)}")
    _check_kinds(messages, block, read_at, make, skip)
    roles: list[Role] = [role_of(message) for message in messages]
    if placement == "system":
        return _inserted(messages, _after_system(roles), new_message(messages, block, "system", make))
    known = len(messages) if read_at is None else max(0, min(read_at, len(messages)))
    user = _last_user(messages[:known], roles, skip)
    tool = _last_tool(roles[:known])
    if placement == "merge" and max(user, tool) >= 0:
        return _merged(messages, user if user > tool else _past_tools(roles, tool + 1) - 1, block)
    at = user if placement == "before" and user > tool else _past_tools(roles, _after(user, tool, known))
    return _inserted(messages, at, new_message(messages, block, "user", make))


def _check_kinds(messages: object, block: object, read_at: object, *functions: object) -> None:
    if isinstance(messages, (str, bytes)) or not isinstance(messages, Sequence):
        raise InvalidInput("messages", "is no list of messages", "pass the messages of the request")
    if not isinstance(block, str):
        raise InvalidInput("block", f"is {type(block).__name__}, no text", "pass what render() returned")
    if not (read_at is None or type(read_at) is int):
        raise InvalidInput("read_at", f"is {type(read_at).__name__}, no whole number", "pass a number of messages")
    for name, function in zip(("make", "skip"), functions, strict=True):
        if not (function is None or callable(function)):
            raise InvalidInput(name, f"is {type(function).__name__}, no function", "pass a function, or leave it out")


def _after(user: int, tool: int, known: int) -> int:
    return known if user < 0 and tool < 0 else max(user, tool) + 1


def _after_system(roles: Sequence[Role]) -> int:
    return next((index for index, role in enumerate(roles) if role != "system"), len(roles))


def _last_user(messages: Sequence[M], roles: Sequence[Role], skip: Callable[[M], bool] | None) -> int:
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if roles[index] == "user" and not is_summary(message) and not (skip is not None and skip(message)):
            return index
    return -1


def _last_tool(roles: Sequence[Role]) -> int:
    return max((index for index, role in enumerate(roles) if role == "tool"), default=-1)


def _past_tools(roles: Sequence[Role], at: int) -> int:
    """Move on to where no tool result follows: the results of one assistant message stay together."""
    while at < len(roles) and roles[at] == "tool":
        at += 1
    return at


def _inserted(messages: Sequence[M], at: int, message: M) -> list[M]:
    return [*messages[:at], message, *messages[at:]]


def _merged(messages: Sequence[M], at: int, block: str) -> list[M]:
    return [*messages[:at], merged(messages[at], block), *messages[at + 1 :]]
