"""The database servers that benchmarks run on."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
