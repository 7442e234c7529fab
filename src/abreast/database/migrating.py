"""abreast's own tables: made, compared, brought up to date. Loads Alembic, which most processes need once or never."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from abreast.operations.receipts import installation_secret

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from abreast.sql.tables import Tables


def load() -> None:
    """Read the migrations from disk, once: it has to happen off the event loop."""
    from abreast.sql import migrator  # noqa: PLC0415 - loads Alembic

    migrator.load()


def upgrade(connection: Connection, tables: Tables) -> None:
    """Run the migrations that are missing."""
    from abreast.sql import migrator  # noqa: PLC0415 - as above

    migrator.upgrade(connection, tables)
    # Made by the first writer it would stay locked for as long as that writer's own transaction is open.
    installation_secret(connection, tables, new_secret=secrets.token_bytes(32))


def plan(connection: Connection, tables: Tables) -> list[str]:
    """List the migrations that are missing."""
    from abreast.sql import migrator  # noqa: PLC0415 - as above

    return migrator.plan(connection, tables)


def check(connection: Connection, tables: Tables) -> None:
    """Make sure that the tables fit this code."""
    from abreast.sql import migrator  # noqa: PLC0415 - as above

    migrator.check(connection, tables)
