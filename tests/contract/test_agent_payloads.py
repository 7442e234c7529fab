"""What providers are sent: bounded cache marks, a prefix that stays, roles that strict templates take."""

import itertools
import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain.tools import tool
from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware
from langchain_core.messages import AIMessage, SystemMessage
from langgraph.types import Command, interrupt

from abreast.prompt import PLACEMENTS
from tests.contract.agents import CONTEXT, Talk, begin, calls, is_block, update
from tests.contract.client import Client, Place
from tests.contract.payloads import GPT, Claude, OpenAI, Strict, check_turns, common, place_of

BLOCK = "<workspace_state"
PROMPTS = ["You help.", [{"type": "text", "text": "You help."}, {"type": "text", "text": "Be brief."}]]
INSTRUCTIONS = pytest.mark.parametrize("prompt", PROMPTS, ids=["string", "blocks"])


@tool
def approve() -> str:
    """Ask a person."""
    return str(interrupt("may I?"))


@pytest.fixture
def talk(place: Place, client: Client) -> Talk:
    """Give a workspace with a move, and a conversation about it that has begun."""
    return begin(place, client)


def four_turns(talk: Talk) -> None:
    """Ask three times with a change before each; the second turn writes; then a turn is paused, changed, resumed."""
    talk.change(stage="a")
    talk.ask("first question")
    talk.change(stage="b")
    talk.model.answers[:] = [calls(update(3, note="by the agent")), AIMessage("written")]
    talk.ask("second question")
    talk.change(stage="c")
    talk.ask("third question")
    talk.model.answers[:] = [calls(("approve", {}), ("read_move", {}), first="call_a", ids=["call_a", "call_b"])]
    talk.ask("fourth question")
    talk.change(stage="d")
    talk.run(Command(resume="yes"), context=None)


QUESTIONS = ["first", "second", "second", "third", "fourth", "fourth"]
"""Which turn each request of the four turns belongs to."""


def check_prefixes(model: Any, requests: range) -> None:
    """Make sure that every request begins as I14 says."""
    for turn, (before, after) in zip(itertools.pairwise(QUESTIONS), itertools.pairwise(requests), strict=True):
        one, other = model.parts(before), model.parts(after)
        if turn[0] == turn[1]:
            assert common(one, other) >= place_of(one, BLOCK), turn
        else:
            kept = min(place_of(one, f"{turn[0]} question"), place_of(one, BLOCK))
            assert common(one, other) >= kept, turn


def marks(payload: dict[str, Any]) -> int:
    """Count cache marks."""
    return json.dumps(payload).count('"cache_control"')


@INSTRUCTIONS
def test_s13_anthropic(talk: Talk, prompt: Any):
    """S13 I14: what Anthropic caches stays over turns; at most four marks, one of them on the last stable part."""
    talk.model = model = Claude(model="claude-sonnet-4-5", api_key="none")
    middleware = [AnthropicPromptCachingMiddleware()]
    talk.build([approve], middleware=middleware, system_prompt=SystemMessage(prompt))
    four_turns(talk)
    assert len(QUESTIONS) == len(model.payloads)
    assert 1 == len({json.dumps(payload["tools"]) for payload in model.payloads})
    assert 1 == len({json.dumps(payload["system"]) for payload in model.payloads})
    check_prefixes(model, range(len(QUESTIONS)))
    for call, payload in enumerate(model.payloads):
        assert 3 <= marks(payload) <= 4
        flat = [part for message in payload["messages"] for part in listed(message)]
        block = next(at for at, part in enumerate(flat) if BLOCK in json.dumps(part))
        assert '"cache_control"' in json.dumps(flat[block - 1]), call
        assert '"cache_control"' not in json.dumps(flat[block])
        if call not in (2, 5):
            assert "question" in json.dumps(flat[block + 1])
        else:
            assert "tool_result" == flat[block - 1]["type"]


def listed(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Give a message's parts with their marks."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


@INSTRUCTIONS
def test_system_message_in_payloads(talk: Talk, prompt: Any):
    """I14: the application's system message is sent to Anthropic and OpenAI byte for byte as without abreast."""
    talk.model = claude = Claude(model="claude-sonnet-4-5", api_key="none")
    talk.build(system_prompt=SystemMessage(prompt))
    talk.ask("When?")
    assert json.dumps(prompt) == json.dumps(claude.payloads[0]["system"])
    talk.model = openai = OpenAI()
    talk.build(system_prompt=SystemMessage(prompt))
    talk.ask("When?")
    assert json.dumps(prompt) == json.dumps(openai.payload()["messages"][0]["content"])
    assert "system" == openai.payload()["messages"][0]["role"]


def test_anthropic_without_caching(talk: Talk):
    """S13: without Anthropic's middleware the one mark is abreast's."""
    talk.model = model = Claude(model="claude-sonnet-4-5", api_key="none")
    talk.build([approve])
    four_turns(talk)
    assert [1] * len(QUESTIONS) == [marks(payload) for payload in model.payloads]


@INSTRUCTIONS
def test_openai(talk: Talk, prompt: Any):
    """S13 I14: the same prefix in OpenAI's format, without marks, the block as a user's message of its own."""
    talk.model = model = OpenAI()
    talk.build([approve], system_prompt=SystemMessage(prompt))
    four_turns(talk)
    check_prefixes(model, range(len(QUESTIONS)))
    payloads = [model.payload(call) for call in range(len(QUESTIONS))]
    assert 1 == len({json.dumps(payload["messages"][0]) for payload in payloads})
    assert 1 == len({json.dumps(payload["tools"]) for payload in payloads})
    assert not any(marks(payload) for payload in payloads)
    for payload in payloads:
        (block,) = [message for message in payload["messages"] if BLOCK in str(message["content"])]
        assert "user" == block["role"]


@pytest.mark.parametrize("service", ["chat completions", "responses"])
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize(("backend", "mode"), [("sqlite", "sync"), ("sqlite", "async")], indirect=True)
def test_payloads_of_openai(talk: Talk, service: str, placement: Any):
    """S13 I9 I14: what OpenAI is sent has one block beside the user's words, and nothing that no model may see."""
    talk.client.rows("UPDATE move SET memo = 'memo-canary'")
    talk.model = model = GPT(model="gpt-5", api_key="none", use_responses_api=service == "responses")
    talk.build([approve], placement=placement, system_prompt="You help.")
    context = {**CONTEXT, "rights": "context-canary"}
    for call, (question, answers) in enumerate(ASKED):
        talk.change(stage=f"s{call}")
        talk.ask(question, *answers, context=context)
    assert len(ASKED) + 1 == len(model.payloads)
    for call, payload in enumerate(model.payloads):
        told = json.dumps(payload)
        assert not [canary for canary in CANARIES if re.search(rf"\b{canary}\b", told)], call
        items = model.items(call)
        assert items[0]["role"] in ("system", "developer")
        assert "You help." in json.dumps(items[0])
        (block,) = [at for at, item in enumerate(items) if BLOCK in json.dumps(item)]
        if call == AFTER_WRITE and placement != "system":
            assert block == len(items) - 1
            continue
        asked = next(at for at in range(len(items) - 1, -1, -1) if "question" in json.dumps(items[at]))
        assert block == {"system": 1, "before": asked - 1, "after": asked + 1, "merge": asked}[placement]
        assert ("user" if placement != "system" else items[0]["role"]) == items[block]["role"]


CANARIES = ("memo-canary", "context-canary", "door-4711", "alarm-0815", "person-9", "w1")
ASKED: list[tuple[str, list[Any]]] = [
    ("first question", []),
    ("second question", [calls(update(3, note="by the agent")), AIMessage("written")]),
    ("third question", []),
]
AFTER_WRITE = 2
"""The call that follows a tool which has written."""


def test_strict_template(talk: Talk):
    """S13 I14: a template that refuses two user messages in a row is sent none, in any turn, refreshed or resumed."""
    talk.model = model = Strict()
    talk.build([approve])
    four_turns(talk)
    assert len(QUESTIONS) == len(model.requests)
    check_prefixes(model, range(len(QUESTIONS)))
    blocks = [[message for message in request if is_block(message)] for request in model.requests]
    assert ["human", "human", "tool", "human", "human", "tool"] == [block.type for (block,) in blocks]
    with pytest.raises(ValueError, match="alternate"):
        check_turns([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])
    with pytest.raises(ValueError, match="after role 'tool'"):
        check_turns([{"role": "user"}, {"role": "tool"}, {"role": "user"}, {"role": "assistant"}][:1] + AFTER_A_TOOL)


AFTER_A_TOOL: list[dict[str, Any]] = [
    {"role": "assistant", "content": ""},
    {"role": "tool", "content": ""},
    {"role": "user", "content": ""},
]

# --- any conversation ----------------------------------------------------------------------------------------------

STEPS = st.lists(st.sampled_from(["read", "write", "note"]), max_size=2)
TURNS = st.lists(st.tuples(STEPS, st.booleans(), st.booleans()), min_size=2, max_size=3)


def one_turn(talk: Talk, config: Any, number: int, turn: tuple[list[str], bool, bool]) -> list[int]:
    """Have a turn, and give the numbers of its requests."""
    steps, changed_before, changed_within = turn
    first = len(talk.model.requests)

    def step(kind: str, place: int) -> Any:
        def answer(_messages: Any) -> AIMessage:
            if changed_within:
                talk.change(stage=f"{number} {place}")
            version = talk.row()[2]
            wanted = ("read_move", {}) if kind == "read" else update(version, note=f"{number}.{place}")
            return calls(("nothing", {}) if kind == "note" else wanted)

        return answer

    if changed_before:
        talk.change(stage=f"before {number}")
    talk.model.answers[:] = [step(kind, place) for place, kind in enumerate(steps)]
    talk.ask(f"question {number} of {config['configurable']['thread_id']}", config=config)
    return list(range(first, len(talk.model.requests)))


@tool
def nothing() -> str:
    """Do nothing."""
    return "done"


THREADS = itertools.count()


@pytest.mark.parametrize(("backend", "mode"), [("sqlite", "sync")], indirect=True)
@pytest.mark.parametrize("placement", ["before", "after", "merge"])
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(turns=TURNS)
def test_s14_prefix_of_any_conversation(talk: Talk, placement: Any, turns: list[Any]):
    """S14 I14: whatever turns, tools, writes and changes there are, requests keep what came before."""
    talk.build([nothing], placement=placement, system_prompt="You help.")
    config = {"configurable": {"thread_id": f"p{next(THREADS)}"}}
    of_turn = {call: number for number, turn in enumerate(turns) for call in one_turn(talk, config, number, turn)}
    for before, after in itertools.pairwise(of_turn):
        one, other = talk.model.requests[before], talk.model.requests[after]
        block = next(at for at, message in enumerate(one) if is_block(message))
        same = common(one, other)
        if of_turn[before] == of_turn[after]:
            wrote = "Done: " in str(other[-1].content) or "Done: " in str(other[-2].content)
            assert same >= (block if wrote else len(one))
            continue
        question = next(
            at for at, message in enumerate(one) if f"question {of_turn[before]} of" in str(message.content)
        )
        if placement == "after":
            assert same >= min(question + 1, block)
        else:
            assert same >= min(question, block)
