"""Run the benchmarks: `python -m benchmarks [--quick] [replay | agents | models | savers | contract]`."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

from benchmarks import agents, models, replay_tau2, saver_contract, savers
from benchmarks.servers import postgresql_url
from tests.servers.shared import POSTGRESQL


def on_each_database(name: str, run: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    """Run a benchmark on SQLite and on each PostgreSQL; counts the databases with problems."""
    print(f"== {name} on SQLite")
    wrong = run(arguments)
    for kind in POSTGRESQL:
        print(f"\n== {name} on {kind}")
        with postgresql_url(kind) as url:
            if url is not None:
                wrong += run([*arguments, "--database", url])
    return wrong


def replay(arguments: Sequence[str], *, quick: bool) -> int:
    """Replay the two-actor tasks."""
    return on_each_database("replay", replay_tau2.main, [*arguments, *([] if quick else ["--all"])])


def cost(arguments: Sequence[str], *, quick: bool) -> int:
    """Measure what a run of an agent costs."""
    return on_each_database("agents", agents.main, [*arguments, *(["--quick"] if quick else [])])


def answer(arguments: Sequence[str], *, quick: bool) -> int:
    """Ask a small model."""
    print("== models")
    return models.main([*arguments, *(["--quick"] if quick else [])])


def store(arguments: Sequence[str], *, quick: bool) -> int:
    """Compare the saver with LangGraph's own."""
    return savers.main([*arguments, *(["--quick"] if quick else [])])


def contract(arguments: Sequence[str], *, quick: bool) -> int:
    """Try what savers keep, SqlSaver and LangGraph's own."""
    return saver_contract.main([*arguments, *(["--quick"] if quick else [])])


BENCHMARKS: Mapping[str, Callable[..., int]] = {
    "replay": replay,
    "agents": cost,
    "models": answer,
    "savers": store,
    "contract": contract,
}


def main() -> int:
    """Run one benchmark or all; 0 when nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="?", choices=BENCHMARKS, help="only this one; its own options may follow")
    parser.add_argument("--quick", action="store_true", help="a sample of each, in a few minutes")
    options, own = parser.parse_known_args()
    if own and options.name is None:
        parser.error(f"{own[0]} is an option of one benchmark: name it, as in: python -m benchmarks models {own[0]}")
    names = list(BENCHMARKS) if options.name is None else [options.name]
    return 1 if sum(BENCHMARKS[name](own, quick=options.quick) for name in names) else 0


if __name__ == "__main__":
    sys.exit(main())
