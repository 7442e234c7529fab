"""The ancestors of a checkpoint, as far back as channels that are stored as changes need them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from abreast.errors import CheckpointCorrupt
from abreast.operations import checkpoints, pending
from abreast.operations.checkpoints import Loaded, verified

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from abreast.operations.checkpoints import StoredCheckpoint
    from abreast.operations.elements import Address
    from abreast.sql.tables import Tables

_PAGE: Final = 256


def walk(
    connection: Connection, tables: Tables, address: Address, checkpoint_id: str | None, channels: Sequence[str]
) -> list[Loaded]:
    """
    Give a checkpoint's ancestors with their pending writes, nearest first, until each channel has a value.

    Raises:
        CheckpointCorrupt: One of them changed or is missing, or a write that its child was made of.
    """
    target = checkpoints.find(connection, tables, address, checkpoint_id)
    if target is None:
        return []
    remaining = set(channels)
    found: list[Loaded] = []
    child = target.row
    for row in ancestors(connection, tables, address, target.row):
        if not remaining:
            break
        loaded = Loaded(address, row, target.newest, target.epoch)
        here = remaining & row.body.channels.keys()
        if here:
            checkpoints.fill(connection, tables, [loaded], here)
        remaining -= here
        found.append(loaded)
    _read_writes(connection, tables, child, found)
    return found


def ancestors(
    connection: Connection, tables: Tables, address: Address, row: StoredCheckpoint
) -> Iterator[StoredCheckpoint]:
    """
    Give the ancestors of a stored checkpoint, nearest first.

    Raises:
        CheckpointCorrupt: One of them changed or is missing.
    """
    table = tables.checkpoint
    wanted, before = row.parent_id, row.seq
    while wanted is not None:
        older = checkpoints.select_stored(tables, address).where(table.c.seq < before).order_by(table.c.seq.desc())
        page = connection.execute(older.limit(_PAGE)).all()
        for each in page:
            if each.checkpoint_id == wanted:
                found = verified(address, each)
                yield found
                wanted = found.parent_id
        if len(page) < _PAGE:
            break
        before = int(page[-1].seq)
    if wanted is not None:
        raise CheckpointCorrupt(*address, wanted, None, "its row is missing")


def _read_writes(connection: Connection, tables: Tables, child: StoredCheckpoint, found: Sequence[Loaded]) -> None:
    for start in range(0, len(found), _PAGE):
        page = found[start : start + _PAGE]
        ids = [loaded.row.checkpoint_id for loaded in page]
        writes = pending.read(connection, tables, found[0].address, ids)
        for loaded in page:
            loaded.writes = writes[loaded.row.checkpoint_id]
            ordinary = sum(write.idx >= 0 for write in loaded.writes)
            if child.body.parent_writes is not None and ordinary < child.body.parent_writes:
                missing = child.body.parent_writes - ordinary
                raise loaded.corrupt(None, f"{missing} of the writes that the next checkpoint was made of are missing")
            child = loaded.row
