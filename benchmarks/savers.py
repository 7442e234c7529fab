"""SqlSaver beside LangGraph's own savers: bytes, puts, loads and whole turns of a conversation of up to 1,000 turns."""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.saver_stores import DeltaState, official_store, own_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.saver_stores import Store

TURNS = (50, 200, 1_000)
ROUNDS = 7
"""Loads of each, one saver after the other."""
SAMPLES = (0, 50, 100, 200, 400, 600, 800, 1_000)
SAMPLED = 5
TARGETS = {
    "put (cpu) 50": 1.5,
    "put (cpu) 1000": 0.15,
    "load (cpu) 1000": 1.2,
    "growth from 200 to 1,000 turns": 5.0,
    "load of DeltaChannel's": 0.3,
    "bytes of DeltaChannel's": 0.7,
}
BYTES = {"sqlite": 1 / 250, "postgresql": 1 / 60}


def official_bytes(kind: str, folder: Path) -> float:
    """Give the bytes of LangGraph's saver at 1,000 turns: what a turn adds, measured at some lengths, summed up."""
    added: list[float] = []
    for turns in SAMPLES:
        with official_store(kind, folder) as store:
            store.fill(turns)
            before = store.size()
            store.talk(SAMPLED)
            added.append((store.size() - before) / SAMPLED)
    pairs = zip(SAMPLES, SAMPLES[1:], added, added[1:], strict=False)
    return sum((right - left) * (low + high) / 2 for left, right, low, high in pairs)


def compare(kind: str, turns: Sequence[int]) -> int:
    """Print the ratios of one kind of database, and count the targets that are missed."""
    print(f"\n== savers on {kind}: SqlSaver, LangGraph's, ratio")
    missed, sizes = 0, dict[int, int]()
    with tempfile.TemporaryDirectory(prefix="abreast-savers-") as name, own_store(kind, Path(name)) as own:
        for before, length in pairwise((0, *turns)):
            own.talk(length - before)
            sizes[length] = own.size()
            with own_store(kind, Path(name)) as tried, official_store(kind, Path(name)) as official:
                tried.talk(length)
                official.fill(length)
                missed += measure(length, tried, official)
        if turns == TURNS:
            missed += bytes_of(kind, Path(name), sizes) + beside_delta(kind, Path(name), own, sizes[TURNS[-1]])
    return missed


def bytes_of(kind: str, folder: Path, sizes: Mapping[int, int]) -> int:
    """Print how much is stored, and count the targets that are missed."""
    whole = official_bytes(kind, folder)
    print(f"bytes: {', '.join(f'{turns}: {size / 1e6:.2f} MB' for turns, size in sizes.items())}")
    print(f"  LangGraph's at 1,000 turns: {whole / 1e6:.0f} MB")
    share, most = sizes[TURNS[-1]] / whole, BYTES[kind.partition("-")[0]]
    print(f"  bytes: 1/{1 / share:.0f}, target 1/{1 / most:.0f}{'' if share <= most else ' MISSED'}")
    return (share > most) + _missed("growth from 200 to 1,000 turns", sizes[1_000] / sizes[200])


def beside_delta(kind: str, folder: Path, own: Store, size: int) -> int:
    """Compare with DeltaChannel, for which a graph has to be changed; counts the targets that are missed."""
    with official_store(kind, folder, DeltaState) as delta:
        delta.talk(TURNS[-1])
        stored = delta.size()
        # Half way to the next snapshot, which comes with every 50th turn.
        delta.talk(25)
        own.talk(25)
        for store in (own, delta):
            store.times.clear()
        for _ in range(ROUNDS):
            own.look(1)
            delta.look(1)
        ours, theirs = own.medians(), delta.medians()
    print(f"  DeltaChannel at 1,000 turns: {stored / 1e6:.2f} MB, its state in {theirs['state']:.1f} ms")
    missed = _missed("bytes of DeltaChannel's", size / stored)
    return missed + _missed("load of DeltaChannel's", ours["state (cpu)"] / theirs["state (cpu)"])


def measure(turns: int, own: Store, official: Store) -> int:
    """Measure both in turn, print their times and ratios, and count the targets that are missed."""
    for store in (own, official):
        store.round()
        store.talk(1)
        store.times.clear()
    for _ in range(ROUNDS):
        for store in (own, official):
            store.round()
            store.talk(1)
    ours, theirs = own.medians(), official.medians()
    for name, value in ours.items():
        print(f"{turns:>6} {name:<22} {value:>8.2f} ms {theirs[name]:>8.2f} ms  ratio {value / theirs[name]:.2f}")
    return sum(_missed(f"{name} {turns}", ours[name] / theirs[name]) for name in ("put (cpu)", "load (cpu)"))


def _missed(name: str, value: float) -> bool:
    target = TARGETS.get(name)
    if target is None:
        return False
    print(f"  {name}: {value:.2f}, target {target}{'' if value <= target else ' MISSED'}")
    return value > target


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare on the given kinds of database; counts the targets that are missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks savers", description=__doc__)
    parser.add_argument("kinds", nargs="*", default=["sqlite", "postgresql-embedded"])
    parser.add_argument("--quick", action="store_true", help="50 turns only")
    options = parser.parse_args(arguments)
    return sum(compare(kind, TURNS[:1] if options.quick else TURNS) for kind in options.kinds)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
