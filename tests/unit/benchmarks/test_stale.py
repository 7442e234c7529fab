"""The questions that a real model is asked: how they are made, judged and counted. No model runs here."""

from datetime import date

import pytest

from benchmarks.stale.product import FIELDS
from benchmarks.stale.questions import Question, differs, generate, judge, tells_both
from benchmarks.stale.requests import ALIKE, NO_BLOCK, TREATMENTS, Treatment, build
from benchmarks.stale.tables import Result, comparisons, counts, sign_test, wilson

SEED = 7


def question_about(name: str, **changes: object) -> Question:
    """Give a question about a field whose values are chosen."""
    found = next(question for question in generate(len(FIELDS), SEED) if question.asked.field.name == name)
    return Question(**{part: getattr(found, part) for part in Question.__slots__} | changes)


def about(name: str, before: object, after: object) -> Question:
    """Give a question about a field that changed from one value to another."""
    found = question_about(name)
    return question_about(name, asked=type(found.asked)(found.asked.field, before, after))


def test_same_seed_same_questions():
    """A run can be repeated, and another seed asks something else."""
    assert generate(24, SEED) == generate(24, SEED)
    assert generate(24, SEED) != generate(24, SEED + 1)


def test_every_field_is_asked_about_as_often():
    """No kind of value decides the result by its number."""
    asked = [question.asked.field for question in generate(48, SEED)]
    assert {4} == {asked.count(field) for field in FIELDS}


def test_no_value_stands_for_two_fields():
    """An answer that tells a value tells which field it is about."""
    for question in generate(48, SEED):
        values = [value for row in question.rows.values() for value in row.values()]
        told = [*values, question.asked.after, question.besides.after]
        assert len(told) == len(set(told))


DAY = about("move_in_date", date(2026, 9, 28), date(2026, 10, 3))
BOXES = about("boxes", 40, 64)
DEPOSIT = about("deposit", 1200, 1450)
STAGE = about("stage", "booked", "packed")


@pytest.mark.parametrize(
    ("question", "answer", "verdict"),
    [
        (DAY, "You move in on 2026-10-03.", "right"),
        (DAY, "On October 3rd, 2026.", "right"),
        (DAY, "On the 3 of Oct.", "right"),
        (DAY, "You move in on September 28.", "stale"),
        (DAY, "It moved from 2026-09-28 to 2026-10-03.", "other"),
        (DAY, "On October 30.", "other"),
        (DAY, "I do not know.", "other"),
        (BOXES, "There are 64 boxes.", "right"),
        (BOXES, "There are 640 boxes.", "other"),
        (BOXES, "There are 40.", "stale"),
        (DEPOSIT, "It is 1,450 euros.", "right"),
        (DEPOSIT, "It is 1200 euros.", "stale"),
        (STAGE, "PACKED", "right"),
        (STAGE, "It is being unpacked.", "other"),
    ],
)
def test_judge(question: Question, answer: str, verdict: str):
    """Right is the new value alone, stale the old one alone; everything else is neither."""
    assert verdict == judge(question, answer)


def test_tells_both():
    """An answer with both values is told apart from one with neither."""
    assert tells_both(STAGE, "It went from booked to packed.")
    assert not tells_both(STAGE, "I do not know.")


def test_requests_are_those_of_the_middleware():
    """I14: each placement and wording changes the block alone; history holds the old value, the block the new one."""
    (question,) = generate(1, SEED)
    requests = {treatment: messages for _, treatment, messages in build([question])}
    plain = [(message["role"], message["content"]) for message in requests[NO_BLOCK]]
    assert ("assistant", question.stale_answer) in plain
    assert ("user", question.wordings[1]) == plain[-1]
    assert set(TREATMENTS) == set(ALIKE) == set(requests)
    for treatment, messages in requests.items():
        told = [message["content"] for message in messages if "<workspace_state" in message["content"]]
        assert (treatment != NO_BLOCK) == bool(told)
        assert all(str(question.asked.after) in block for block in told)
        if treatment.placement != "merge":
            kept = [(one["role"], one["content"]) for one in messages if one["content"] not in told]
            assert plain == kept


def test_placements_and_wordings():
    """Where the block stands, and how a change is told in it."""
    (question,) = generate(1, SEED)
    requests = {treatment: messages for _, treatment, messages in build([question])}
    places = {
        placement: [
            "<workspace_state" in message["content"] for message in requests[Treatment(placement, "sentences")]
        ].index(True)
        for placement in ("before", "after", "merge", "system")
    }
    count = len(requests[NO_BLOCK])
    assert {"before": count - 1, "after": count, "merge": count - 1, "system": 1} == places
    before, after = question.asked.before, question.asked.after
    assert f"from {before} to {after}" in requests[Treatment("before", "sentences")][-2]["content"]
    assert f": {before} -> {after}\n" in requests[Treatment("before", "terse")][-2]["content"]


def test_uncertainty():
    """Few questions tell little: the interval is wide, and an uneven split can be chance."""
    low, high = wilson(20, 40)
    assert (0.352, 0.648) == (round(low, 3), round(high, 3))
    assert 0.0 == wilson(0, 40)[0]
    assert (1.0, 0.625, 0.0078) == (sign_test(0, 0), sign_test(3, 1), round(sign_test(8, 0), 4))


def test_tables():
    """A treatment's row has its counts, a pair's row what only one of the two has right."""
    first, second = TREATMENTS[1], TREATMENTS[2]
    results = {
        first: Result({1: "right", 2: "right", 3: "stale"}, 0),
        second: Result({1: "right", 2: "other", 3: "stale"}, 1),
    }
    rows = [row.split() for row in counts(results)]
    assert ["before,", "sentences", "2", "1", "0"] == rows[1][:5]
    assert ["after,", "sentences", "1", "1", "1"] == rows[2][:5]
    assert (1, 0) == differs(results[first].verdicts, results[second].verdicts, "right")
    assert list(comparisons(results, [(first, second)]))[1].endswith("1 / 0  1.000    0 / 0  1.000")
