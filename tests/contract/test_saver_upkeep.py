"""Work on stored threads: prune, copy, delete for runs, and how much a conversation takes."""

from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command, interrupt
from sqlalchemy import update

from abreast.errors import CheckpointConflict, CheckpointCorrupt, CheckpointsNeeded, InvalidInput
from tests.contract.savers import CONFIG, STEP, Savers, at, checkpoint, graph_of, say
from tests.contract.test_saver_graphs import FewSnapshots, changing, history


@pytest.fixture
def savers(place):
    """Give savers of a fresh database."""
    made = Savers(place)
    yield made
    made.close()


def ids(savers, config=CONFIG):
    """List the checkpoints of a thread."""
    return [each.checkpoint["id"] for each in savers.call(savers.replica(), "list", config)]


def conversation(savers, turns=5, node=say, thread_id="t1"):
    """Run turns."""
    graph = graph_of(savers.new(), node)
    for number in range(turns):
        savers.ask(graph, f"m{number}", at(thread_id=thread_id))
    return graph


class TestPrune:
    """What is removed, and what stays."""

    @pytest.mark.parametrize(("keep_last", "left"), [(1, 1), (4, 4), (99, 15)])
    def test_the_newest_stay(self, savers, keep_last, left):
        """State and conversation are the same; bytes that nothing has any more are gone. I11"""
        graph = conversation(savers)
        before, listed = history(savers, graph)[0], ids(savers)
        savers.call(savers.new(), "prune", ["t1", "never there"], keep_last=keep_last)
        assert listed[:left] == ids(savers)
        assert before == history(savers, graph_of(savers.replica()))[0]
        oldest = savers.call(savers.replica(), "get_tuple", at(listed[left - 1]))
        assert (left == 15) == (len(savers.rows()["checkpoint"]) == 15)
        assert oldest.parent_config is None
        savers.ask(graph, "on")
        assert ["m0", "m1", "m2", "m3", "m4", "on"] == savers.told(graph)
        values = [row for row in savers.rows()["checkpoint_value"] if "'note'" in row]
        assert len(values) <= left + 1

    def test_younger_ones_stay(self, savers):
        """With an age only what is older is removed, by the database's clock."""
        conversation(savers)
        savers.call(savers.new(), "prune", ["t1"], older_than=timedelta(hours=1))
        listed = ids(savers)
        assert 15 == len(listed)
        table = savers.place.database.tables.checkpoint
        with savers.place.past.begin() as connection:
            old = table.c.checkpoint_id.in_(listed[6:])
            connection.execute(update(table).where(old).values(created_at=table.c.created_at - 3_700_000_000))
        savers.call(savers.new(), "prune", ["t1"], older_than=timedelta(hours=1))
        assert listed[:6] == ids(savers)

    def test_a_branch_that_is_the_newest_stays(self, savers):
        """The head is what was published last, not what has the greatest id."""
        saver = savers.new()
        for parent, name in ((None, "c5"), ("c5", "c6")):
            savers.call(saver, "put", at(parent), checkpoint(name, note=name * 50), STEP, {"note": 1})
        named = savers.call(saver, "get_tuple", at("c5"))
        savers.call(saver, "put", named.config, checkpoint("a1", note="a1" * 50), STEP, {"note": 1})
        named = savers.call(saver, "get_tuple", at("c5"))
        savers.call(saver, "prune", ["t1"])
        assert ["a1"] == ids(savers)
        with pytest.raises(CheckpointConflict, match="removed"):
            savers.call(saver, "put", at("c5", **_token(named)), checkpoint("b1", note="b1"), STEP, {"note": 1})

    def test_what_is_not_whole_is_left_alone(self, savers):
        """A thread whose newest checkpoint is damaged loses nothing of what is left. I11"""
        conversation(savers, 2)
        table = savers.place.database.tables.checkpoint
        with savers.place.past.begin() as connection:
            connection.execute(update(table).values(checksum=b"x" * 16))
        with savers.unchanged(), pytest.raises(CheckpointCorrupt):
            savers.call(savers.new(), "prune", ["t1"])

    def test_everything(self, savers):
        """`strategy="delete"` is delete_thread."""
        conversation(savers, 1)
        savers.call(savers.new(), "prune", ["t1"], strategy="delete")
        assert [] == ids(savers)

    @pytest.mark.parametrize(
        "options", [{"strategy": "shrink"}, {"keep_last": 0}, {"older_than": timedelta(seconds=-1)}]
    )
    def test_bad_arguments(self, savers, options):
        """They are named before anything is removed."""
        with pytest.raises(InvalidInput, match=next(iter(options))):
            savers.call(savers.new(), "prune", ["t1"], **options)


def _token(found):
    return {key: value for key, value in found.config["configurable"].items() if key.startswith("__")}


class TestCopies:
    """A thread under another id."""

    def test_both_go_on(self, savers):
        """The copy has the history, the open question and a life of its own."""
        graph = graph_of(savers.new(), say, ("ask", lambda _state: {"todo": [interrupt("which day?")]}))
        savers.ask(graph, "m0")
        savers.call(savers.new(), "copy_thread", "t1", "t2")
        assert history(savers, graph) == history(savers, graph, at(thread_id="t2"))
        for thread_id, day in (("t2", "30"), ("t1", "28")):
            savers.invoke(
                graph_of(savers.replica(), say, ("ask", lambda _state: {"todo": [interrupt("which day?")]})),
                Command(resume=day),
                at(thread_id=thread_id),
            )
        for thread_id, day in (("t2", "30"), ("t1", "28")):
            assert [day] == savers.call(graph, "get_state", at(thread_id=thread_id)).values["todo"]
            savers.ask(graph, f"in {thread_id}", at(thread_id=thread_id))
            assert ["m0", f"in {thread_id}"] == savers.told(graph, at(thread_id=thread_id))
        savers.call(savers.new(), "delete_thread", "t1")
        assert ["m0", "in t2"] == savers.told(graph, at(thread_id="t2"))

    def test_c27_a_copy_of_changes(self, savers):
        """C27: channels stored as changes are whole in the copy. I11"""
        graph = changing(savers.new(), FewSnapshots)
        for number in range(3):
            savers.invoke(graph, {"messages": [HumanMessage(f"q{number}", id=f"h{number}")]})
        savers.call(savers.new(), "copy_thread", "t1", "t2")
        assert history(savers, graph) == history(savers, graph, at(thread_id="t2"))

    def test_a_target_that_is_taken_is_refused(self, savers):
        """Nothing is mixed; a deleted thread's id is free."""
        conversation(savers, 1)
        conversation(savers, 1, thread_id="t2")
        with savers.unchanged(), pytest.raises(InvalidInput, match="target_thread_id"):
            savers.call(savers.new(), "copy_thread", "t1", "t2")
        with pytest.raises(InvalidInput, match="source"):
            savers.call(savers.new(), "copy_thread", "t1", "t1")
        savers.call(savers.new(), "delete_thread", "t2")
        savers.call(savers.new(), "copy_thread", "t1", "t2")
        savers.ask(graph_of(savers.new()), "on", at(thread_id="t2"))
        assert ["m0", "on"] == savers.told(graph_of(savers.new()), at(thread_id="t2"))


class TestDeletedForRuns:
    """What single runs have stored is removed."""

    def puts(self, savers, *runs):
        """Store a checkpoint for each run."""
        saver, parent = savers.new(), None
        todo = []
        for number, run in enumerate(runs):
            todo = [*todo, f"of {run} " * 20]
            made = checkpoint(f"c{number}", todo=todo)
            savers.call(saver, "put", at(parent), made, {**STEP, "run_id": run}, {"todo": 1})
            parent = f"c{number}"
        return saver

    def test_what_follows_goes_on_from_what_was_before(self, savers):
        """The chain is closed, and the state of what stays is the same. I10"""
        saver = self.puts(savers, "r1", "r2", "r2", "r3")
        before = savers.call(saver, "get_tuple", at("c3")).checkpoint["channel_values"]
        savers.call(savers.new(), "delete_for_runs", ["r2", "r9"])
        assert ["c3", "c0"] == ids(savers)
        found = savers.call(savers.replica(), "get_tuple", at())
        assert ("c0", before) == (
            found.parent_config["configurable"]["checkpoint_id"],
            found.checkpoint["channel_values"],
        )

    @pytest.mark.parametrize(("gone", "newest"), [(["r3"], "c2"), (["r2", "r3"], "c0"), (["r1", "r2", "r3"], None)])
    def test_the_newest_of_what_is_left_is_the_newest(self, savers, gone, newest):
        """A conversation goes on from there, also if nothing is left. I10"""
        saver = self.puts(savers, "r1", "r2", "r2", "r3")
        savers.call(saver, "delete_for_runs", gone)
        found = savers.call(savers.replica(), "get_tuple", at())
        assert newest == (found and found.checkpoint["id"])
        savers.call(savers.replica(), "put", at(newest), checkpoint("n", todo=["new " * 30]), STEP, {"todo": 1})
        assert ["new " * 30] == savers.call(saver, "get_tuple", at()).checkpoint["channel_values"]["todo"]
        assert not any(f"of {run}" in row for run in gone for row in savers.rows()["checkpoint_element"]) or newest

    def test_c27_what_the_rest_is_made_of_is_not_removed(self, savers):
        """C27: the error names thread and channels, and nothing is removed. I11"""
        graph = changing(savers.new(), FewSnapshots)
        for number in range(3):
            config = {**CONFIG, "metadata": {"run_id": f"r{number}"}}
            savers.invoke(graph, {"messages": [HumanMessage(f"q{number}", id=f"h{number}")]}, config)
        with savers.unchanged(), pytest.raises(CheckpointsNeeded) as raised:
            savers.call(savers.new(), "delete_for_runs", ["r1"])
        assert ("t1", frozenset({"messages"})) == (raised.value.thread_id, raised.value.channels)
        savers.call(savers.new(), "delete_for_runs", ["r2"])
        assert ["q0", "q1"] == savers.told(changing(savers.replica(), FewSnapshots))


def size_of(savers):
    """Give the bytes of everything that is stored, without what the database adds."""
    tables = savers.place.database.tables
    total = 0
    with savers.place.past.begin() as connection:
        for name in ("checkpoint", "checkpoint_value", "checkpoint_element", "checkpoint_write"):
            for row in connection.execute(getattr(tables, name).select()):
                total += sum(len(value) for value in row if isinstance(value, (bytes, str)))
    return total


def test_c26_a_conversation_grows_with_its_turns(savers):
    """C26: bytes are in proportion to the turns; rows of elements are merged."""
    graph = graph_of(savers.new(), lambda _state: {"messages": [AIMessage("y" * 400)]})
    sizes = []
    for _ in range(4):
        for _ in range(25):
            savers.invoke(graph, {"messages": [HumanMessage("x" * 400)]})
        sizes.append(size_of(savers))
    assert sizes[3] < 4.3 * sizes[0]
    assert sizes[3] < 100 * 8_000
    assert 70 > len(savers.rows()["checkpoint_element"])
    assert 200 == len(savers.call(graph_of(savers.replica()), "get_state", CONFIG).values["messages"])


def test_lists_come_in_pages(savers):
    """Listing a long thread gives each checkpoint once, in order, and stops where it is told to. I10"""
    conversation(savers, 9)
    everything = ids(savers)
    assert 27 == len(set(everything))
    saver = savers.new()
    for limit in (0, 1, 20, 21, 99):
        assert everything[:limit] == [each.checkpoint["id"] for each in savers.call(saver, "list", CONFIG, limit=limit)]
    before = at(everything[4])
    assert everything[5:8] == [
        each.checkpoint["id"] for each in savers.call(saver, "list", CONFIG, before=before, limit=3)
    ]
    inputs = savers.call(saver, "list", CONFIG, filter={"source": "input"})
    assert 9 == len(inputs)
    assert everything[7:8] == [each.checkpoint["id"] for each in savers.call(saver, "list", at(everything[7]))]
    conversation(savers, 2, thread_id="t2")
    listed = savers.call(saver, "list", None)
    assert sorted((each.checkpoint["id"] for each in listed), reverse=True) == [
        each.checkpoint["id"] for each in listed
    ]
    assert 33 == len(listed)
    assert 5 == len(savers.call(saver, "list", None, limit=5, before=at(everything[3])))
