"""What graphs see of the saver is what they see of the one in memory."""

from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import _messages_delta_reducer
from langgraph.types import interrupt
from typing_extensions import TypedDict

from abreast.errors import CheckpointCorrupt, ThreadDeleted
from abreast.langgraph.saver.loads import LOADED_KEY
from abreast.operations import ancestry
from abreast.testing.saver_contract.graphs import Wide, wide
from tests.contract.savers import CONFIG, STEP, Savers, at, checkpoint, graph_of


@pytest.fixture
def savers(place):
    """Give savers of a fresh database."""
    made = Savers(place)
    yield made
    made.close()


def history(savers, graph, config=CONFIG):
    """Give the values, next nodes, tasks' interrupts and sources of all states of a thread, newest first."""
    return [
        (
            _plain(state.values),
            state.next,
            [(each.name, [i.value for i in each.interrupts], each.error) for each in state.tasks],
            state.metadata.get("source"),
            state.metadata["step"],
        )
        for state in _states(savers, graph, config)
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return (value.type, value.content) if hasattr(value, "content") else value


class Changes(TypedDict, total=False):
    """A state whose messages are stored as changes."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=4)]
    note: str


class FewSnapshots(TypedDict, total=False):
    """The same, and no snapshot for long."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=500)]
    note: str


def test_p08_a_removed_field_does_not_come_back(savers):
    """P08: a field that left the schema is in no new checkpoint, and is empty when it is added again."""

    def graph_of(state, saver):
        builder = StateGraph(state).add_node("say", lambda _state: {"messages": [AIMessage("fine")]})
        return builder.add_edge(START, "say").compile(checkpointer=saver)

    turn = {"messages": [("user", "hello")]}
    savers.invoke(graph_of(Wide, savers.new()), {**turn, "plan": {"passport": "P-4711 " * 20}, "todo": ["a"]})
    savers.invoke(graph_of(MessagesState, savers.new()), turn)
    found = savers.call(savers.replica(), "get_tuple", CONFIG)
    assert not {"plan", "todo"} & found.checkpoint["channel_values"].keys()
    savers.invoke(graph_of(Wide, savers.new()), turn)
    state = savers.call(graph_of(Wide, savers.new()), "get_state", CONFIG).values
    assert not {"plan", "todo"} & state.keys()
    assert 6 == len(state["messages"])


def changing(saver, state=Changes):
    """Build a graph whose messages are stored as changes."""

    def answer(state):
        number = len(state["messages"])
        removed = [RemoveMessage(id=state["messages"][0].id)] if number > 9 else []
        return {"messages": [*removed, AIMessage(f"answer {number}", id=f"a{number}{state['messages'][-1].id}")]}

    def beside(state):
        return {"messages": [AIMessage("beside", id=f"b{state['messages'][-1].id}")], "note": "x"}

    builder = StateGraph(state)
    builder.add_node("answer", answer)
    builder.add_node("beside", beside)
    builder.add_node("last", lambda _state: {"note": "y"})
    for source, target in (("answer", "last"), ("beside", "last")):
        builder.add_edge(START, source)
        builder.add_edge(source, target)
    return builder.compile(checkpointer=saver)


class TestStoredAsChanges:
    """DeltaChannel: the state is a snapshot and the writes since."""

    def ask(self, savers, graph, number, **options):
        """Run a turn."""
        savers.invoke(graph, {"messages": [HumanMessage(f"q{number}", id=f"h{number}")]}, **options)

    def test_c27_the_walk_gives_what_the_plain_one_gives(self, savers):
        """C27: writes and seeds are those of LangGraph's own walk over single checkpoints. I11"""
        saver = savers.new()
        graph = changing(saver)
        for number in range(5):
            self.ask(savers, graph, number)
        for each in savers.call(saver, "list", CONFIG):
            for channels in (["messages"], ["messages", "note", "nothing"], []):
                ours = savers.call(saver, "get_delta_channel_history", config=each.config, channels=channels)
                plain = _Plain(saver, savers)
                assert plain.get_delta_channel_history(config=each.config, channels=channels) == ours

    @pytest.mark.parametrize("which", ["one", "all of a task"])
    def test_c27_a_lost_write_is_named(self, savers, which):
        """C27: the writes are state; when one is gone, no shorter conversation comes back. I11"""
        graph = changing(savers.new(), FewSnapshots)
        for number in range(2):
            self.ask(savers, graph, number)
        write = savers.place.database.tables.checkpoint_write
        with savers.place.past.begin() as connection:
            rows = connection.execute(write.select().where(write.c.channel == "messages")).all()
            gone = [write.c.checkpoint_id == rows[0].checkpoint_id, write.c.task_id == rows[0].task_id]
            gone += [write.c.idx == rows[0].idx] if which == "one" else []
            assert connection.execute(write.delete().where(*gone)).rowcount > 0
        with pytest.raises(CheckpointCorrupt, match="missing"):
            savers.call(changing(savers.replica(), FewSnapshots), "get_state", CONFIG)

    def test_c27_an_old_state_of_a_long_history(self, savers, monkeypatch):
        """C27: the walk goes over more than one page of ancestors. I11"""
        monkeypatch.setattr(ancestry, "_PAGE", 8)
        saver = savers.new()
        builder = StateGraph(Changes)
        builder.add_node("say", lambda _state: {"note": "x"})
        builder.add_edge(START, "say")
        graph = builder.compile(checkpointer=saver)
        self.ask(savers, graph, 0)
        for number in range(1, 12):
            savers.invoke(graph, {"note": str(number)})
        assert ["q0"] == [message.content for message in savers.call(graph, "get_state", CONFIG).values["messages"]]
        self.ask(savers, graph, 1)
        assert ["q0", "q1"] == savers.told(graph)


class _Plain(InMemorySaver):
    """LangGraph's own walk, over another saver."""

    def __init__(self, saver, savers):
        super().__init__()
        self._own = lambda config: savers.call(saver, "get_tuple", config)

    def get_tuple(self, config):
        """Load from the other saver."""
        return self._own(config)

    def get_delta_channel_history(self, *, config, channels):
        """Walk by single loads."""
        return super(InMemorySaver, self).get_delta_channel_history(config=config, channels=channels)


def _states(savers, graph, config=CONFIG):
    if savers.place.runner is None:
        return list(graph.get_state_history(config))

    async def collected():
        return [state async for state in graph.aget_state_history(config)]

    return savers.place.runner.run(collected())


def test_functions_as_graphs(savers):
    """The functional form of LangGraph keeps its value and its finished tasks."""

    def build(saver):
        @task
        def double(number: int) -> int:
            return number * 2

        @task
        async def adouble(number: int) -> int:
            return number * 2

        if savers.place.runner is None:

            @entrypoint(checkpointer=saver)
            def flow(number: int, *, previous: int | None = None) -> int:
                return double(number).result() + (previous or 0)

            return flow

        @entrypoint(checkpointer=saver)
        async def aflow(number: int, *, previous: int | None = None) -> int:
            return await adouble(number) + (previous or 0)

        return aflow

    assert [2, 6, 12] == [savers.invoke(build(savers.replica()), number) for number in (1, 2, 3)]


def test_the_head_row_says_how_a_thread_stands(savers):
    """Working, interrupted, failed or idle, and the nodes that run next, can be read without the graph."""

    def node(state):
        if state["messages"][-1].content == "fail":
            raise ValueError("no")
        return {"note": interrupt("which day?")} if state["messages"][-1].content == "ask" else {"note": "x"}

    graph = graph_of(savers.new(), node)
    heads = []
    for question in ("hello", "ask", "fail"):
        try:
            savers.ask(graph, question)
        except ValueError:
            assert question == "fail"
        heads.append(_head(savers)[:2])
    assert [("idle", []), ("interrupted", ["say"]), ("failed", ["say"])] == heads
    savers.ask(graph, "hello")
    assert "idle" == _head(savers)[0]
    size = _head(savers)[2]
    assert 200 < size < 3_000


def _head(savers):
    head = savers.place.database.tables.checkpoint_head
    with savers.place.past.begin() as connection:
        row = connection.execute(head.select()).one()
    return row.run_state, row.step, row.state_bytes


class TestDeletedThreads:
    """C09, C36: what is gone stays gone."""

    def test_c09_late_calls_are_refused(self, savers):
        """C09: with a configuration of before neither put nor pending write brings the thread back. I10"""
        saver = savers.new()
        graph = graph_of(saver)
        savers.ask(graph, "m1")
        found = savers.call(saver, "get_tuple", CONFIG)
        plain = at(found.checkpoint["id"])
        savers.call(savers.replica(), "delete_thread", "t1")
        for config in (found.config, plain):
            with savers.unchanged(), pytest.raises(ThreadDeleted):
                savers.call(saver, "put", config, checkpoint("c9", note="late"), STEP, {"note": 1})
            with savers.unchanged(), pytest.raises(ThreadDeleted):
                savers.call(saver, "put_writes", config, [("note", "late")], "task")
        assert savers.call(saver, "get_tuple", CONFIG) is None
        assert [] == savers.call(saver, "list", CONFIG)

    def test_c09_the_id_can_be_used_again(self, savers):
        """C09: a conversation that begins anew has nothing of the old one, and late calls stay refused. I10"""
        saver = savers.new()
        graph = graph_of(saver)
        savers.ask(graph, "m1")
        old = savers.call(saver, "get_tuple", CONFIG)
        savers.call(saver, "delete_thread", "t1")
        savers.ask(graph, "m2")
        assert ["m2"] == savers.told(graph)
        with savers.unchanged(), pytest.raises(ThreadDeleted):
            savers.call(saver, "put", old.config, checkpoint("c9", note="late"), STEP, {"note": 1})
        with savers.unchanged(), pytest.raises(ThreadDeleted):
            savers.call(saver, "put_writes", old.config, [("note", "late")], "task")
        savers.ask(graph, "m3")
        assert ["m2", "m3"] == savers.told(graph)

    def test_c36_no_row_is_left(self, savers):
        """C36: values, elements, writes and nested namespaces go with the thread; again is no error."""
        saver = savers.new()
        savers.invoke(wide().compile(checkpointer=saver), {"messages": [HumanMessage("x" * 99)]})
        before = savers.rows()
        assert all(before.values())
        for _ in range(2):
            savers.call(saver, "delete_thread", "t1")
            rows = savers.rows()
            assert [[]] * 4 == [rows[name] for name in rows if name != "checkpoint_head"]
        savers.call(saver, "delete_thread", "never there")
        assert 1 == len(savers.rows()["checkpoint_head"])


def test_configurations_do_not_leak(savers):
    """What the saver adds to a configuration is in no metadata, and of no use to another thread."""
    saver = savers.new()
    graph = graph_of(saver)
    savers.ask(graph, "m1")
    config = savers.call(graph, "get_state", CONFIG).config
    assert LOADED_KEY in config["configurable"]
    savers.ask(graph, "m2", {"configurable": {LOADED_KEY: config["configurable"][LOADED_KEY], "thread_id": "t2"}})
    assert ["m2"] == savers.told(graph, {"configurable": {"thread_id": "t2"}})
    assert not any(LOADED_KEY in row for row in savers.rows()["checkpoint"])
    assert all(LOADED_KEY not in each.metadata for each in savers.call(saver, "list", None))
