"""A chat model without key or network that answers from nothing but the request it is sent."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, convert_to_openai_messages
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool

from abreast.demo.calling import Instruction
from abreast.demo.reader import read
from abreast.prompt.languages import LANGUAGES
from abreast.prompt.particles import TOPIC, with_particle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from langchain_core.callbacks import CallbackManagerForLLMRun
    from langchain_core.runnables import Runnable
    from langchain_core.tools import BaseTool

    from abreast.demo.grammar import Block
    from abreast.demo.reader import Reading, Target
    from abreast.prompt.languages import LanguageName

_ORDER: Final = re.compile(
    r"(?i)^(?:please )?(?:(?P<mark>mark)|set|change)\b.*?(?:\bto (?P<en>.+?))?[.!]?$"
    r"|^.*?(?:(?P<ko>\S+?)(?:으로|로) (?:바꿔|변경해|설정해)|(?P<mark_ko>표시해)) ?(?:줘|주세요|주십시오)[.!]?$"
)
_WITH_SPACE: Final = re.compile(r"\s*\S+\s*")
_WHAT_CHANGED: Final = re.compile(r"(?i)\bchange[ds]?\b|바뀌|바뀐|변경|달라")
_UNKNOWN: Final[dict[LanguageName, str]] = {
    "en": "I was not told that.",
    "ko": "그에 대해서는 전달받은 내용이 없습니다.",
}


class OfflineModel(BaseChatModel):
    """
    Reads the request as serialized text and answers with the newest statement it finds there.

    Where the request holds a block it answers from CURRENT and tells the change that led there; without one it
    repeats what was said before. An instruction becomes a call of a tool whose arguments it can fill, with the row's
    version as it read it; what tools answer is passed on, with the changes that are listed then. It sees no log, no
    database, and knows no word but those of the block's frame and of plain questions and instructions in English and
    Korean.

    Example:
        >>> OfflineModel().invoke("What is the date?").content
        'I was not told that.'
    """

    @property
    def _llm_type(self) -> str:
        return "abreast-offline"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,  # noqa: ARG002 - LangChain's signature
        **kwargs: Any,
    ) -> Runnable[Any, AIMessage]:
        """Make tools known, as their serialized descriptions."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - as above
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=_answer(_serialized(messages, kwargs)))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - as above
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        """Answer word by word."""
        answer = _answer(_serialized(messages, kwargs))
        called = [
            tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=place)
            for place, call in enumerate(answer.tool_calls)
        ]
        if called:
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=called))
        for word in _WITH_SPACE.findall(answer.text):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))


def _serialized(messages: list[BaseMessage], settings: dict[str, Any]) -> dict[str, Any]:
    """Give a request as a provider would read it."""
    sent = {"messages": convert_to_openai_messages(messages), "tools": settings.get("tools", [])}
    return cast("dict[str, Any]", json.loads(json.dumps(sent)))


def _answer(request: dict[str, Any]) -> AIMessage:
    reading = read(request["messages"])
    block = reading.block
    if reading.results:
        return AIMessage(" ".join([reading.results[-1], *(_news(block) if block and block.changes else [])]))
    target = reading.target()
    order = _ORDER.match(reading.question)
    if order is not None and target is not None and target.field is not None:
        wanted = Instruction(target, _wanted(order, reading), LANGUAGES[_language(reading)].yes)
        call = wanted.call(request["tools"])
        if call is not None:
            return AIMessage("", tool_calls=[call])
    return AIMessage(_said(reading, target))


def _said(reading: Reading, target: Target | None) -> str:
    block = reading.block
    if block is not None and target is not None:
        return " ".join([*_statements(block.language, target), *reading.changes_of(target)])
    if block is not None and _WHAT_CHANGED.search(reading.question):
        return " ".join(_news(block))
    statement = None if block is not None else reading.last_statement()
    return statement or _UNKNOWN[_language(reading)]


def _news(block: Block) -> list[str]:
    """Say how much has changed, and the last of it."""
    return [_count(block.language, len(block.changes)), *block.changes[-1:], *block.remarks]


def _statements(language: LanguageName, target: Target) -> list[str]:
    row = target.row
    fields = [target.field] if target.field is not None else list(row.values)
    if language == "ko":
        return [
            f"{row.label} {row.identity}의 {with_particle(field, TOPIC)} {row.values[field]}입니다." for field in fields
        ]
    return [f"The {field} of {row.label} {row.identity} is {row.values[field]}." for field in fields]


def _count(language: LanguageName, count: int) -> str:
    if language == "ko":
        return f"변경 {count}건이 전달되었습니다."
    return f"{count} {'change is' if count == 1 else 'changes are'} listed."


def _wanted(order: re.Match[str], reading: Reading) -> str:
    if order["mark"] or order["mark_ko"]:
        return LANGUAGES[_language(reading)].yes
    return str(order["en"] or order["ko"] or "").strip('"')


def _language(reading: Reading) -> LanguageName:
    if reading.block is not None:
        return reading.block.language
    return "ko" if re.search("[가-힣]", reading.question) else "en"
