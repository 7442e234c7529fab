"""Put a block into one request of a model, in the way its provider takes it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from langchain_core.language_models import BaseChatModel

from abreast.langgraph.readings import placed
from abreast.prompt.messages import role_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langchain.agents.middleware import ModelRequest

    from abreast.prompt import Placement

DEFAULT_PLACEMENT: Final[Placement] = "before"

PLACEMENT_BY_PACKAGE: Final[Mapping[str, Placement]] = {"langchain_mistralai": "merge"}
"""By the package of the model's class: whose service refuses two user messages in a row."""

STRICT_NAMES: Final = ("mistral", "mixtral", "ministral", "magistral", "codestral", "devstral", "gemma")
"""Beginnings of the names of models whose chat template refuses them, whoever serves it."""

MOST_MARKS: Final = 4
"""Cache marks that Anthropic takes in one request."""


def placement_for(model: object) -> Placement:
    """Choose where the block stands for a model."""
    known = _packages(model) & PLACEMENT_BY_PACKAGE.keys()
    if known:
        return PLACEMENT_BY_PACKAGE[min(known)]
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    short = name.rpartition("/")[2].lower() if isinstance(name, str) else ""
    return "merge" if short.startswith(STRICT_NAMES) else DEFAULT_PLACEMENT


def with_block(
    request: ModelRequest[Any], block: str, placement: Placement | None, read_at: int | None
) -> ModelRequest[Any]:
    """
    Give a request with the block in it; the system message and what is stored stay as they are.

    Args:
        placement: None chooses by the model.
        read_at: As for `abreast.prompt.place`.
    """
    how = placement or placement_for(request.model)
    messages = placed(request.messages, block, how, read_at)
    if _takes_marks(request.model):
        messages = _marked(request, messages)
    return request.override(messages=messages)


def with_metadata(request: ModelRequest[Any], grounding: Mapping[str, Any]) -> ModelRequest[Any]:
    """Give a request whose streamed chunks say what the answer is based on, where the model can carry that."""
    model: object = request.model
    if not isinstance(model, BaseChatModel):
        return request
    metadata = {**(model.metadata or {}), "abreast": dict(grounding)}
    return request.override(model=model.model_copy(update={"metadata": metadata}))


def _packages(model: object) -> frozenset[str]:
    """Name the packages that a model's class and its bases come from: applications make subclasses."""
    return _packages_of(cast("Any", type(model)))


@lru_cache(maxsize=64)
def _packages_of(kind: type[Any]) -> frozenset[str]:
    """Name them, once for the few classes of models that a process has: each call asks twice."""
    return frozenset(base.__module__.partition(".")[0] for base in kind.__mro__)


def _takes_marks(model: object) -> bool:
    return "langchain_anthropic" in _packages(model)


def _marked(request: ModelRequest[Any], messages: list[Any]) -> list[Any]:
    """
    Put a cache mark on the last message that is the same in the next request too.

    That is the one before the block: a mark at the end of the request alone would never be found again.
    """
    pairs = enumerate(zip(request.messages, messages, strict=False))
    at = next((place for place, (old, new) in pairs if old is not new), len(request.messages))
    mark = request.model_settings.get("cache_control") or {"type": "ephemeral"}
    if _marks(request) >= MOST_MARKS:
        return messages
    for place in range(at - 1, -1, -1):
        message = _with_mark(messages[place], mark)
        if message is not None:
            return [*messages[:place], message, *messages[place + 1 :]]
    return messages


def _marks(request: ModelRequest[Any]) -> int:
    """Count the marks that are there: in the system message, the tools, the messages, and the automatic one."""
    contents = [message.content for message in request.messages]
    if request.system_message is not None:
        contents.append(request.system_message.content)
    parts = [part for content in contents if isinstance(content, list) for part in content]
    tools = [tool if isinstance(tool, dict) else tool.extras or {} for tool in request.tools]
    found = sum("cache_control" in part for part in (*parts, *tools) if isinstance(part, dict))
    return found + ("cache_control" in request.model_settings)


def _with_mark(message: Any, mark: object) -> Any:
    """Copy a message with a mark on its last part; None where it has no part that takes one."""
    if role_of(message) == "system":
        return None
    content: object = message.content
    parts = [{"type": "text", "text": content}] if isinstance(content, str) and content else content
    if not isinstance(parts, list) or not parts:
        return None
    *before, last = cast("Sequence[Any]", parts)
    if not isinstance(last, dict) or not _can_be_marked(cast("dict[str, Any]", last)):
        return None
    return message.model_copy(update={"content": [*before, {**last, "cache_control": mark}]})


def _can_be_marked(part: Mapping[str, Any]) -> bool:
    kind = part.get("type")
    return kind not in ("thinking", "redacted_thinking", "reasoning") and bool(kind != "text" or part.get("text"))
