"""Where the block stands among the messages of a request."""

import copy
import dataclasses
from types import SimpleNamespace

import pytest

from abreast.errors import InvalidInput
from abreast.prompt import PLACEMENTS, place

BLOCK = "<workspace_state>"
SYSTEM = {"role": "system", "content": "You help people move."}
HELLO = {"role": "user", "content": "Hello"}
HI = {"role": "assistant", "content": "Hi"}
QUESTION = {"role": "user", "content": "When do I move in?"}
CALLS = {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}, {"id": "2"}]}
RESULT = {"role": "tool", "content": "2026-09-28", "tool_call_id": "1"}
OTHER_RESULT = {"role": "tool", "content": "booked", "tool_call_id": "2"}
SUMMARY = {"role": "user", "content": "A summary", "additional_kwargs": {"lc_source": "summarization"}}
HISTORY = [SYSTEM, HELLO, HI, QUESTION]


def user(text):
    """Give a user's message as a dict."""
    return {"role": "user", "content": text}


def test_before():
    """The block stands before the last user message."""
    assert [SYSTEM, HELLO, HI, user(BLOCK), QUESTION] == place(HISTORY, BLOCK)
    assert [user(BLOCK), QUESTION] == place([QUESTION], BLOCK, "before")


def test_after():
    """The block stands after the last user message."""
    assert [SYSTEM, HELLO, HI, QUESTION, user(BLOCK)] == place(HISTORY, BLOCK, "after")


def test_merge():
    """The block is put ahead of the last user message's own text."""
    assert [SYSTEM, HELLO, HI, user(f"{BLOCK}\n\nWhen do I move in?")] == place(HISTORY, BLOCK, "merge")
    assert [user(BLOCK)] == place([user("")], BLOCK, "merge")
    assert [user(BLOCK)] == place([user(None)], BLOCK, "merge")


def test_merge_into_parts():
    """Content of several parts gets one more."""
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    assert [user([{"type": "text", "text": BLOCK}, image])] == place([user([image])], BLOCK, "merge")


def test_system():
    """The block follows the application's own system messages, which stay as they are."""
    developer = {"role": "developer", "content": "Be brief."}
    block = {"role": "system", "content": BLOCK}
    assert [SYSTEM, developer, block, QUESTION] == place([SYSTEM, developer, QUESTION], BLOCK, "system")
    assert [block, QUESTION, SYSTEM] == place([QUESTION, SYSTEM], BLOCK, "system")
    assert [SYSTEM, block] == place([SYSTEM], BLOCK, "system")


def test_no_messages():
    """An empty list gets the block."""
    assert [user(BLOCK)] == place([], BLOCK, "before") == place([], BLOCK, "after") == place([], BLOCK, "merge")
    assert [{"role": "system", "content": BLOCK}] == place([], BLOCK, "system")


@pytest.mark.parametrize("placement", ["before", "after", "merge"])
def test_no_user_message(placement):
    """Without a user message the block comes last, and stays there when more follows in the run."""
    assert [SYSTEM, HI, user(BLOCK)] == place([SYSTEM, HI], BLOCK, placement)
    later = place([SYSTEM, HI, CALLS, RESULT], BLOCK, placement, read_at=2)
    assert [SYSTEM, HI, user(BLOCK), CALLS, RESULT] == later


@pytest.mark.parametrize("placement", ["before", "after"])
def test_older_tool_results(placement):
    """On resume the block follows the tool results that are older than it."""
    messages = [QUESTION, CALLS, RESULT, OTHER_RESULT]
    assert [*messages, user(BLOCK)] == place(messages, BLOCK, placement)
    assert [*messages, user(BLOCK), CALLS, RESULT] == place([*messages, CALLS, RESULT], BLOCK, placement, read_at=4)


def test_merge_into_an_older_tool_result():
    """Where older tool results follow the question the block is merged into the last, behind its text."""
    merged = OTHER_RESULT | {"content": f"booked\n\n{BLOCK}"}
    assert [QUESTION, CALLS, RESULT, merged] == place([QUESTION, CALLS, RESULT, OTHER_RESULT], BLOCK, "merge")
    parts = RESULT | {"content": [{"type": "text", "text": "booked"}]}
    (_, _, found) = place([QUESTION, CALLS, parts], BLOCK, "merge")
    assert [*parts["content"], {"type": "text", "text": BLOCK}] == found["content"]


def test_tool_results_of_one_message_stay_together():
    """A block that was read between two results of one message does not part them."""
    messages = [QUESTION, CALLS, RESULT, OTHER_RESULT, HI]
    assert [*messages[:4], user(BLOCK), HI] == place(messages, BLOCK, read_at=3)
    assert [HI, CALLS, RESULT, user(BLOCK)] == place([HI, CALLS, RESULT], BLOCK, read_at=2)
    merged = place(messages, BLOCK, "merge", read_at=3)
    assert messages[:3] == merged[:3]
    assert f"booked\n\n{BLOCK}" == merged[3]["content"]


def test_newer_tool_results():
    """Results that come after the block was read leave it beside the question."""
    messages = [*HISTORY, CALLS, RESULT]
    assert [SYSTEM, HELLO, HI, user(BLOCK), QUESTION, CALLS, RESULT] == place(messages, BLOCK, read_at=4)
    after = place(messages, BLOCK, "after", read_at=4)
    assert [SYSTEM, HELLO, HI, QUESTION, user(BLOCK), CALLS, RESULT] == after


def test_user_messages_that_come_later():
    """A user message added within the run does not move the block."""
    assert [user(BLOCK), QUESTION, HI, HELLO] == place([QUESTION, HI, HELLO], BLOCK, read_at=1)


def test_tool_results_of_an_older_turn():
    """Tool results before the last user message do not matter."""
    assert [HELLO, CALLS, RESULT, HI, user(BLOCK), QUESTION] == place([HELLO, CALLS, RESULT, HI, QUESTION], BLOCK)


@pytest.mark.parametrize(("read_at", "at"), [(0, 0), (-3, 0), (99, 1)])
def test_a_position_beyond_the_messages(read_at, at):
    """A position that a summary has overtaken is the nearest there is."""
    assert [HI, user(BLOCK)] == place([HI], BLOCK, read_at=read_at)[:: 1 if at else -1]


def test_summaries_are_no_user_messages():
    """What a summary says was not said by the user, nor what the caller says was not."""
    assert [SUMMARY, user(BLOCK), QUESTION, HI] == place([SUMMARY, QUESTION, HI], BLOCK)
    assert [SUMMARY, HI, user(BLOCK)] == place([SUMMARY, HI], BLOCK)
    note = user("(note)")
    assert [user(BLOCK), QUESTION, note] == place(
        [QUESTION, note], BLOCK, skip=lambda message: message["content"] == "(note)"
    )


def test_tool_results_in_user_messages():
    """Tool results that a provider's format puts into a user message are tool results."""
    results = user([{"type": "tool_result", "tool_use_id": "1", "content": "2026-09-28"}])
    assert [QUESTION, CALLS, results, user(BLOCK)] == place([QUESTION, CALLS, results], BLOCK)
    (_, _, merged) = place([QUESTION, CALLS, results], BLOCK, "merge")
    assert {"type": "text", "text": BLOCK} == merged["content"][-1]
    output = {"type": "function_call_output", "call_id": "1", "output": "2026-09-28"}
    assert [QUESTION, output, user(BLOCK)] == place([QUESTION, output], BLOCK)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_nothing_is_changed_in_place(placement):
    """Neither the list nor a message is changed: a block is never stored."""
    messages = [SYSTEM, user([{"type": "text", "text": "a"}])]
    before = copy.deepcopy(messages)
    placed = place(messages, BLOCK, placement)
    assert before == messages
    assert placed is not messages
    assert BLOCK in str(placed)


@dataclasses.dataclass(frozen=True)
class Message:
    """A message object that is no dict."""

    type: str
    content: object = ""

    def model_copy(self, *, update):
        """Copy as pydantic does."""
        return dataclasses.replace(self, **update)


def test_message_objects():
    """Objects with type and content are placed like dicts; `make` builds the block's."""
    messages = [Message("system"), Message("human", "a"), Message("ai"), Message("tool", "b")]
    made = Message("human", BLOCK)
    assert [*messages, made] == place(messages, BLOCK, make=lambda text: Message("human", text))
    assert made == place(messages, BLOCK, read_at=2, make=lambda text: Message("human", text))[1]
    assert Message("human", f"{BLOCK}\n\na") == place(messages, BLOCK, "merge", read_at=2)[1]
    assert Message("tool", f"b\n\n{BLOCK}") == place(messages, BLOCK, "merge")[3]


def test_objects_whose_type_names_no_role():
    """The type of some objects says that they are messages; who speaks, their role says."""
    roles = ("system", "user", "assistant")
    messages = [SimpleNamespace(type="message", role=role, content="Hello") for role in roles]
    made = SimpleNamespace()
    assert made is place(messages, BLOCK, make=lambda _: made)[1]


@pytest.mark.parametrize(
    ("messages", "placement", "told"),
    [
        ([QUESTION], "middle", "placement: is unknown; use one of: before, after, merge, system"),
        (
            [("user", "Hello")],
            "before",
            'messages: hold a tuple without role and type; pass dicts with "role"',
        ),
        (
            [Message("human")],
            "before",
            "make: is missing for messages that are no dicts; pass make=HumanMessage",
        ),
        (
            [Message("human")],
            "system",
            "make: is missing for messages that are no dicts; pass make=SystemMessage",
        ),
        ([user(7)], "merge", "messages: hold content that is neither text nor a list of parts; pass text"),
    ],
)
def test_what_cannot_be_placed_is_refused(messages, placement, told):
    """Each refusal names the way out."""
    with pytest.raises(InvalidInput) as caught:
        place(messages, BLOCK, placement)
    assert str(caught.value).startswith(told)


def test_a_message_that_cannot_be_copied():
    """Merging needs a message that can be copied."""

    class Rigid:
        type = "human"
        content = "a"

    with pytest.raises(InvalidInput, match=r'no model_copy; .*or use placement="before"'):
        place([Rigid()], BLOCK, "merge")
