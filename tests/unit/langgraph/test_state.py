"""What a graph's state tells of a conversation."""

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph import StateGraph

from abreast import Cursor
from abreast.errors import InvalidInput
from abreast.langgraph import CursorState
from abreast.langgraph.state import (
    DELIVERED,
    NOMINATED,
    Note,
    has_history,
    messages_of,
    nominated,
    noted,
    turn_of,
    value_of,
)

CURSOR = Cursor("w1", "t1", "", "e1", 3, "m3")
SUMMARY = HumanMessage("so far", additional_kwargs={"lc_source": "summarization"}, id="s")
GOOD = {"cursor": CURSOR.to_json(), "turn": "u1"}
QUESTION, ANSWER = HumanMessage("When?", id="u1"), AIMessage("Soon.", id="a1")


def test_cursor_survives_as_json():
    """State holds JSON values alone, and gives the cursor back."""
    state = nominated(Note(CURSOR, "u0", "r1"), "u1")
    assert {NOMINATED: {"": {"cursor": CURSOR.to_json(), "turn": "u1", "run": "r1"}}} == state
    assert Note(CURSOR, "u1", "r1") == noted(state, NOMINATED, "")
    assert None is noted(state, NOMINATED, "other")
    assert None is noted({}, NOMINATED, "")


@pytest.mark.parametrize(
    "note",
    [
        {"cursor": CURSOR.to_json()},
        {"cursor": 1, "turn": "u1"},
        {**GOOD, "run": 1},
        {"other": 1},
    ],
)
def test_foreign_values_are_refused(note: Any):
    """What somebody else put under abreast's key is named, not guessed at."""
    with pytest.raises(InvalidInput):
        noted({NOMINATED: {"": note}}, NOMINATED, "")


def test_scopes_are_joined():
    """Two agents' updates of one step both stay."""
    channel = StateGraph(CursorState).channels[NOMINATED]
    channel.update([{"a": {"turn": "1"}}, {"b": {"turn": "2"}}])
    channel.update([{"a": {"turn": "3"}}])
    assert {"a": {"turn": "3"}, "b": {"turn": "2"}} == channel.get()


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], "#0"),
        ([QUESTION], "u1"),
        ([QUESTION, ANSWER], "u1"),
        ([QUESTION, ANSWER, HumanMessage("And now?", id="u2")], "u2"),
        ([QUESTION, SUMMARY], "u1"),
        ([{"role": "user", "content": "When?"}], "#1"),
        ([{"role": "user", "content": "When?"}, {"role": "user", "content": "When?"}], "#2"),
    ],
)
def test_turn(messages: list[Any], expected: str):
    """A turn is named by its user message, not by an answer, a summary or the clock."""
    assert expected == turn_of(messages)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([QUESTION], False),
        ([SystemMessage("Be brief."), QUESTION, HumanMessage("Hello?", id="u2")], False),
        ([QUESTION, ANSWER, HumanMessage("And now?", id="u2")], True),
        ([SUMMARY, QUESTION], True),
        ([QUESTION, AIMessage("", id="a1"), ToolMessage("done", tool_call_id="c1")], True),
    ],
)
def test_history(messages: list[Any], expected: bool):
    """Only what the model was told or said can be out of date."""
    assert expected == has_history({}, messages)


def test_answers_of_this_turn_are_no_history():
    """Where abreast was there from the beginning of the turn, another agent's answer in it is none."""
    state = {DELIVERED: {"other": {"turn": "u1", "cursor": CURSOR.to_json()}}}
    assert has_history(state, [QUESTION, ANSWER]) is False
    assert has_history(state, [QUESTION, ANSWER, HumanMessage("And?", id="u2"), AIMessage("Soon.")]) is True


def test_state_may_be_an_object():
    """A dataclass serves as well as a dict, and messages alone do too."""
    state = SimpleNamespace(messages=(QUESTION,), _abreast_cursor=nominated(Note(CURSOR, "u1", None), "u1")[NOMINATED])
    assert [QUESTION] == messages_of(state, "messages")
    assert Note(CURSOR, "u1", None) == noted(state, NOMINATED, "")
    assert [QUESTION] == messages_of([QUESTION], "messages")
    assert None is value_of(state, "absent")


@pytest.mark.parametrize("state", [{}, {"messages": "When?"}, SimpleNamespace()])
def test_state_without_messages(state: Any):
    """A wrong key is named with what to pass."""
    with pytest.raises(InvalidInput, match="messages_key"):
        messages_of(state, "messages")
