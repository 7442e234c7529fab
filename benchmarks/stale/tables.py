"""Print what a model answered: counts with their uncertainty, and pairs of treatments compared question by question."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.stale.questions import differs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.stale.questions import Verdict
    from benchmarks.stale.requests import Treatment

COMPARED: Final[tuple[Verdict, ...]] = ("right", "stale")
Z: Final = 1.96
"""Standard deviations to either side of a 95 % interval."""


class Result(NamedTuple):
    """
    What came of one treatment.

    Attributes:
        verdicts: By number of the question.
        both: How many of the answers named the old value beside the new one.
    """

    verdicts: Mapping[int, Verdict]
    both: int


def wilson(hits: int, count: int) -> tuple[float, float]:
    """
    Give the 95 % interval of a share, by Wilson's formula.

    Example:
        >>> [round(bound, 2) for bound in wilson(20, 40)]
        [0.35, 0.65]
    """
    share, spread = hits / count, Z * Z / count
    middle = share + spread / 2
    half = Z * math.sqrt(share * (1 - share) / count + spread / (4 * count))
    return (middle - half) / (1 + spread), (middle + half) / (1 + spread)


def sign_test(first: int, second: int) -> float:
    """
    Give the chance that a fair coin splits `first + second` at least as unevenly: the exact McNemar test.

    Example:
        >>> sign_test(1, 5)
        0.21875
    """
    count = first + second
    tail = sum(math.comb(count, hits) for hits in range(min(first, second) + 1))
    return min(1.0, 2 * tail / 2**count)


def counts(results: Mapping[Treatment, Result]) -> Iterator[str]:
    """Write the table of all treatments."""
    yield f"{'block':<20}{'right':>7}{'stale':>7}{'other':>7}   right, 95 % interval"
    for treatment, result in results.items():
        count = Counter(result.verdicts.values())
        low, high = wilson(count["right"], len(result.verdicts))
        both = f"   ({result.both} of the others name both values)" if result.both else ""
        told = "".join(f"{count[verdict]:>7}" for verdict in ("right", "stale", "other"))
        yield f"{treatment!s:<20}{told}   {low:>4.0%} to {high:>4.0%}{both}"


def comparisons(results: Mapping[Treatment, Result], pairs: Sequence[tuple[Treatment, Treatment]]) -> Iterator[str]:
    """Write how often only one of two answers a question right, how often only one is stale, and the tests' p."""
    yield f"{'only the first / only the second':<42}{'right':>9}{'p':>7}{'stale':>9}{'p':>7}"
    for first, second in pairs:
        told = f"{f'{first} / {second}':<42}"
        for verdict in COMPARED:
            only = differs(results[first].verdicts, results[second].verdicts, verdict)
            told += f"{f'{only[0]} / {only[1]}':>9}{sign_test(*only):>7.3f}"
        yield told
