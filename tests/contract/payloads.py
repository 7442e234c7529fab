"""Models that build what their provider would be sent, and answer from a script; nothing leaves the process."""

import itertools
import json
from typing import Any

from langchain_anthropic import ChatAnthropic
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_openai import ChatOpenAI
from pydantic import Field

from tests.contract.agents import Script

Part = tuple[str, str]
"""Who says it, and one part of a message as JSON."""


class Recording(BaseChatModel):
    """Answers in order, and keeps the payloads that the provider's class makes."""

    answers: list[Any] = Field(default_factory=list)
    payloads: list[dict[str, Any]] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], stop: Any = None, *_: Any, **options: Any) -> ChatResult:
        self.payloads.append(json.loads(json.dumps(self._get_request_payload(messages, stop=stop, **options))))
        return _result(self.answers)

    async def _agenerate(self, messages: list[BaseMessage], stop: Any = None, *_: Any, **options: Any) -> ChatResult:
        return self._generate(messages, stop, **options)


class Claude(Recording, ChatAnthropic):
    """Anthropic's model."""

    def parts(self, call: int = -1) -> list[Part]:
        """Give the messages of a request part by part, without cache marks, which are no part of a prefix."""
        return [part for message in self.payloads[call]["messages"] for part in _parts(message)]


class GPT(Recording, ChatOpenAI):
    """OpenAI's model, by either of its services: chat completions or responses."""

    def items(self, call: int = -1) -> list[dict[str, Any]]:
        """Give what stands in a request one after the other: messages, and calls of tools with their results."""
        payload = self.payloads[call]
        return payload["input" if self.use_responses_api else "messages"]


class OpenAI(Script):
    """OpenAI's format, as most servers of other models take it."""

    def payload(self, call: int = -1) -> dict[str, Any]:
        """Give what is sent."""
        tools = [convert_to_openai_tool(tool) for tool in self.tools]
        return {"messages": sent(self.requests[call]), "tools": tools}

    def parts(self, call: int = -1) -> list[Part]:
        """Give the messages of a request."""
        return [(message["role"], json.dumps(message)) for message in self.payload(call)["messages"]]


class Strict(OpenAI):
    """A model whose chat template refuses two user messages in a row, and a user's message after a tool's."""

    model_name: str = "mistral-7b-instruct"

    def _generate(self, messages: list[BaseMessage], *rest: Any, **options: Any) -> ChatResult:
        check_turns([message for message in sent(messages) if message["role"] != "system"])
        return super()._generate(messages, *rest, **options)


def sent(messages: list[BaseMessage]) -> list[dict[str, Any]]:
    """Write messages as OpenAI takes them: a list of parts stays one."""
    return [
        convert_to_openai_messages(message, text_format="block" if isinstance(message.content, list) else "string")
        for message in messages
    ]


def check_turns(messages: list[dict[str, Any]]) -> None:
    """
    Refuse what the template of Mistral-7B-Instruct refuses.

    Raises:
        ValueError: Users and assistant do not take turns.
    """
    speaks = ["user" if message["role"] == "user" else "assistant" for message in messages if not _is_work(message)]
    if speaks != [("user", "assistant")[place % 2] for place in range(len(speaks))]:
        raise ValueError(f"Conversation roles must alternate user/assistant: {speaks}")
    for before, message in itertools.pairwise(messages):
        if (before["role"], message["role"]) == ("tool", "user"):
            raise ValueError("Unexpected role 'user' after role 'tool'")


def _is_work(message: dict[str, Any]) -> bool:
    return message["role"] == "tool" or bool(message.get("tool_calls"))


def _result(answers: list[Any]) -> ChatResult:
    answer = answers.pop(0) if answers else AIMessage("fine")
    answer = answer([]) if callable(answer) else answer
    return ChatResult(generations=[ChatGeneration(message=answer)])


def _parts(message: dict[str, Any]) -> list[Part]:
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [(message["role"], json.dumps(_unmarked(part))) for part in parts]


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _unmarked(part) for name, part in value.items() if name != "cache_control"}
    return [_unmarked(part) for part in value] if isinstance(value, list) else value


def common(first: list[Any], second: list[Any]) -> int:
    """Count the parts that two requests begin with alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(first), len(second)))


def place_of(parts: list[Part], text: str) -> int:
    """Find a part by its text, from behind."""
    return next(at for at in range(len(parts) - 1, -1, -1) if text in parts[at][1])
