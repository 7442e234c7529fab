"""Run the benchmarks: `python -m benchmarks [--quick]`."""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks import replay_tau2
from tests.servers.postgresql import PostgreSQL
from tests.servers.shared import POSTGRESQL


@contextmanager
def postgresql_url(kind: str) -> Iterator[str | None]:
    """Give the URL of a new database on a private server; None, and why, where its programs are missing."""
    find, missing = POSTGRESQL[kind]
    programs = find()
    if programs is None:
        print(f"left out: {missing}")
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="abreast-bench-") as folder:
        Path(folder).chmod(0o755)
        server = PostgreSQL.create(Path(folder) / "server", programs)
        server.start()
        try:
            yield server.url(server.create_database())
        finally:
            server.stop()


def replays(arguments: Sequence[str]) -> int:
    """Replay the two-actor tasks on SQLite and on each PostgreSQL; counts the databases with problems."""
    print("== replay on SQLite")
    wrong = replay_tau2.main(arguments)
    for kind in POSTGRESQL:
        print(f"\n== replay on {kind}")
        with postgresql_url(kind) as url:
            if url is not None:
                wrong += replay_tau2.main([*arguments, "--database", url])
    return wrong


def main() -> int:
    """Run everything; 0 when nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a sample of each, in about two minutes")
    options = parser.parse_args()
    return 1 if replays([] if options.quick else ["--all"]) else 0


if __name__ == "__main__":
    sys.exit(main())
