"""Which cases are covered: `python -m tests.cases` lists them with their tests, then those that are pending."""

import re
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

TESTS = Path(__file__).parent
PENDING = TESTS / "cases_pending.md"
NUMBERED = {"S": 22, "W": 33, "C": 38, "P": 8}
ALL = tuple(f"{part}{number:02}" for part, last in NUMBERED.items() for number in range(1, last + 1))
TEST = re.compile(r"^(?:async )?def (test_((?:[swcp]\d\d_)+)\w*)", re.MULTILINE)
LINE = re.compile(r"^- \*\*([SWCP]\d\d)\*\* (.+)$", re.MULTILINE)


def covered() -> Mapping[str, list[str]]:
    """Give the tests that have a case's id in their name, by case."""
    found = defaultdict[str, list[str]](list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for name, ids in TEST.findall(path.read_text(encoding="utf-8")):
            for case in ids.upper().strip("_").split("_"):
                found[case].append(f"{path.relative_to(TESTS)}::{name}")
    return found


def pending() -> dict[str, str]:
    """Give the reasons of cases that have no test yet, by case."""
    return dict(LINE.findall(PENDING.read_text(encoding="utf-8")))


def main() -> None:
    """List all cases."""
    tests, reasons = covered(), pending()
    for case in ALL:
        lines = tests[case] if case in tests else [f"pending: {reasons.get(case, 'not named anywhere')}"]
        sys.stdout.writelines(f"{case} {line}\n" for line in lines)
    done = [case for case in ALL if case in tests]
    sys.stdout.write(f"{len(done)} of {len(ALL)} cases have a test\n")
    stale = sorted(set(reasons) & set(done))
    if stale:
        sys.stdout.write(f"covered, but still listed as pending: {', '.join(stale)}\n")


if __name__ == "__main__":
    main()
