"""Notice a graph made by hand that can never move its cursor, where the mistake shows."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from abreast.errors import InvalidInput
from abreast.langgraph.arguments import came, check_mapping
from abreast.langgraph.state import DELIVERED, NOMINATED, value_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from langchain_core.runnables import RunnableConfig

    from abreast.langgraph.ambient import Ambient

_log = logging.getLogger(__name__)
_READ, _CHECKPOINTER = "__pregel_read", "__pregel_checkpointer"
_START: Final = "__start__"
_INHERIT: Final = "inherit it from abreast.langgraph.CursorState"


def check_keeps_cursor(around: Ambient, state: object) -> None:
    """
    Make sure that the graph around a node keeps what abreast notes: LangGraph drops updates of unknown keys silently.

    A list of messages instead of a state says nothing: whoever passes it may confirm by himself.

    Raises:
        InvalidInput: The graph's state has no keys of abreast.
    """
    read = cast("Callable[[str], object] | None", around.configurable.get(_READ))
    if around.run is None or read is None or isinstance(state, (list, tuple)):
        return
    if not all(_has_key(read, key) for key in (DELIVERED, NOMINATED)):
        raise InvalidInput(
            "state",
            "the graph's state is no CursorState, so that no cursor would ever move",
            f"{_INHERIT}; or pass the list of messages, and confirm the request's batch yourself",
        )


def _has_key(read: Callable[[str], object], key: str) -> bool:
    try:
        read(key)
    except KeyError:
        return False
    return True


def check_checkpoint(values: object) -> None:
    """
    Make sure that the state of a graph that has run holds the keys of abreast.

    Raises:
        InvalidInput: It does not.
    """
    if values and value_of(values, DELIVERED) is None and value_of(values, NOMINATED) is None:
        raise InvalidInput(
            "state", "the graph's state is no CursorState, so that nothing was nominated", f"{_INHERIT} and run again"
        )


def check_result(result: object) -> None:
    """
    Make sure that what a run gave back holds the keys of abreast.

    Raises:
        InvalidInput: It does not.
    """
    known = any(value_of(result, key) is not None for key in (DELIVERED, NOMINATED, "__interrupt__"))
    if not known:
        raise InvalidInput(
            "result",
            f"is {came(result)} and has no keys of CursorState, so that nothing can be confirmed",
            "pass what invoke() returned; the graph's state, and its output schema if it has one, inherit from "
            "abreast.langgraph.CursorState",
        )


def check_checkpointer(graph: object, config: RunnableConfig) -> None:
    """
    Make sure that a graph's state can be looked up.

    Raises:
        InvalidInput: It keeps none, or it is no graph.
    """
    if not callable(getattr(graph, "get_state", None)):
        raise InvalidInput("graph", f"is {came(graph)}, no compiled graph", "pass what compile() or bind() gave")
    check_mapping("config", config, "LangGraph's", 'pass config={"configurable": {"thread_id": …}}')
    own = getattr(graph, "checkpointer", True)
    if not own and not config.get("configurable", {}).get(_CHECKPOINTER):
        raise InvalidInput(
            "graph",
            "has no checkpointer, so that nothing says how its run ended",
            "compile it with one, or call confirm_result() with what invoke() returned",
        )


class Nominations:
    """
    Whether anything ever nominates what a graph's model was given.

    Attributes:
        seen: `nominate` was called in this process.
    """

    def __init__(self) -> None:
        self.seen = False
        self._told = False
        self._models: list[object] = []

    def calls_model(self, node: object) -> None:
        """Remember a node that only calls a model."""
        self._models.append(node)

    def check_graph(self, graph: object) -> None:
        """
        Make sure that a graph has a node besides those that call the model.

        Raises:
            InvalidInput: It has none, so that none can nominate.
        """
        found: object = getattr(graph, "nodes", None)
        nodes: Mapping[str, object] = cast("Mapping[str, object]", found) if isinstance(found, Mapping) else {}
        steps = [getattr(node, "bound", None) for name, node in nodes.items() if name != _START]
        if steps and all(any(step is model for model in self._models) for step in steps):
            raise InvalidInput(
                "graph",
                "has no node that nominates, so that no cursor would ever move",
                'end it with builder.add_node("nominate", nodes.nominate)',
            )

    def tell_missing(self, thread_id: str) -> None:
        """Warn once that a graph has finished and nominated nothing: a check may have led past it, or it is missing."""
        if not self.seen and not self._told:
            self._told = True
            _log.warning(
                "thread %r: the graph has finished and nominated nothing, so its cursor stays and the next run is "
                "given the same changes; unless a check led past it on purpose, end the graph with the node "
                "`nominate` of WorkspaceNodes",
                thread_id,
            )
