"""Where the block stands for which model, and Anthropic's cache marks."""

import json
from typing import Any

import pytest
from langchain.agents.middleware import ModelRequest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda

from abreast.langchain.requests import MOST_MARKS, placement_for, with_block, with_metadata

BLOCK = "<workspace_state>now</workspace_state>"


def model(package: str = "langchain_openai", **fields: Any) -> Any:
    """Give a model whose class comes from a package."""
    kind = type("Model", (FakeListChatModel,), {"__module__": f"{package}.chat_models", "__annotations__": {}})
    made = kind(responses=["fine"])
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def request(*messages: Any, package: str = "langchain_anthropic", **options: Any) -> ModelRequest:
    """Give a request of a model of a package."""
    return ModelRequest(model=model(package), messages=list(messages), **options)


HISTORY = (HumanMessage("Hello"), AIMessage("Hi."), HumanMessage("When?"))


@pytest.mark.parametrize(
    ("package", "name", "expected"),
    [
        ("langchain_mistralai", "any", "merge"),
        ("langchain_ollama", "mistral:7b", "merge"),
        ("langchain_openai", "mistralai/Mixtral-8x7B-Instruct", "merge"),
        ("langchain_openai", "gpt", "before"),
        ("langchain_anthropic", "claude", "before"),
        ("somewhere", None, "before"),
    ],
)
def test_placement_by_model(package: str, name: str | None, expected: str):
    """Models that refuse two user messages in a row get the block inside of one."""
    assert expected == placement_for(model(package, model_name=name))


def marked(made: ModelRequest) -> list[int]:
    """Give the places of messages with a mark."""
    return [place for place, message in enumerate(made.messages) if "cache_control" in json.dumps(message.content)]


@pytest.mark.parametrize(("placement", "expected"), [("before", [1]), ("after", [2]), ("merge", [1]), ("system", [])])
def test_last_stable_block_is_marked(placement: Any, expected: list[int]):
    """S13: the mark stands on the last block before the changing one; what is stored is not touched."""
    made = with_block(request(*HISTORY), BLOCK, placement, None)
    assert expected == marked(made)
    assert "Hi." == HISTORY[1].content
    assert HISTORY == tuple(request(*HISTORY).messages)


def test_mark_after_tool_results():
    """On a refresh the mark stands on the last result before the block."""
    call = AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "1"}])
    messages = (*HISTORY, call, ToolMessage("done", tool_call_id="1"))
    made = with_block(request(*messages), BLOCK, None, None)
    assert [4] == marked(made)
    assert BLOCK == made.messages[5].content


def test_what_cannot_be_marked():
    """An empty text or a thought takes no mark; the one before does."""
    thought = AIMessage([{"type": "thinking", "thinking": "…", "signature": "s"}])
    empty = AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "1"}])
    made = with_block(request(HumanMessage("Hello"), thought, empty, HumanMessage("When?")), BLOCK, "before", None)
    assert [0] == marked(made)
    assert [] == marked(with_block(request(HumanMessage("When?")), BLOCK, "before", None))


def test_at_most_four_marks():
    """Where the four that Anthropic takes are used up, none is added; one that is added lives as long as they do."""
    mark = {"type": "ephemeral", "ttl": "1h"}
    system = SystemMessage([{"type": "text", "text": "You help.", "cache_control": mark}])
    tool = {"name": "t", "input_schema": {}, "cache_control": mark}
    options: dict[str, Any] = {"system_message": system, "tools": [tool], "model_settings": {"cache_control": mark}}
    made = with_block(request(*HISTORY, **options), BLOCK, "before", None)
    assert [1] == marked(made)
    assert mark == made.messages[1].content[0]["cache_control"]
    full = [HumanMessage([{"type": "text", "text": "x", "cache_control": mark}]), *HISTORY]
    assert [0] == marked(with_block(request(*full, **options), BLOCK, "before", None))
    assert MOST_MARKS == 4


def test_other_providers_get_no_mark():
    """A part that others do not know is not sent to them."""
    made = with_block(request(*HISTORY, package="langchain_openai"), BLOCK, "before", None)
    assert [] == marked(made)
    assert "Hi." == made.messages[1].content


def test_metadata_of_chunks():
    """What chunks say is put beside what the application's model says already."""
    given = request(*HISTORY)
    given.model.metadata = {"own": 1}
    made = with_metadata(given, {"revision": 4})
    assert {"own": 1, "abreast": {"revision": 4}} == made.model.metadata
    assert {"own": 1} == given.model.metadata
    plain = given.override(model=RunnableLambda(str))  # type: ignore[typeddict-item]
    assert plain is with_metadata(plain, {"revision": 4})


def test_anthropic_wire_format():
    """S13: with Anthropic's own middleware the payload has four marks, one of them before the block."""
    pytest.importorskip("langchain_anthropic")
    from langchain_anthropic import ChatAnthropic  # noqa: PLC0415 - not everybody has it
    from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware  # noqa: PLC0415
    from langchain_core.tools import tool  # noqa: PLC0415

    @tool
    def look_up() -> str:
        """Look up."""
        return ""

    chat = ChatAnthropic(model="claude-sonnet-4-5", api_key="none")
    payloads: list[Any] = []

    def send(sent: ModelRequest) -> Any:
        placed = with_block(sent, BLOCK, None, None)
        bound = placed.model.bind_tools(placed.tools)
        settings = {**bound.kwargs, **placed.model_settings}
        payloads.append(placed.model._get_request_payload([placed.system_message, *placed.messages], **settings))

    given = ModelRequest(model=chat, messages=list(HISTORY), system_message=SystemMessage("You help."), tools=[look_up])
    AnthropicPromptCachingMiddleware().wrap_model_call(given, send)
    (payload,) = payloads
    assert MOST_MARKS == json.dumps(payload).count("cache_control")
    assert [False, True, False] == ["cache_control" in json.dumps(message) for message in payload["messages"]]
