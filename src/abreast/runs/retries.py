"""Read a run's batch: less of it where earlier runs of its thread have failed on the same changes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from abreast.model.batch import Batch
    from abreast.workspace_log import WorkspaceLog

FAILURES: Final = 3
"""How often runs fail on the same changes before less is given, and again before the rest is counted."""

_log = logging.getLogger(__name__)


def read(log: WorkspaceLog, thread: tuple[str, str], wanted: Mapping[str, Any], failures: int) -> Batch:
    """
    Read the batch of a run.

    Args:
        thread: Its workspace and id.
        wanted: What else `read_batch` takes.
        failures: How many runs have failed on the same changes.

    Raises:
        AbreastError: As `read_batch` does.
    """
    batch = log.read_batch(*thread, **wanted)
    less = smaller(batch, failures)
    return batch if less is None else log.read_batch(*thread, **{**wanted, **less})


async def aread(log: WorkspaceLog, thread: tuple[str, str], wanted: Mapping[str, Any], failures: int) -> Batch:
    """Async twin of `read`."""
    batch = await log.aread_batch(*thread, **wanted)
    less = smaller(batch, failures)
    return batch if less is None else await log.aread_batch(*thread, **{**wanted, **less})


def smaller(batch: Batch, failures: int) -> dict[str, Any] | None:
    """
    Bound the batch of a thread whose runs have failed since its last success; None where it stays.

    Gives what `read_batch` is to be asked for instead.

    First it is halved. If that does not help, one line is written out and the rest is told in counts, so that a
    change that makes every answer fail does not hold the thread up for ever. The operator is told each time.
    """
    if failures < FAILURES or len(batch.lines) <= 1:
        return None
    _log.warning(
        "runs of thread %r have failed %d times in a row on the changes after r%d: this one is given less",
        batch.thread_id,
        failures,
        batch.since.revision,
    )
    if failures < 2 * FAILURES:
        return {"limit": (len(batch.lines) + 1) // 2}
    return {"limit": 1, "max_runs": 1}
