"""The block in real agents of LangChain: what the model is given, and what is stored."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, dynamic_prompt
from langchain.agents.middleware.summarization import SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from abreast.prompt import PLACEMENTS, place, prompt_text, render
from tests.unit.prompt.batches import MOVE, batch, update

GIVEN = batch(update("move_in_date", "2026-09-28", "2026-09-30"))
BLOCK = render(GIVEN, [MOVE])
INSTRUCTIONS = "You help people move."


class Recorder(BaseChatModel):
    """A chat model that answers from a list and keeps what it was given."""

    answers: list[AIMessage]
    requests: list[list[BaseMessage]]

    @property
    def _llm_type(self) -> str:
        return "recorder"

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        """Take tools, which a scripted model does not need."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.requests.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.answers[len(self.requests) - 1])])


def recorder(*answers: AIMessage) -> Recorder:
    """Give a model with answers."""
    return Recorder(answers=list(answers or [AIMessage("On 2026-09-30.")]), requests=[])


class Placing(AgentMiddleware):
    """Puts the block into each request, as it was read before the first."""

    def __init__(self, placement: Any) -> None:
        self.placement = placement
        self.read_at: int | None = None

    def wrap_model_call(self, request: ModelRequest, handler: Any) -> Any:
        """Call the model with the block among the messages."""
        self.read_at = self.read_at or len(request.messages)
        kind = SystemMessage if self.placement == "system" else HumanMessage
        messages = place(request.messages, BLOCK, self.placement, make=kind, read_at=self.read_at)
        return handler(request.override(messages=messages))


def texts(messages: list[BaseMessage]) -> list[tuple[str, Any]]:
    """Give who says what."""
    return [(message.type, message.content) for message in messages]


def test_dynamic_prompt():
    """The string form is what `@dynamic_prompt` takes: instructions first, the block behind them."""

    @dynamic_prompt
    def with_state(request: ModelRequest) -> str:
        return prompt_text(GIVEN, [MOVE], instructions=INSTRUCTIONS)

    model = recorder()
    agent = create_agent(model, middleware=[with_state])
    result = agent.invoke({"messages": [("user", "When do I move in?")]})
    assert [[("system", f"{INSTRUCTIONS}\n\n{BLOCK}"), ("human", "When do I move in?")]] == [
        texts(request) for request in model.requests
    ]
    assert BLOCK not in str(result)


EXPECTED = {
    "before": [("system", INSTRUCTIONS), ("human", BLOCK), ("human", "When?")],
    "after": [("system", INSTRUCTIONS), ("human", "When?"), ("human", BLOCK)],
    "merge": [("system", INSTRUCTIONS), ("human", f"{BLOCK}\n\nWhen?")],
    "system": [("system", INSTRUCTIONS), ("system", BLOCK), ("human", "When?")],
}


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_placement_in_an_agent(placement):
    """The block reaches the model, stays where it was within the turn, and is in no checkpoint."""

    def look_up() -> str:
        """Look up the date."""
        return "2026-09-30"

    call = {"name": "look_up", "args": {}, "id": "1"}
    model = recorder(AIMessage("", tool_calls=[call]), AIMessage("On 2026-09-30."))
    saver = InMemorySaver()
    agent = create_agent(
        model, [look_up], system_prompt=INSTRUCTIONS, middleware=[Placing(placement)], checkpointer=saver
    )
    config = {"configurable": {"thread_id": "t1"}}
    agent.invoke({"messages": [("user", "When?")]}, config)
    first, second = (texts(request) for request in model.requests)
    assert EXPECTED[placement] == first
    assert first == second[: len(first)]
    assert ["ai", "tool"] == [kind for kind, _ in second[len(first) :]]
    assert "workspace_state" not in str([tuple_.checkpoint for tuple_ in saver.list(config)])


def test_a_tool_result_that_is_older_than_the_block():
    """Real tool messages draw the block behind them on resume."""
    messages = [HumanMessage("When?"), AIMessage(""), ToolMessage("2026-09-28", tool_call_id="1")]
    assert [*messages, HumanMessage(BLOCK)] == place(messages, BLOCK, make=HumanMessage)
    merged = place(messages, BLOCK, "merge")
    assert messages[:2] == merged[:2]
    assert f"2026-09-28\n\n{BLOCK}" == merged[2].content
    assert "1" == merged[2].tool_call_id
    assert "2026-09-28" == messages[2].content


def test_the_summary_of_the_summarization_middleware_is_skipped():
    """The mark that is looked for is the one LangChain sets."""
    (summary,) = SummarizationMiddleware._build_new_messages("They talked.")
    messages = [HumanMessage("When?"), summary]
    assert [HumanMessage(BLOCK), *messages] == place(messages, BLOCK, make=HumanMessage)
