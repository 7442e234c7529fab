"""Ask a small real model questions whose answer its conversation has wrong: where should the block stand?"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.stale import tables
from benchmarks.stale.local_model import ModelMissing, answers, asking, find_weights
from benchmarks.stale.questions import generate, judge, tells_both
from benchmarks.stale.requests import ALIKE, TREATMENTS, build
from benchmarks.stale.tables import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.stale.questions import Question
    from benchmarks.stale.requests import Treatment

    Answered = tuple[Question, Treatment, str]

QUESTIONS = 48
A_FEW = 12
SEED = 20261130

PAIRS = (
    *((TREATMENTS[first], TREATMENTS[second]) for first in range(1, 4) for second in range(first + 1, 5)),
    *((TREATMENTS[place], TREATMENTS[place + 4]) for place in range(1, 5)),
)
"""Each two placements of sentences, and sentences against terse lines at each placement."""


def ask_all(weights: Path, questions: Sequence[Question], processes: int) -> Iterator[Answered]:
    """Give the model's answer to each question under each treatment, and tell how far it is."""
    began = time.monotonic()
    requests = {(question.number, treatment): messages for question, treatment, messages in build(questions)}
    groups = [[requests[question.number, treatment] for treatment in ALIKE] for question in questions]
    with asking(weights, processes) as pool:
        for done, (question, told) in enumerate(zip(questions, answers(pool, groups), strict=True), 1):
            yield from ((question, treatment, answer) for treatment, answer in zip(ALIKE, told, strict=True))
            if sys.stderr.isatty():
                print(f"\r{done} of {len(questions)}, {time.monotonic() - began:.0f} s", end="", file=sys.stderr)


def judged(answered: Sequence[Answered]) -> dict[Treatment, Result]:
    """Sum answers up by treatment."""
    results = {}
    for treatment in TREATMENTS:
        own = [(question, answer) for question, given, answer in answered if given == treatment]
        both = sum(tells_both(question, answer) for question, answer in own)
        results[treatment] = Result({question.number: judge(question, answer) for question, answer in own}, both)
    return results


def keep(path: Path, answered: Sequence[Answered]) -> None:
    """Write the answers into a file, one JSON object a line, to be read by a person."""
    with path.open("w", encoding="utf-8") as file:
        for question, treatment, answer in answered:
            told = {
                "question": question.wordings[1],
                "old": str(question.asked.before),
                "new": str(question.asked.after),
                "block": str(treatment),
                "answer": answer,
                "verdict": judge(question, answer),
            }
            file.write(f"{json.dumps(told, ensure_ascii=False)}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as a script: 0 when the model was asked or is not installed; how it answers is a finding, no failure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks models", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"ask {A_FEW} questions, not {QUESTIONS}")
    parser.add_argument("--questions", type=int, metavar="N", help="ask so many")
    parser.add_argument("--seed", type=int, default=SEED, help="chooses the questions (%(default)s)")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="another chat model, in the GGUF format")
    parser.add_argument("--processes", type=int, default=2, help="that ask side by side (%(default)s)")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="write the answers there, to read them")
    options = parser.parse_args(arguments)
    try:
        weights = options.weights or find_weights()
    except ModelMissing as missing:
        print(f"left out: {missing}")
        return 0
    began = time.monotonic()
    questions = generate(options.questions or (A_FEW if options.quick else QUESTIONS), options.seed)
    answered = list(ask_all(weights, questions, options.processes))
    if options.answers is not None:
        keep(options.answers, answered)
    results = judged(answered)
    print(f"\n{weights.stem}: {len(questions)} questions, each asked once, greedy, seed {options.seed}\n")
    print(*tables.counts(results), "", *tables.comparisons(results, PAIRS), sep="\n")
    print(f"\n{len(answered)} answers in {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
