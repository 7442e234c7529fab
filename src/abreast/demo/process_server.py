"""A server without threads that loads the modules once, and begins processes from there."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext


def process_server() -> ForkServerContext | SpawnContext:
    """
    Let the server load the modules, and do not wait for it; safe to repeat.

    Where there can be no such server each process loads them by itself. Forking the calling process is no way: it has
    threads and open connections.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver  # noqa: PLC0415 - not for every system

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["abreast.demo.processes"])
    forkserver.ensure_running()
    return context
