"""What LangGraph says of the run that the calling node is part of."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import uuid4

from langgraph.config import get_config
from langgraph.runtime import get_runtime

from abreast.langgraph.state import value_of
from abreast.runs import RUN_KEY, Run, current_run

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_NAMED: Final = 4_096


@dataclass(slots=True)
class RunNames:
    """
    Names of the newest runs of this process; a run whose name was dropped is given another one.

    A run's object is held as long as its name, so that its identity is not given to a later run.
    """

    _kept: OrderedDict[int, tuple[object, str]] = field(default_factory=OrderedDict[int, tuple[object, str]])
    _lock: Lock = field(default_factory=Lock)

    def of(self, run: object) -> str:
        """Give the name of a run: no other run has it, in this process or another one."""
        with self._lock:
            _, name = self._kept.setdefault(id(run), (run, uuid4().hex))
            self._kept.move_to_end(id(run))
            while len(self._kept) > _MOST_NAMED:
                self._kept.popitem(last=False)
            return name


_run_names: Final = RunNames()


@dataclass(frozen=True, slots=True)
class Ambient:
    """
    The run a node is part of; empty outside of one.

    Attributes:
        context: The application's runtime context.
        configurable: What the caller configured, as in `config={"configurable": {"thread_id": …}}`.
        run: An object that is another one in each run, resumed ones too; None where LangGraph gives none.
        graph: Names the graph within the run: a nested graph is another one.
    """

    context: Any = None
    configurable: Mapping[str, Any] = field(default_factory=dict[str, Any])
    run: object | None = None
    graph: str = ""

    @property
    def run_name(self) -> str | None:
        """The run's name, which no other run has; None outside of one."""
        return None if self.run is None else _run_names.of(self.run)

    @property
    def thread_id(self) -> str | None:
        """The thread, where the caller named one."""
        return cast("str | None", self.configurable.get("thread_id"))

    @property
    def bound(self) -> Run | None:
        """The run of the bound graph that the node is part of, if there is one."""
        return current_run(self.configurable.get(RUN_KEY))

    @property
    def workspace_id(self) -> str | None:
        """The workspace, from the bound run, the runtime context or else the configuration."""
        if self.bound is not None:
            return self.bound.workspace_id
        found = value_of(self.context, "workspace_id")
        return cast("str | None", found or self.configurable.get("workspace_id"))


def ambient() -> Ambient:
    """Look around."""
    try:
        configurable: Mapping[str, Any] = get_config().get("configurable", {})
    except RuntimeError:
        return Ambient()
    runtime = get_runtime() if configurable else None
    graph = str(configurable.get("checkpoint_ns") or "").rpartition("|")[0]
    if runtime is None:
        return Ambient(None, configurable, None, graph)
    # A graph within a graph shares the outer one's control, a resumed run has a new one.
    return Ambient(runtime.context, configurable, runtime.control, graph)
