"""I10: a checkpoint is published only on the head it was computed from."""

import asyncio
import contextvars
import threading
import uuid

import pytest
from langchain_core.messages import RemoveMessage
from langgraph.checkpoint.base.id import uuid6
from langgraph.types import Command, interrupt

from abreast.errors import CheckpointConflict, InvalidInput
from abreast.langgraph.saver import SqlSaver
from tests.contract.savers import CONFIG, STEP, Savers, at, checkpoint, graph_of, say


@pytest.fixture
def savers(place):
    """Give savers of a fresh database."""
    made = Savers(place)
    yield made
    made.close()


def test_what_was_computed_from_an_older_head_is_refused(savers):
    """Who comes second gets an error that names both, and nothing is stored. I10"""
    saver = savers.new()
    savers.call(saver, "put", at(), checkpoint("c1", note="first"), STEP, {"note": 1})
    savers.call(saver, "put", at("c1"), checkpoint("c2", note="second"), STEP, {"note": 2})
    with savers.unchanged(), pytest.raises(CheckpointConflict) as raised:
        savers.call(savers.replica(), "put", at("c1"), checkpoint("c9", note="other"), STEP, {"note": 2})
    assert ("c1", "c2", "t1", "") == (
        raised.value.expected,
        raised.value.actual,
        raised.value.thread_id,
        raised.value.checkpoint_ns,
    )
    assert "checkpoint_id" in str(raised.value)


def test_of_a_new_thread_one_beginning_counts(savers):
    """A second checkpoint without parent would hide the first conversation. I10"""
    saver = savers.new()
    savers.call(saver, "put", at(), checkpoint("c1", note="first"), STEP, {"note": 1})
    with savers.unchanged(), pytest.raises(CheckpointConflict):
        savers.call(saver, "put", at(), checkpoint("c2", note="second"), STEP, {"note": 1})
    allowing = savers.new(allow_new_roots=True)
    savers.call(allowing, "put", at(), checkpoint("c2", note="second"), STEP, {"note": 1})
    assert "c2" == savers.call(saver, "get_tuple", at()).checkpoint["id"]


def test_a_parent_that_never_was_is_refused(savers):
    """Nothing is published on what is not there. I10"""
    with pytest.raises(CheckpointConflict):
        savers.call(savers.new(), "put", at("c0"), checkpoint("c1", note="first"), STEP, {"note": 1})
    assert savers.rows()["checkpoint_head"] == []


def test_the_same_checkpoint_again_takes_its_own_place(savers):
    """A put whose COMMIT went unheard can be repeated. I10"""
    saver = savers.new()
    values = {"note": "x" * 100, "todo": ["y" * 100, "z" * 100]}
    savers.call(saver, "put", at(), checkpoint("c1", **values), STEP, dict.fromkeys(values, 1))
    second = {"note": "other " * 50, "todo": [*values["todo"], "more " * 30]}
    for _ in range(2):
        savers.call(savers.replica(), "put", at("c1"), checkpoint("c2", **second), STEP, dict.fromkeys(second, 1))
    found = savers.call(saver, "get_tuple", at())
    assert ("c2", "c1") == (found.checkpoint["id"], found.parent_config["configurable"]["checkpoint_id"])
    assert second == found.checkpoint["channel_values"]
    assert ["c2", "c1"] == [each.checkpoint["id"] for each in savers.call(saver, "list", at())]
    third = {"note": second["note"], "todo": [*second["todo"], "and more " * 30]}
    savers.call(saver, "put", at("c2"), checkpoint("c3", **third), STEP, {"todo": 1})
    assert third == savers.call(savers.replica(), "get_tuple", at()).checkpoint["channel_values"]


def test_an_older_id_again_is_refused(savers):
    """A checkpoint that was published and is not the newest any more does not become it again. I10"""
    saver = savers.new()
    for parent, name in ((None, "c1"), ("c1", "c2"), ("c2", "c3")):
        savers.call(saver, "put", at(parent), checkpoint(name, note=name), STEP, {"note": 1})
    for parent in ("c1", "c3"):
        with savers.unchanged(), pytest.raises(CheckpointConflict):
            savers.call(saver, "put", at(parent), checkpoint("c2", note="again"), STEP, {"note": 1})


def test_clocks_say_nothing(savers, monkeypatch):
    """Turns of a replica whose clock is 60 s ahead and of one whose is not follow each other, none is lost. I10"""
    ahead = {"now": False}

    def shifted(**options):
        made = uuid6(**options)
        return uuid.UUID(int=made.int + (600_000_000 << 80)) if ahead["now"] else made

    monkeypatch.setattr("langgraph.pregel._checkpoint.uuid6", shifted)
    first, second = graph_of(savers.new()), graph_of(savers.replica())
    for graph, is_ahead, question in (
        (first, True, "m1"),
        (second, False, "m2"),
        (second, False, "m3"),
        (first, True, "m4"),
    ):
        ahead["now"] = is_ahead
        savers.ask(graph, question)
    assert ["m1", "m2", "m3", "m4"] == savers.told(second)
    ids = [each.checkpoint["id"] for each in savers.call(savers.new(), "list", CONFIG)]
    assert ids != sorted(ids, reverse=True)
    assert 12 == len(ids)


def meeting(parties):
    """Give a node that waits for as many others, as a plain function and as a coroutine."""
    barrier, arrived, everybody = threading.Barrier(parties, timeout=20), [], asyncio.Event()

    async def ameet():
        arrived.append(1)
        if len(arrived) >= parties:
            everybody.set()
        await asyncio.wait_for(everybody.wait(), 20)

    return barrier.wait, ameet


def waiting_node(savers, meet, ameet, answer):
    """Give a node that meets the others before it answers."""

    def node(_state):
        meet()
        return answer()

    async def anode(_state):
        await ameet()
        return answer()

    return node if savers.place.runner is None else anode


def calls(savers, graph, value, config=CONFIG):
    """Give a call of a graph for `together`."""
    if savers.place.runner is None:
        return lambda: graph.invoke(value, config)
    return lambda: graph.ainvoke(value, config)


class LoadsTogether(SqlSaver):
    """A saver whose first load waits until another one has loaded too: both begin at the same head."""

    meet, ameet = staticmethod(lambda: None), None

    def get_tuple(self, config):
        """Load, and wait."""
        found = super().get_tuple(config)
        meet, self.meet = self.meet, lambda: None
        meet()
        return found

    async def aget_tuple(self, config):
        """Load, and wait."""
        found = await super().aget_tuple(config)
        ameet, self.ameet = self.ameet, None
        if ameet is not None:
            await ameet()
        return found


@pytest.mark.parametrize("new", [True, False])
def test_c02_two_replicas_lose_no_message(savers, new):
    """C02 I10: of two runs that begin at one head one gets an error, and repeats; no message is lost."""
    if not new:
        savers.ask(graph_of(savers.new()), "m0")
    for round_ in range(5):
        told = savers.told(graph_of(savers.new()))
        meet, ameet = meeting(2)
        replicas = [LoadsTogether(savers.replica().database) for _ in range(2)]
        for replica in replicas:
            replica.meet, replica.ameet = meet, ameet
        graphs = [graph_of(replica) for replica in replicas]
        questions = [f"{name}{round_}" for name in ("a", "b")]
        asked = zip(graphs, questions, strict=True)
        ended = savers.together(
            *(calls(savers, graph, {"messages": [("user", question)]}) for graph, question in asked)
        )
        assert [CheckpointConflict] == [type(end) for end in ended if isinstance(end, Exception)], ended
        for graph, question, end in zip(graphs, questions, ended, strict=True):
            if isinstance(end, Exception):
                assert question not in savers.told(graph)
                savers.ask(graph, question)
        assert sorted([*told, *questions]) == sorted(savers.told(graph_of(savers.new())))
    listed = savers.call(savers.new(), "list", CONFIG)
    parents = [each.parent_config["configurable"]["checkpoint_id"] for each in listed if each.parent_config]
    assert len(parents) == len(set(parents))


def test_c13_one_of_two_answers_counts(savers):
    """C13 I10: an interrupt that is resumed by two replicas at once has one result, which the stored state holds."""
    meet, ameet = meeting(2)
    meets = {"now": False}

    def node(_state):
        answer = interrupt("which day?")
        if meets["now"]:
            meet()
        return {"note": f"{answer} " * 30}

    async def anode(_state):
        answer = interrupt("which day?")
        if meets["now"]:
            await ameet()
        return {"note": f"{answer} " * 30}

    step = node if savers.place.runner is None else anode
    graphs = [graph_of(savers.replica(), step) for _ in range(2)]
    savers.ask(graphs[0], "m0")
    meets["now"] = True
    ended = savers.together(
        *(calls(savers, graph, Command(resume=day)) for graph, day in zip(graphs, ("28", "30"), strict=True))
    )
    won = [end for end in ended if not isinstance(end, Exception)]
    assert 1 == len(won), ended
    assert [CheckpointConflict] == [type(end) for end in ended if isinstance(end, Exception)]
    stored = savers.call(graphs[0], "get_state", CONFIG)
    assert won[0]["note"] == stored.values["note"]
    assert () == stored.next


def test_results_that_somebody_else_has_stored_are_state(savers):
    """A run that does not know the pending writes of another one publishes nothing in their place. I10"""
    saver, other = savers.new(), savers.replica()
    savers.call(saver, "put", at(), checkpoint("c1", note="first"), STEP, {"note": 1})
    mine = savers.call(saver, "get_tuple", at())
    theirs = savers.call(other, "get_tuple", at())
    savers.call(other, "put_writes", theirs.config, [("note", "theirs")], "task")
    with savers.unchanged(), pytest.raises(CheckpointConflict, match="results of its tasks"):
        savers.call(saver, "put", mine.config, checkpoint("c2", note="mine"), STEP, {"note": 2})
    savers.call(other, "put", theirs.config, checkpoint("c3", note="theirs"), STEP, {"note": 2})


def test_pending_writes_of_a_run_that_is_behind_are_refused(savers):
    """Once somebody else has gone on, results of an older run do not get into the history. I10"""
    saver, other = savers.new(), savers.replica()
    savers.call(saver, "put", at(), checkpoint("c1", note="first"), STEP, {"note": 1})
    mine = savers.call(saver, "get_tuple", at())
    theirs = savers.call(other, "get_tuple", at())
    savers.call(other, "put", theirs.config, checkpoint("c2", note="theirs"), STEP, {"note": 2})
    with savers.unchanged(), pytest.raises(CheckpointConflict):
        savers.call(saver, "put_writes", mine.config, [("note", "mine")], "task")
    savers.call(other, "put_writes", theirs.config, [("note", "late, and its own")], "task")


class TestForks:
    """Branches that the caller asks for."""

    def test_s12_an_older_checkpoint_by_its_id(self, savers):
        """A run that begins at a checkpoint named by id makes a branch, which becomes the newest. I10"""
        graph = graph_of(savers.new())
        for question in ("m1", "m2", "m3"):
            savers.ask(graph, question)
        old = next(
            state for state in _history(savers, graph) if len(state.values.get("messages", [])) == 2 and not state.next
        )
        savers.ask(graph, "other", old.config)
        assert ["m1", "other"] == savers.told(graph)
        savers.ask(graph_of(savers.replica()), "and on")
        assert ["m1", "other", "and on"] == savers.told(graph)
        everything = {tuple(m.content for m in s.values.get("messages", [])) for s in _history(savers, graph)}
        assert any("m3" in messages for messages in everything)

    def test_a_branch_while_another_run_goes_on_is_refused(self, savers):
        """The caller saw a head when he named the checkpoint; if that has moved since, somebody's turn would go. I10"""
        saver, other = savers.new(), savers.replica()
        for parent, name in ((None, "c1"), ("c1", "c2")):
            savers.call(saver, "put", at(parent), checkpoint(name, note=name), STEP, {"note": 1})
        named = savers.call(saver, "get_tuple", at("c1"))
        savers.call(other, "put", at("c2"), checkpoint("c3", note="c3"), STEP, {"note": 2})
        with savers.unchanged(), pytest.raises(CheckpointConflict):
            savers.call(saver, "put", named.config, checkpoint("f1", note="f1"), STEP, {"note": 2})
        named = savers.call(saver, "get_tuple", at("c1"))
        savers.call(saver, "put", named.config, checkpoint("f1", note="f1"), STEP, {"note": 2})
        assert "f1" == savers.call(other, "get_tuple", at()).checkpoint["id"]

    def test_the_head_by_its_id_is_no_branch(self, savers):
        """Who names the checkpoint that is the newest gets a conflict when it is not any more. I10"""
        saver = savers.new()
        savers.call(saver, "put", at(), checkpoint("c1", note="c1"), STEP, {"note": 1})
        named = savers.call(saver, "get_tuple", at("c1"))
        savers.call(saver, "put", at("c1"), checkpoint("c2", note="c2"), STEP, {"note": 2})
        with pytest.raises(CheckpointConflict):
            savers.call(saver, "put", named.config, checkpoint("f1", note="f1"), STEP, {"note": 2})

    def test_an_update_of_an_older_state(self, savers):
        """`update_state` at a named checkpoint makes a branch as well. I10"""
        graph = graph_of(savers.new())
        savers.ask(graph, "m1")
        savers.ask(graph, "m2")
        old = _history(savers, graph)[3]
        savers.call(graph, "update_state", old.config, {"note": "changed"}, as_node="say")
        assert "changed" == savers.call(graph, "get_state", CONFIG).values["note"]
        assert ["m1"] == savers.told(graph)

    @pytest.mark.parametrize("named", [True, False])
    def test_a_copy(self, savers, named):
        """A copy beside the newest checkpoint, or beside an older one, has the same values. I10"""
        graph = graph_of(savers.new())
        savers.ask(graph, "m1")
        savers.ask(graph, "m2")
        config = _history(savers, graph)[-1].config if named else CONFIG
        before = savers.call(graph, "get_state", config).values
        savers.call(graph, "update_state", config, None, as_node="__copy__")
        assert before == savers.call(graph, "get_state", CONFIG).values
        savers.ask(graph, "m3")
        assert "m3" == savers.told(graph)[-1]

    def test_parts_of_a_stream_in_contexts_of_their_own(self, savers):
        """A web server may fetch each part of a stream in another context: it is the same branch. I10"""
        graph = graph_of(savers.new())
        savers.ask(graph, "m1")
        savers.ask(graph, "m2")
        old = next(s for s in _history(savers, graph) if len(s.values["messages"]) == 2 and not s.next)
        value = {"messages": [("user", "other")]}
        if savers.place.runner is None:
            stream = graph.stream(value, old.config)
            while contextvars.copy_context().run(next, stream, None) is not None:
                pass
        else:
            savers.place.runner.run(_in_tasks(graph.astream(value, old.config)))
        assert ["m1", "other"] == savers.told(graph)

    def test_branches_share_a_log_of_elements(self, savers):
        """Two branches of a list go on with numbers of their own, whoever stores them. I10"""
        saver = savers.new()
        begin = [f"element {number} " * 9 for number in range(4)]
        savers.call(saver, "put", at(), checkpoint("c1", todo=begin), STEP, {"todo": 1})
        savers.call(saver, "put", at("c1"), checkpoint("c2", todo=[*begin, "left " * 20]), STEP, {"todo": 1})
        named = savers.call(savers.replica(), "get_tuple", at("c1"))
        writer = savers.replica()
        right = [*begin[1:], "right " * 20]
        savers.call(writer, "put", named.config, checkpoint("f1", todo=right), STEP, {"todo": 1})
        kept = {**checkpoint("f2", todo=right), "channel_versions": {"todo": 9}}
        savers.call(savers.replica(), "put", at("f1"), kept, STEP, {"todo": 9})
        savers.call(savers.replica(), "put", at("f2"), checkpoint("f3", todo=[*right, "on " * 40]), STEP, {"todo": 1})
        for name, wanted in (
            ("c1", begin),
            ("c2", [*begin, "left " * 20]),
            ("f1", right),
            ("f2", right),
            ("f3", [*right, "on " * 40]),
        ):
            found = savers.call(savers.replica(), "get_tuple", at(name)).checkpoint["channel_values"]["todo"]
            assert wanted == found, name


async def _in_tasks(stream):
    while await asyncio.create_task(anext(stream, None)) is not None:
        pass


def _history(savers, graph):
    if savers.place.runner is None:
        return list(graph.get_state_history(CONFIG))

    async def collected():
        return [state async for state in graph.aget_state_history(CONFIG)]

    return savers.place.runner.run(collected())


def test_a_conversation_is_trimmed(savers):
    """Messages that a node removes are gone, those that stay are in order. I10"""

    def trim(state):
        return {"messages": [RemoveMessage(id=message.id) for message in state["messages"][:-2]]}

    graph = graph_of(savers.new(), say, ("trim", trim))
    for number in range(4):
        savers.ask(graph if number % 2 else graph_of(savers.replica(), say, ("trim", trim)), f"m{number}")
    assert ["m3"] == savers.told(graph)


@pytest.mark.parametrize("config", [{}, {"configurable": {}}, {"configurable": {"thread_id": "a\x00b"}}])
def test_a_thread_has_to_be_named(savers, config):
    """The error says what is missing."""
    with pytest.raises(InvalidInput, match="thread_id"):
        savers.call(savers.new(), "get_tuple", config)
