"""The way to a model: what passes is kept, and it can be cut."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from abreast.demo.grammar import find_block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from langchain_core.callbacks import CallbackManagerForLLMRun
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import Runnable, RunnableConfig
    from langchain_core.tools import BaseTool


class ModelAway(Exception):
    """The provider could not be reached."""


def _nothing() -> None:
    """Hold nothing up."""


@dataclass(slots=True)
class Line:
    """
    What happens to requests on their way.

    Attributes:
        away: The model cannot be reached.
        blind: The block is taken out of every request.
        before: Is called in front of each request, and may wait.
        sent: The last request.
    """

    away: bool = False
    blind: bool = False
    before: Callable[[], None] = _nothing
    sent: list[BaseMessage] = field(default_factory=list[BaseMessage])

    @property
    def given(self) -> str | None:
        """The block of the last request as it was sent."""
        return find_block("\n".join(message.text for message in self.sent))

    def take(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """
        Take a request, and give what is passed on.

        Raises:
            ModelAway: The model cannot be reached.
        """
        self.sent = [message for message in messages if not (self.blind and find_block(message.text))]
        self.before()
        if self.away:
            raise ModelAway("the model is away")
        return self.sent


class Provider(BaseChatModel):
    """
    A chat model behind a line.

    Attributes:
        model: Who answers.
        line: What requests pass through; shared by all copies.
    """

    model: Any
    line: Any

    @property
    def _llm_type(self) -> str:
        return "abreast-line"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[Any, AIMessage]:
        """Make tools known to the model."""
        options = kwargs if tool_choice is None else {"tool_choice": tool_choice, **kwargs}
        return self.model_copy(update={"model": self.model.bind_tools(tools, **options)})

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - LangChain's signature
        **kwargs: Any,
    ) -> ChatResult:
        answer = self.model.invoke(self.line.take(messages), _UNHEARD, stop=stop, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - as above
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self.model.stream(self.line.take(messages), _UNHEARD, stop=stop, **kwargs):
            yield ChatGenerationChunk(message=cast("AIMessageChunk", chunk))


_UNHEARD: RunnableConfig = {"callbacks": []}
"""Listeners of the run hear the line, not also the model behind it: each word would come twice."""
