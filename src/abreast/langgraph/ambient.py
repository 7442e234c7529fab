"""What LangGraph says of the run that the calling node is part of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from langgraph.config import get_config
from langgraph.runtime import get_runtime

from abreast.runs import RUN_KEY, Run, current_run


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
        context = self.context
        if isinstance(context, Mapping):
            found = cast("Mapping[str, Any]", context).get("workspace_id")
        else:
            found = getattr(context, "workspace_id", None)
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
