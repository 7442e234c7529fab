"""Read and copy messages of any kind: dicts with `role`, or objects with `type`, as LangChain's are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

from abreast.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

M = TypeVar("M")

Role = Literal["user", "assistant", "tool", "system", "other"]

_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "human": "user",
    "HumanMessageChunk": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "tool": "tool",
    "function": "tool",
    "function_call_output": "tool",
    "ToolMessageChunk": "tool",
    "system": "system",
    "developer": "system",
    "SystemMessageChunk": "system",
}


def role_of(message: object) -> Role:
    """
    Say who speaks in a message; "other" where it is none of the known roles.

    Raises:
        InvalidInput: It is not a message.
    """
    name: object = _type_of(message)
    if name not in _ROLES:
        name = _attribute(message, "role")
    if not isinstance(name, str):
        name = _attribute(message, "type")
    if not isinstance(name, str):
        raise InvalidInput(
            "messages",
            f"hold a {type(message).__name__} without role and type",
            'pass dicts with "role" and "content", or message objects',
        )
    role: Role = _ROLES.get(name, "other")
    return "tool" if role == "user" and _is_tool_result(message) else role


def is_summary(message: object) -> bool:
    """Say whether LangChain's summarization middleware wrote a message."""
    marks = _attribute(message, "additional_kwargs")
    return isinstance(marks, Mapping) and cast("Mapping[str, Any]", marks).get("lc_source") == "summarization"


def new_message(
    messages: Sequence[M], text: str, role: Literal["user", "system"], make: Callable[[str], M] | None
) -> M:
    """
    Build the message of a block.

    Raises:
        InvalidInput: The other messages are no dicts and `make` is missing.
    """
    if make is not None:
        return make(text)
    if all(isinstance(message, dict) for message in messages):
        return cast("M", {"role": role, "content": text})
    kind = "SystemMessage" if role == "system" else "HumanMessage"
    raise InvalidInput("make", "is missing for messages that are no dicts", f"pass make={kind}, or what builds one")


def merged(message: M, text: str) -> M:
    """
    Copy a message with a text added to its content: behind a tool's result, ahead of what anybody else says.

    Raises:
        InvalidInput: The content is neither text nor a list of parts, or the message cannot be copied.
    """
    content = _joined(_attribute(message, "content"), text, behind=role_of(message) == "tool")
    if isinstance(message, dict):
        return cast("M", {**message, "content": content})
    copy = getattr(message, "model_copy", None)
    if copy is None:
        raise InvalidInput(
            "messages",
            f"hold a {type(message).__name__} that has no model_copy",
            'pass dicts or message objects of LangChain, or use placement="before"',
        )
    return cast("M", copy(update={"content": content}))


def _joined(content: object, text: str, *, behind: bool) -> object:
    if isinstance(content, str):
        texts = (content, text) if behind else (text, content)
        return "\n\n".join(part for part in texts if part)
    if content is None:
        return text
    if isinstance(content, list):
        block = {"type": "text", "text": text}
        parts = cast("list[object]", content)
        return [*parts, block] if behind else [block, *parts]
    raise InvalidInput(
        "messages",
        "hold content that is neither text nor a list of parts",
        'pass text or a list, or use placement="before"',
    )


def _type_of(message: object) -> str:
    """Give what an object says it is; to ask LangChain's for a role first, which they lack, takes most of the time."""
    name = "" if isinstance(message, (dict, Mapping)) else getattr(message, "type", None)
    return name if isinstance(name, str) else ""


def _is_tool_result(message: object) -> bool:
    content = _attribute(message, "content")
    return isinstance(content, list) and any(
        _attribute(part, "type") == "tool_result" for part in cast("list[object]", content)
    )


def _attribute(message: object, name: str) -> object:
    if isinstance(message, Mapping):
        return cast("Mapping[str, Any]", message).get(name)
    return getattr(message, name, None)
