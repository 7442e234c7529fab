"""The graphs that cases run."""

# No postponed annotations: LangGraph reads them, also of classes within functions.
import operator
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeAlias

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels import DeltaChannel
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Send, interrupt
from typing_extensions import TypedDict


class Talk(TypedDict, total=False):
    """A conversation."""

    messages: Annotated[list[AnyMessage], add_messages]
    note: str


class Wide(TypedDict, total=False):
    """A state with a channel of each kind."""

    messages: Annotated[list[AnyMessage], add_messages]
    found: Annotated[list[str], operator.add]
    count: Annotated[int, operator.add]
    plan: dict[str, Any]
    todo: list[str]


def extend(state: list[str] | None, writes: Sequence[list[str]]) -> list[str]:
    """Add what was said, in order."""
    return [*(state or ()), *(text for write in writes for text in write)]


class Changes(TypedDict, total=False):
    """A conversation that is stored as changes, with a snapshot now and then."""

    said: Annotated[list[str], DeltaChannel(extend, list, snapshot_frequency=4)]
    note: str


class FewSnapshots(TypedDict, total=False):
    """The same, with no snapshot for long."""

    said: Annotated[list[str], DeltaChannel(extend, list, snapshot_frequency=500)]
    note: str


Step: TypeAlias = Callable[[Any], Any]
Builder: TypeAlias = Any
"""A `StateGraph`, not yet compiled."""


def line(state: Any, *nodes: tuple[str, Step]) -> Builder:
    """Build a graph of nodes one after the other."""
    builder: Builder = StateGraph(state)
    names = [name for name, _ in nodes]
    for name, step in nodes:
        builder.add_node(name, step)
    for source, target in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(source, target)
    return builder


def side_by_side(state: Any, last: Step, **nodes: Step) -> Builder:
    """Build a graph of parallel nodes, and one after them."""
    builder: Builder = StateGraph(state)
    builder.add_node("last", last)
    for name, step in nodes.items():
        builder.add_node(name, step)
        builder.add_edge(START, name)
        builder.add_edge(name, "last")
    return builder


def talk(answer: Step | None = None) -> Builder:
    """Build a conversation."""
    return line(Talk, ("say", answer or _answer))


def question(text: str) -> Any:
    """Make the input of a turn."""
    return {"messages": [HumanMessage(text)]}


def _answer(state: Any) -> Any:
    return {"messages": [AIMessage("to " + str(state["messages"][-1].content))], "note": "answered " * 10}


def wide() -> Builder:
    """Build a graph with branches, parallel nodes, sends, a nested graph and a question."""
    nodes: dict[str, Step] = {
        "plan": _plan,
        "left": lambda _state: {"found": ["left " * 20], "messages": [AIMessage("from the left " * 9)]},
        "right": lambda _state: {"found": ["right " * 20], "messages": [AIMessage("from the right " * 9)]},
        "work": lambda item: {"found": [f"work {item} " * 9]},
        "inner": line(Wide, ("look", _look), ("ask", _ask)).compile(),
        "end": lambda _state: {"count": 10},
    }
    builder: Builder = StateGraph(Wide)
    for name, step in nodes.items():
        builder.add_node(name, step)
    builder.add_edge(START, "plan")
    builder.add_edge("plan", "left")
    builder.add_edge("plan", "right")
    builder.add_conditional_edges("plan", _spread, ["work"])
    builder.add_edge(["left", "right", "work"], "inner")
    builder.add_edge("inner", "end")
    builder.add_edge("end", END)
    return builder


def _plan(state: Any) -> Any:
    return {"count": 1, "todo": [f"step {number} " * 9 for number in range(len(state["messages"]))]}


def _spread(_state: Any) -> list[Send]:
    return [Send("work", number) for number in range(3)]


def _look(state: Any) -> Any:
    return {"found": [f"looked {state.get('count', 0)} " * 9]}


def _ask(_state: Any) -> Any:
    return {"plan": {"day": interrupt("which day?")}}


def nested(*, stateful: bool) -> Builder:
    """Build a graph around one that has a memory of its own, or none."""
    inner = line(
        Wide,
        ("first", lambda state: {"found": [f"first {len(state.get('found', []))} " * 9]}),
        ("second", lambda state: {"found": [f"second {len(state['found'])} " * 9]}),
    )
    return line(
        Wide,
        ("before", lambda _state: {"count": 1}),
        ("inner", inner.compile(checkpointer=True if stateful else None)),
        ("after", lambda _state: {"count": 1}),
    )


def changes(state: Any = Changes) -> Builder:
    """Build a graph of parallel nodes whose conversation is stored as changes."""
    return side_by_side(
        state,
        lambda _state: {"note": "y"},
        answer=lambda state: {"said": [f"answer {len(state['said'])}"]},
        beside=lambda _state: {"said": ["beside"], "note": "x"},
    )
