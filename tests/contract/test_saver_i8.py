"""I8: after a later run has loaded a thread, no checkpoint and no pending write of an earlier run takes effect."""

import asyncio
import threading

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.types import Command, interrupt

from abreast import Database, WorkspaceLog
from abreast.errors import CheckpointConflict, LeaseLost, ThreadBusy
from abreast.langgraph import bind
from abreast.langgraph.saver import SqlSaver
from abreast.runs import RUN_KEY, Runs
from abreast.runs.heartbeat import heartbeat_of
from tests.conftest import upgrade
from tests.contract.bound import World
from tests.contract.product import MOVE
from tests.contract.savers import CONFIG, STEP, Savers, at, checkpoint, graph_of

BOUND = {"configurable": {"thread_id": "t1", "workspace_id": "w1"}}


class Thread:
    """A thread whose runs begin and end by hand."""

    def __init__(self, world, savers):
        self.world = world
        self.savers = savers
        self.saver = savers.new()
        self.log = WorkspaceLog(savers.place.database, [MOVE])
        self.begun = []

    def begin(self, log=None):
        """Begin a run, which takes over what has run out."""
        runs = Runs(log or self.log)
        if self.savers.place.runner is None:
            run = runs.enter("t1", "w1")
        else:
            run = self.savers.place.runner.run(runs.aenter("t1", "w1"))
        self.begun.append((runs, run))
        return run

    def stand_still(self):
        """Let the lease run out, as it does for a process that is stopped."""
        for runs, run in self.begun:
            _forget(runs, run)
        self.world.client.rows("UPDATE abreast_thread_lease SET expires_at = 1")

    def end(self, run):
        """End a run."""
        runs = next(runs for runs, begun in self.begun if begun is run)
        if self.savers.place.runner is None:
            runs.leave(run, "stopped")
        else:
            self.savers.place.runner.run(runs.aleave(run, "stopped"))

    def get(self, run=None, saver=None):
        """Load the newest checkpoint as a run, or as nobody."""
        return self.savers.call(saver or self.saver, "get_tuple", at(**_of(run)))

    def put(self, run, parent, name, saver=None):
        """Publish as a run, or as nobody."""
        made = checkpoint(name, note=name)
        return self.savers.call(saver or self.saver, "put", at(parent, **_of(run)), made, STEP, {"note": 1})

    def write(self, run, name, task="task"):
        """Store a pending write as a run, or as nobody."""
        self.savers.call(self.saver, "put_writes", at(name, **_of(run)), [("note", f"by {task}")], task)

    def close(self):
        """End what still runs."""
        for runs, run in self.begun:
            _forget(runs, run)


def _of(run):
    return {} if run is None else {RUN_KEY: run.token}


def _forget(runs, run):
    heartbeat_of(runs.log.database).remove(run)


@pytest.fixture
def savers(place):
    """Give savers of a fresh database."""
    made = Savers(place)
    yield made
    made.close()


@pytest.fixture
def world(place, client):
    """Give a workspace in which a conversation has begun."""
    return World(place, client)


@pytest.fixture
def thread(world, savers):
    """Give a thread."""
    made = Thread(world, savers)
    yield made
    made.close()


def test_c01_a_run_that_was_taken_over_stores_nothing(thread):
    """C01 C08 I8: after the later run has loaded, put and pending write of the earlier one are refused."""
    first = thread.begin()
    thread.get(first)
    thread.put(first, None, "c1")
    thread.stand_still()
    second = thread.begin()
    assert second.lease.fence == first.lease.fence + 1
    thread.get(second)
    for step in (
        lambda: thread.put(first, "c1", "c2"),
        lambda: thread.write(first, "c1"),
    ):
        with thread.savers.unchanged(), pytest.raises(LeaseLost):
            step()
    thread.put(second, "c1", "c3")
    assert "c3" == thread.get(second).checkpoint["id"]


def test_a_later_run_in_another_process_counts_as_well(thread):
    """What counts is in the database, not in the saver's memory. I8"""
    first = thread.begin()
    thread.get(first)
    thread.put(first, None, "c1")
    thread.stand_still()
    second = thread.begin()
    thread.get(second, saver=thread.savers.replica())
    with thread.savers.unchanged(), pytest.raises(LeaseLost):
        thread.put(first, "c1", "c2")


def test_c01_a_lease_that_nobody_has_taken_over_invalidates_nothing(thread):
    """C01 I8: a run that was stopped for long goes on if no later one has loaded the thread."""
    first = thread.begin()
    thread.get(first)
    thread.put(first, None, "c1")
    thread.stand_still()
    thread.put(first, "c1", "c2")
    thread.write(first, "c2")
    second = thread.begin()
    thread.put(first, "c2", "c3")
    found = thread.get(second)
    assert "c3" == found.checkpoint["id"]


def test_the_first_call_may_be_a_put(thread):
    """A run makes itself known with whatever it does first. I8"""
    first = thread.begin()
    thread.put(first, None, "c1")
    thread.stand_still()
    second = thread.begin()
    thread.put(second, "c1", "c2")
    with thread.savers.unchanged(), pytest.raises(LeaseLost):
        thread.write(first, "c1")


def test_of_two_runs_the_head_still_decides(thread):
    """A fence is no right to overwrite: what was computed from an older head is refused. I8 I10"""
    thread.put(None, None, "c1")
    thread.put(None, "c1", "c2")
    run = thread.begin()
    thread.get(run)
    with thread.savers.unchanged(), pytest.raises(CheckpointConflict):
        thread.put(run, "c1", "c3")


def test_nobody_else_changes_a_thread_that_runs(thread):
    """Without a run, checkpoints and pending writes are refused while somebody has the lease. I8"""
    thread.put(None, None, "c1")
    run = thread.begin()
    with thread.savers.unchanged():
        for step in (lambda: thread.put(None, "c1", "c2"), lambda: thread.write(None, "c1")):
            with pytest.raises(ThreadBusy) as raised:
                step()
            assert run.key.run_id == raised.value.run_id
    assert "c1" == thread.get().checkpoint["id"]
    thread.end(run)
    thread.write(None, "c1")
    thread.put(None, "c1", "c2")


def test_a_run_that_is_gone_stores_nothing(thread):
    """A configuration that names a run of another process, or one that was forgotten, is no right. I8"""
    thread.put(None, None, "c1")
    stale = at("c1", **{RUN_KEY: "0" * 32})
    with thread.savers.unchanged():
        for method, arguments in (
            ("put", (checkpoint("c2", note="c2"), STEP, {"note": 1})),
            ("put_writes", ([("note", "x")], "task")),
        ):
            with pytest.raises(LeaseLost):
                thread.savers.call(thread.saver, method, stale, *arguments)


def test_a_run_of_another_thread_is_none_of_this_one(thread):
    """An agent that is called for another thread from a run is nobody there, unless that thread is bound too. I8"""
    run = thread.begin()
    other = at(None, thread_id="t2", **{RUN_KEY: run.token})
    thread.savers.call(thread.saver, "put", other, checkpoint("o1", note="o1"), STEP, {"note": 1})
    assert "o1" == thread.savers.call(thread.saver, "get_tuple", at(thread_id="t2")).checkpoint["id"]


def test_leases_may_be_in_another_database(thread, tmp_path):
    """The log's database is named then: fences come from there, and a valid lease keeps others out. I8"""
    url = f"sqlite:///{tmp_path / 'checkpoints.sqlite'}"
    upgrade(url)
    store = Database.open(url)
    saver = SqlSaver(store, leases=thread.savers.place.database)
    try:
        first = thread.begin()
        thread.put(first, None, "c1", saver=saver)
        with pytest.raises(ThreadBusy):
            thread.put(None, "c1", "c2", saver=saver)
        thread.stand_still()
        second = thread.begin()
        thread.get(second, saver=saver)
        with pytest.raises(LeaseLost):
            thread.put(first, "c1", "c2", saver=saver)
        thread.end(second)
        thread.put(None, "c1", "c3", saver=saver)
        assert "c3" == thread.get(saver=saver).checkpoint["id"]
    finally:
        if thread.savers.place.runner is None:
            store.close()
        else:
            thread.savers.place.runner.run(store.aclose())


class TestBoundGraphs:
    """Graphs that `bind` has made, with this saver."""

    def test_turns_an_interrupt_and_its_answer(self, world, savers):
        """Each turn is one run with the next fence, which the head row has."""

        def ask(_state):
            return {"note": f"{interrupt('which day?')} " * 30}

        graph = bind(graph_of(savers.new(), ask), world.log)
        savers.ask(graph, "m1", BOUND)
        assert "interrupted" == _head(world)[0]
        savers.invoke(graph, Command(resume="30"), BOUND)
        assert ("idle", 2) == _head(world)
        assert "30 " * 30 == savers.call(graph, "get_state", BOUND).values["note"]

    def test_c02_a_run_that_was_taken_over_in_its_node(self, world, savers):
        """C02 I8 I10: the later run's turn stays, the earlier one ends with an error before anything more is stored."""
        taken = {}

        def node(state):
            if state["messages"][-1].content == "slow" and not taken:
                taken["over"] = True
                world.client.rows("UPDATE abreast_thread_lease SET expires_at = 1")
                later = Savers(type(savers.place)(savers.place.url, "sync"))
                try:
                    other = bind(graph_of(later.new(), node), WorkspaceLog(later.place.database, [MOVE]))
                    later.ask(other, "quick", BOUND)
                finally:
                    later.place.__exit__()
            return {"messages": [AIMessage("to " + str(state["messages"][-1].content))]}

        graph = bind(graph_of(savers.new(), node), world.log)
        with pytest.raises((LeaseLost, CheckpointConflict)):
            savers.ask(graph, "slow", BOUND)
        state = savers.call(graph, "get_state", BOUND)
        assert ["slow", "quick", "to quick"] == [message.content for message in state.values["messages"]]

    def test_s12_a_branch(self, world, savers):
        """S12 I10: a run at a named checkpoint makes a branch."""
        graph = bind(graph_of(savers.new()), world.log)
        savers.ask(graph, "m1", BOUND)
        named = savers.call(graph, "get_state", BOUND).config
        savers.ask(graph, "m2", BOUND)
        savers.ask(graph, "m3", {"configurable": {**named["configurable"], "workspace_id": "w1"}})
        assert ["m1", "m3"] == savers.told(graph, BOUND)

    def test_graphs_within_graphs_share_the_fence(self, world, savers):
        """A nested graph of the same thread belongs to the same run. I8"""
        inner = graph_of(True)

        def outer(state):
            return inner.invoke(state)

        graph = bind(graph_of(savers.new(), inner, ("again", outer)), world.log)
        savers.ask(graph, "m1", BOUND)
        assert ["m1"] == savers.told(graph, BOUND)

    def test_an_update_while_it_runs_is_refused(self, world, savers):
        """`update_state` from outside waits for the run's end. I8"""
        refused = []
        saver = savers.new()

        def node(_state):
            found = SqlSaver(saver.database).get_tuple(CONFIG) if savers.place.runner is None else None
            if found is not None:
                with pytest.raises(ThreadBusy):
                    SqlSaver(saver.database).put(
                        at(found.checkpoint["id"]), {**empty_checkpoint(), "id": "x"}, STEP, {}
                    )
                refused.append(True)
            return {"note": "done"}

        graph = bind(graph_of(saver, node), world.log)
        savers.ask(graph, "m1", BOUND)
        assert [True] * (savers.place.runner is None) == refused
        savers.call(graph, "update_state", CONFIG, {"note": "changed"})
        assert "changed" == savers.call(graph, "get_state", CONFIG).values["note"]


def test_c28_a_slow_store_holds_the_run_up(world, savers):
    """C28: a bound run goes on when its checkpoint is stored, so none of them wait in memory."""
    saver, steps, stored = savers.new(), [], []
    far = threading.Event()

    def node(state):
        steps.append(len(steps) + 1 - len(stored))
        if len(steps) == 10:
            far.set()
        return {"todo": [*state.get("todo", []), "x" * 99]}

    def after_put(put):
        # The first one waits for a run that would go on without it.
        if not stored:
            far.wait(0.3)
        stored.append(put)

    _slow(saver, after_put)
    graph = graph_of(saver, node, *((f"n{number}", node) for number in range(19)))
    savers.ask(bind(graph, world.log), "m1", BOUND)
    assert 20 == len(steps)
    assert 1 >= max(steps)


def _slow(saver, after_put):
    put, aput = saver.put, saver.aput

    def slow(*arguments):
        found = put(*arguments)
        after_put(found)
        return found

    async def aslow(*arguments):
        found = await aput(*arguments)
        await asyncio.to_thread(after_put, found)
        return found

    saver.put, saver.aput = slow, aslow


def _head(world):
    (row,) = world.client.rows("SELECT run_state, fence FROM abreast_checkpoint_head")
    return row
