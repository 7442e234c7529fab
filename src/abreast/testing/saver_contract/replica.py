"""A saver as one process would have opened it, called by its plain methods or by their async twins."""

from __future__ import annotations

import asyncio
import threading
from contextlib import AbstractAsyncContextManager, AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

    from abreast.testing.saver_contract.graphs import Builder

T = TypeVar("T")
OpenSaver: TypeAlias = "Callable[[Any], AbstractContextManager[Any] | AbstractAsyncContextManager[Any]]"
Prepare: TypeAlias = "Callable[[Any, Any], Any]"


class Replica:
    """
    An opened saver.

    Attributes:
        saver: The saver itself.
        is_async: It is called by its async methods, on an event loop of its own.
    """

    def __init__(self, saver: Any, loop: Loop | None, prepare: Prepare | None = None) -> None:
        self.saver = saver
        self.is_async = loop is not None
        self._loop = loop
        self._prepare = prepare

    def call(self, method: str, *arguments: Any, **options: Any) -> Any:
        """Call a method of the saver; a listing is given as a list."""
        return self._on(self.saver, method, *arguments, **options)

    def get(self, config: Any) -> Any:
        """Load a checkpoint."""
        return self.call("get_tuple", config)

    def compile(self, builder: Builder) -> Any:
        """Compile a graph that this saver keeps."""
        graph = builder.compile(checkpointer=self.saver)
        return graph if self._prepare is None else self._prepare(graph, self.saver)

    def invoke(self, graph: Any, value: Any, config: Any, **options: Any) -> Any:
        """Run a graph."""
        return self._on(graph, "invoke", value, config, **options)

    def state(self, graph: Any, config: Any) -> Any:
        """Give a graph's state."""
        return self._on(graph, "get_state", config)

    def update(self, graph: Any, config: Any, values: Any, as_node: str | None = None) -> Any:
        """Change a graph's state from outside."""
        return self._on(graph, "update_state", config, values, as_node=as_node)

    def history(self, graph: Any, config: Any) -> list[Any]:
        """Give all states of a thread, newest first."""
        return self._on(graph, "get_state_history", config)  # type: ignore[no-any-return]

    def _on(self, owner: Any, method: str, *arguments: Any, **options: Any) -> Any:
        if self._loop is None:
            found = getattr(owner, method)(*arguments, **options)
            return list(found) if hasattr(found, "__next__") else found
        return self._loop.run(_awaited(getattr(owner, f"a{method}")(*arguments, **options)))


async def _awaited(found: Any) -> Any:
    return [each async for each in found] if hasattr(found, "__anext__") else await found


class Loop:
    """An event loop in a thread of its own, as another process would have one."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="saver-contract", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end; several threads may do so at once."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def close(self) -> None:
        """End the loop."""
        self.run(self._finish())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _finish(self) -> None:
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()


@contextmanager
def opened(open_saver: OpenSaver, handle: Any, prepare: Prepare | None = None) -> Generator[Replica]:
    """Open a saver on a store."""
    manager = open_saver(handle)
    if isinstance(manager, AbstractContextManager):
        with manager as saver:
            yield Replica(saver, None, prepare)
        return
    with ExitStack() as stack:
        loop = Loop()
        stack.callback(loop.close)
        saver = loop.run(_entered(manager))
        stack.callback(lambda: loop.run(_exited(manager)))
        yield Replica(saver, loop, prepare)


async def _entered(manager: AbstractAsyncContextManager[Any]) -> Any:
    return await manager.__aenter__()


async def _exited(manager: AbstractAsyncContextManager[Any]) -> None:
    await manager.__aexit__(None, None, None)
