"""I3: where another middleware ends a run early or answers in the model's place, nothing counts as told."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelCallLimitMiddleware,
    ModelRetryMiddleware,
    ToolCallLimitMiddleware,
)
from langchain_core.messages import AIMessage, HumanMessage

from abreast.errors import InvalidInput
from tests.contract.agents import Talk, begin, calls, update
from tests.contract.client import Client, Place

LOOK = ("read_move", {})
AWAY = ConnectionError("away")


@pytest.fixture
def talk(place: Place, client: Client) -> Talk:
    """Give a conversation that has not been told of a change."""
    talk = begin(place, client)
    talk.change(stage="booked")
    return talk


LIMITS: dict[str, tuple[Any, list[Any]]] = {
    "calls of the model": (ModelCallLimitMiddleware(run_limit=1), [calls(LOOK)]),
    "calls of tools": (ToolCallLimitMiddleware(run_limit=0, exit_behavior="end"), [calls(LOOK)]),
    "failures": (
        ModelRetryMiddleware(max_retries=1, on_failure="continue", initial_delay=0, jitter=False),
        [calls(LOOK), AWAY, AWAY],
    ),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_run_that_another_middleware_ends(talk: Talk, limit: str):
    """The model has seen the change in a call, but its last words are not the model's: it is told again. I3 I4"""
    middleware, answers = LIMITS[limit]
    talk.build(middleware=[middleware])
    before = talk.cursor()
    talk.ask("And now?", *answers)
    assert before == talk.cursor()
    talk.build()
    talk.model.answers.clear()
    talk.ask("And now?")
    assert "booked" in talk.model.block().partition("CHANGES")[2]
    assert before + 1 == talk.cursor()


class Guard(AgentMiddleware):
    """Writes another text in the place of an answer, under its id."""

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any]:  # noqa: ARG002 - LangGraph passes it by name
        """Replace the last message."""
        return {"messages": [AIMessage("withheld", id=state["messages"][-1].id)]}


def test_answer_that_a_guard_rewrites(talk: Talk):
    """The model has answered: what a guard makes of its words still counts. I3"""
    talk.build(middleware=[Guard()])
    before = talk.cursor()
    assert "withheld" == talk.ask("And now?").content
    assert before + 1 == talk.cursor()


class WithoutTools(AgentMiddleware):
    """Leaves the messages of tools out of requests."""

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Show what people and the model say."""
        return handler(request.override(messages=shown(request)))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Show what people and the model say."""
        return await handler(request.override(messages=shown(request)))


def shown(request: Any) -> list[Any]:
    """Give the messages without those of tools, and the calls of tools."""
    return [
        message
        for message in request.messages
        if isinstance(message, HumanMessage) or (isinstance(message, AIMessage) and not message.tool_calls)
    ]


def test_tool_messages_that_are_left_out(talk: Talk):
    """S02 S16: where the model does not see its tool's answer, rows are still read again and the write is told."""
    talk.build(middleware=[WithoutTools()])
    talk.ask("Book it", calls(update(2, note="asked")))
    assert 'note: "asked"' in talk.model.block()
    assert "asked" in talk.model.block().partition("CHANGES")[2]


@pytest.mark.parametrize(("verdict", "counts"), [(True, True), (None, True), (False, False)])
def test_verdicts(talk: Talk, verdict: Any, *, counts: bool):
    """A check that gives nothing has nothing against the answer. I3"""
    talk.build(accept=lambda *_: verdict)
    before = talk.cursor()
    talk.ask("And now?")
    assert before + counts == talk.cursor()


@pytest.mark.parametrize("verdict", ["no", 0, re.match("a", "a")])
def test_what_is_no_verdict(talk: Talk, verdict: Any):
    """What is neither yes nor no is a mistake in the check: nothing is confirmed, and it is named. I3"""
    talk.build(accept=lambda *_: verdict)
    before = talk.cursor()
    with pytest.raises(InvalidInput, match="accept: gave .*; return True or False"):
        talk.ask("And now?")
    assert before == talk.cursor()


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (("read_move", {"id": "m1"}), "'id' is unknown: it takes ids, limit"),
        (("list_changes", {"kind": "move"}), "'kind' is unknown: it takes entity, id"),
        (("update_move", {"id": "m1", "expected_version": 2, "changes": {}, "why": "x"}), "'why' is unknown"),
    ],
)
def test_arguments_that_a_tool_does_not_know(talk: Talk, call: Any, named: str):
    """They are refused: the model would take the result for filtered."""
    talk.ask("Look", calls(call))
    (result,) = talk.results()
    assert "error" == result.status
    assert named in result.content
