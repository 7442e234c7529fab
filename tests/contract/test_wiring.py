"""I4: a graph made by hand that could never move its cursor says so, where that shows."""

import logging
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from sqlalchemy import Column, MetaData, String, Table

from abreast import Actor, Database, Entity, WorkspaceLog
from abreast.errors import InvalidInput
from abreast.langgraph import CursorState, WorkspaceNodes

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "t1", "workspace_id": "w1"}}
QUESTION = {"messages": [("user", "When?")]}
MODEL = RunnableLambda(lambda _messages: AIMessage("fine"))
move = Table("move", MetaData(), Column("id", String(40), primary_key=True), Column("workspace_id", String(40)))


class Plain(TypedDict):
    """A state that does not inherit from `CursorState`."""

    messages: Annotated[list[AnyMessage], add_messages]


class State(CursorState):
    """One that does."""

    messages: Annotated[list[AnyMessage], add_messages]


@dataclass
class Answer:
    """What such a graph gives its caller."""

    messages: list[AnyMessage]


@pytest.fixture
def log():
    """Give a log with a row."""
    with Database.temporary() as database:
        database.upgrade()
        database.run(move.metadata.create_all)
        log = WorkspaceLog(database, [Entity(move, expose=[])])
        with log.write("w1", actor=Actor.user("u1")) as write:
            write.insert(move, {"id": "m1"})
        yield log


def built(state: Any, *steps: Any, saver: Any = None, **options: Any) -> Any:
    """Build a graph of some steps, one after the other."""
    builder = StateGraph(state, **options)
    before = START
    for place, step in enumerate(steps):
        builder.add_node(f"step{place}", step).add_edge(before, f"step{place}")
        before = f"step{place}"
    return builder.add_edge(before, END).compile(checkpointer=saver)


def test_a_state_without_cursor_state(log):
    """It is named by the first call of the model, before it costs anything."""
    nodes, asked = WorkspaceNodes(log), []
    model = RunnableLambda(lambda messages: asked.append(messages) or AIMessage("fine"))
    for steps in ([nodes.model(model), nodes.nominate], [nodes.nominate], [nodes.request]):
        with pytest.raises(
            InvalidInput, match=r"the graph's state is no CursorState.*inherit it from abreast.langgraph"
        ):
            built(Plain, *steps).invoke(QUESTION, CONFIG)
    assert [] == asked


def test_a_part_of_the_state_is_enough(log):
    """What counts is the graph's own state: a node may pass trimmed messages, or take a state of its own."""
    nodes = WorkspaceNodes(log)

    def trimmed(state: State) -> dict[str, Any]:
        request = nodes.request({"messages": state["messages"][-1:]})
        return {"messages": [AIMessage("fine")], **request.delivered}

    assert nodes.confirm_result(built(State, trimmed, nodes.nominate).invoke(QUESTION, CONFIG)) is False


def test_who_confirms_by_himself_passes_messages(log):
    """A list of messages needs no state: in a graph of another kind, and in a function of LangGraph."""
    nodes, batches = WorkspaceNodes(log), []

    def ask(messages: list[Any]) -> None:
        batches.append(nodes.request(messages).batch)

    built(Plain, lambda state: ask(state["messages"])).invoke(QUESTION, CONFIG)
    entrypoint()(ask).invoke([{"role": "user", "content": "When?"}], CONFIG)
    assert [1, 1] == [batch.head for batch in batches]


def test_a_result_that_holds_no_cursor(log):
    """Neither a graph's own output schema nor what a stream gave can be confirmed."""
    nodes = WorkspaceNodes(log)
    steps = (nodes.model(MODEL), nodes.nominate)
    for result in (built(State, *steps, output_schema=Plain).invoke(QUESTION, CONFIG), None, [], Answer([])):
        with pytest.raises(InvalidInput, match="has no keys of CursorState"):
            nodes.confirm_result(result)
    assert nodes.confirm_result(built(State, *steps).invoke(QUESTION, CONFIG)) is False


def test_an_outer_graph_without_cursor_state(log):
    """Where the nested graph alone keeps the cursor, the outer one's checkpoint is asked in vain, and says so."""
    nodes = WorkspaceNodes(log)
    inner = built(State, nodes.model(MODEL), nodes.nominate)
    outer = built(Plain, inner, saver=InMemorySaver())
    outer.invoke(QUESTION, CONFIG)
    with pytest.raises(InvalidInput, match="no CursorState, so that nothing was nominated"):
        nodes.confirm_finished(outer, CONFIG)


def test_a_thread_that_has_not_run(log):
    """There is nothing to confirm, and nothing wrong."""
    nodes = WorkspaceNodes(log)
    graph = built(State, nodes.model(MODEL), nodes.nominate, saver=InMemorySaver())
    assert nodes.confirm_finished(graph, CONFIG) is False


def test_a_graph_without_checkpointer(log):
    """It is told which call fits."""
    nodes = WorkspaceNodes(log)
    graph = built(State, nodes.model(MODEL), nodes.nominate)
    with pytest.raises(InvalidInput, match=r"has no checkpointer.*confirm_result\(\)"):
        nodes.confirm_finished(graph, CONFIG)


def test_a_graph_that_cannot_nominate(log):
    """A graph whose every node calls the model has none that nominates."""
    nodes = WorkspaceNodes(log)
    graph = built(State, nodes.model(MODEL), saver=InMemorySaver())
    graph.invoke(QUESTION, CONFIG)
    with pytest.raises(InvalidInput, match=r"has no node that nominates.*nodes\.nominate"):
        nodes.confirm_finished(graph, CONFIG)


def test_a_graph_that_never_nominates(log, caplog: pytest.LogCaptureFixture):
    """Where a node of the application could have, one warning names it, by the confirmation or by the next run."""
    for ask in ("confirm", "run"):
        nodes = WorkspaceNodes(log)
        graph = built(State, nodes.model(MODEL), lambda _state: {}, saver=InMemorySaver())
        caplog.clear()
        for _ in range(3):
            graph.invoke(QUESTION, CONFIG)
            if ask == "confirm":
                assert nodes.confirm_finished(graph, CONFIG) is False
        assert [
            "nominate" in record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING
        ] == [True]


def test_a_check_may_lead_past_the_nomination(log, caplog: pytest.LogCaptureFixture):
    """Once the node has been seen, a refused answer is no mistake."""
    nodes = WorkspaceNodes(log)
    led = ["nominate"]
    builder = StateGraph(State).add_node("model", nodes.model(MODEL)).add_edge(START, "model")
    builder.add_node("nominate", nodes.nominate)
    builder.add_conditional_edges("model", lambda _state: led[0], ["nominate", END])
    graph = builder.compile(checkpointer=InMemorySaver())
    for thread, way in (("t1", "nominate"), ("t2", END)):
        led[0] = way
        config = {"configurable": {"thread_id": thread, "workspace_id": "w1"}}
        graph.invoke(QUESTION, config)
        nodes.confirm_finished(graph, config)
    assert [] == [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"placement": "top"}, r"^placement: .*before"),
        ({"limit": 0}, r"^limit: "),
        ({"limit": True}, r"^limit: "),
        ({"render": "ko"}, r"^render: "),
        ({"viewer": "u1"}, r"^viewer: "),
    ],
)
def test_options_that_do_not_fit(log, options, words):
    """They are refused where they are given, not by the first run."""
    with pytest.raises(InvalidInput, match=words):
        WorkspaceNodes(log, **options)


def test_nodes_of_something_else(log):
    """A database is no log."""
    with pytest.raises(InvalidInput, match=r"^log: is Database, no WorkspaceLog; pass WorkspaceLog\("):
        WorkspaceNodes(log.database)


def test_where_the_workspace_can_be_named(log):
    """Both places are told."""
    nodes = WorkspaceNodes(log)
    with pytest.raises(InvalidInput, match=r"^workspace_id: .*context=.*configurable"):
        built(State, nodes.model(MODEL), nodes.nominate).invoke(QUESTION, {"configurable": {"thread_id": "t1"}})
