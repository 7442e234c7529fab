"""I14, S13, S14: the block moves nothing that a provider's prompt cache holds."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abreast.prompt import place

SYSTEM = {"role": "system", "content": "You help people move."}


def common(first, second):
    """Count the messages that two requests begin with alike."""
    return next(
        (at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )


@st.composite
def turns(draw):
    """Give turns: how many tool calls each makes, and at which call of the model it resumes after a pause."""
    sizes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=5))
    return [(calls, draw(st.one_of(st.none(), st.integers(0, calls)))) for calls in sizes]


def requests(turns, placement):
    """Run the turns, each with a block of its own that is read again when it resumes; give every request."""
    history = [SYSTEM]
    for number, (calls, resumed_at) in enumerate(turns):
        history.append({"role": "user", "content": f"question {number}"})
        question, read_at, block = len(history) - 1, len(history), f"<block {number}>"
        for call in range(calls + 1):
            if call == resumed_at:
                read_at, block = len(history), f"<block {number} again>"
            yield number, question, place(history, block, placement, read_at=read_at), block
            answer = {"role": "assistant", "content": f"answer {number}.{call}"}
            history.append(answer)
            if call < calls:
                history.append({"role": "tool", "content": f"result {number}.{call}"})


@pytest.mark.parametrize("placement", ["before", "after"])
@settings(max_examples=100, deadline=None)
@given(turns=turns())
def test_prefix(placement, turns):
    """Between turns all up to the previous question stays, within a turn all before the block."""
    for (turn, question, first, block), (next_turn, _, second, _) in pairwise(requests(turns, placement)):
        at_block = first.index({"role": "user", "content": block})
        if turn == next_turn:
            assert common(first, second) >= at_block
        else:
            assert common(first, second) >= (min(at_block, question) if placement == "before" else question + 1)


@pytest.mark.parametrize("placement", ["before", "after"])
@settings(max_examples=50, deadline=None)
@given(turns=turns())
def test_a_frozen_block_keeps_its_place(placement, turns):
    """Within a run that does not resume, a request begins with the whole request before it."""
    calm = [(calls, None) for calls, _ in turns]
    for (turn, _, first, _), (next_turn, _, second, _) in pairwise(requests(calm, placement)):
        if turn == next_turn:
            assert first == second[: len(first)]
