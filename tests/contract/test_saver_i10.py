"""I10: a checkpoint is published only on the head it was computed from."""

import asyncio
import contextvars

import pytest
from langchain_core.messages import RemoveMessage

from abreast.errors import CheckpointConflict, InvalidInput
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


def test_results_that_somebody_else_has_stored_are_state(savers):
    """A run that does not know the pending writes of another one publishes nothing in their place. I10"""
    saver, other = savers.new(), savers.replica()
    savers.call(saver, "put", at(), checkpoint("c1", note="first"), STEP, {"note": 1})
    mine = savers.call(saver, "get_tuple", at())
    theirs = savers.call(other, "get_tuple", at())
    savers.call(other, "put_writes", theirs.config, [("note", "theirs")], "task")
    with savers.unchanged(), pytest.raises(CheckpointConflict, match="results of its tasks"):
        savers.call(saver, "put", mine.config, checkpoint("c2", note="mine"), STEP, {"note": 2})
    # Otherwise both had stored results, and neither could publish.
    with savers.unchanged(), pytest.raises(CheckpointConflict, match="results of its tasks"):
        savers.call(saver, "put_writes", mine.config, [("note", "mine")], "another task")
    savers.call(other, "put_writes", theirs.config, [("note", "theirs")], "another task")
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
