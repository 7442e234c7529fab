"""Graphs: what they see of a saver is what they see of the one in memory."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from abreast.testing.saver_contract.graphs import (
    FewSnapshots,
    Talk,
    changes,
    line,
    nested,
    question,
    side_by_side,
    talk,
    wide,
)
from abreast.testing.saver_contract.meeting import together
from abreast.testing.saver_contract.results import ContractBroken
from abreast.testing.saver_contract.stage import at, begun, needs, put, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from abreast.testing.saver_contract.graphs import Builder
    from abreast.testing.saver_contract.replica import Replica
    from abreast.testing.saver_contract.stage import Stage

_THREADS: Final = 8


class _Twins:
    """A graph on the saver, and the same one in memory."""

    def __init__(self, stage: Stage, builder: Builder) -> None:
        self._stage, self._builder = stage, builder
        self._replica = stage.replica()
        self._config = stage.config()
        self._graphs = [self._replica.compile(builder), builder.compile(checkpointer=InMemorySaver())]

    def invoke(self, value: Any, **options: Any) -> None:
        """Run both."""
        for graph in self._graphs:
            self._replica.invoke(graph, value, self._config, **options)

    def branch(self, place: int, value: Any) -> None:
        """Run both at a state of their histories."""
        ends: list[Any] = []
        for graph in self._graphs:
            state = self._replica.history(graph, self._config)[place]
            ends.append(_plain(self._replica.invoke(graph, value, state.config)) if state.next or value else None)
        if ends[0] != ends[1]:
            raise ContractBroken(f"from state {place} a run ends with {ends[0]}, in memory with {ends[1]}")

    def compare(self) -> int:
        """Compare the histories, and the newest state as another process sees it; gives how many states there are."""
        found, wanted = (self._history(self._replica, graph) for graph in self._graphs)
        other = self._stage.replica()
        newest = self._seen(other.state(other.compile(self._builder), self._config))
        if found != wanted or newest != wanted[0]:
            pairs = zip([*found, newest], [*wanted, wanted[0]], strict=False)
            first = next((pair for pair in pairs if pair[0] != pair[1]), (len(found), len(wanted)))
            raise ContractBroken(f"a state is {first[0]}, in memory {first[1]}")
        return len(found)

    def _history(self, replica: Replica, graph: Any) -> list[Any]:
        return [self._seen(state) for state in replica.history(graph, self._config)]

    @staticmethod
    def _seen(state: Any) -> Any:
        tasks = [(each.name, [i.value for i in each.interrupts], each.error) for each in state.tasks]
        return (_plain(state.values), state.next, tasks, state.metadata.get("source"), state.metadata.get("step"))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list):
        return [_plain(each) for each in cast("Sequence[Any]", value)]
    return (value.type, value.content) if hasattr(value, "content") else value


def histories_are_those_in_memory(stage: Stage) -> str:
    """Branches, parallel nodes, sends, a nested graph and a question, with durability sync and exit."""
    states = 0
    # With "async" LangGraph may change a join's set while it is being stored, in memory as well.
    for durability in ("sync", "exit"):
        twins = _Twins(stage, wide())
        for turn in range(2):
            twins.invoke({"messages": [HumanMessage(f"turn {turn} " * 9, id=f"h{turn}")]}, durability=durability)
            twins.invoke(Command(resume=f"day {turn}"), durability=durability)
        states += twins.compare()
    return f"{states} states"


def stateless_graphs_within_travel_in_time(stage: Stage) -> None:
    """Replays and branches of a graph around one without memory."""
    _travel(stage, stateful=False)


def stateful_graphs_within_travel_in_time(stage: Stage) -> None:
    """Replays and branches of a graph around one that remembers."""
    _travel(stage, stateful=True)


def _travel(stage: Stage, *, stateful: bool) -> None:
    twins = _Twins(stage, nested(stateful=stateful))
    for turn in range(2):
        twins.invoke({"messages": [HumanMessage(f"turn {turn}", id=f"h{turn}")]})
    for place in (1, 2, 6, 8):
        twins.branch(place, None)
        twins.branch(place, {"messages": [HumanMessage("branch", id=f"b{place}")]})
    twins.compare()


def branches_begin_where_they_were_asked_to(stage: Stage) -> None:
    """A run at a checkpoint named by its id goes on from there and is the newest; the other branch is kept."""
    replica, other = stage.replica(), stage.replica()
    graph, config = replica.compile(talk()), stage.config()
    for text in ("m1", "m2", "m3"):
        replica.invoke(graph, question(text), config)
    old = next(state for state in replica.history(graph, config) if texts(state.values["messages"])[-1] == "to m1")
    replica.invoke(graph, question("other"), old.config)
    again = other.compile(talk())
    other.invoke(again, question("and on"), config)
    found = texts(other.state(again, config).values["messages"])
    if found != ["m1", "to m1", "other", "to other", "and on", "to and on"]:
        raise ContractBroken(f"the conversation is {found}")
    if not any("m3" in texts(state.values.get("messages", [])) for state in other.history(again, config)):
        raise ContractBroken("the branch that was left is gone")


def changes_give_the_history_in_memory(stage: Stage) -> str:
    """States that are stored as changes (DeltaChannel), with branches, in all durabilities."""
    states = 0
    for durability in ("sync", "async", "exit"):
        twins = _Twins(stage, changes())
        for turn in range(5):
            twins.invoke({"said": [f"turn {turn}"]}, durability=durability)
        states += twins.compare()
        twins.branch(2, {"said": ["branch"]})
        twins.invoke({"said": ["and on"]}, durability=durability)
        states += twins.compare()
    return f"{states} states"


def changes_of_long_ago(stage: Stage) -> str:
    """Old states and the newest one of a history without snapshots, of three turns for each round."""
    replica, other = stage.replica(), stage.replica()
    builder = line(FewSnapshots, ("say", lambda _state: {"note": "x"}))
    graph, config = replica.compile(builder), stage.config()
    said = [f"turn {number}" for number in range(3 * stage.rounds)]
    named: dict[int, Any] = {}
    for number, text in enumerate(said, start=1):
        replica.invoke(graph, {"said": [text]}, config)
        if number in (1, len(said) // 2, len(said)):
            named[number] = replica.state(graph, config).config
    again = other.compile(builder)
    found = {number: other.state(again, where).values.get("said") for number, where in named.items()}
    wrong = [number for number, values in found.items() if values != said[:number]]
    if wrong:
        raise ContractBroken(f"without an error the state of turn {wrong[0]} came back as {found[wrong[0]]!r:.100}")
    return f"{len(said)} turns"


def changes_survive_a_prune(stage: Stage) -> str | None:
    """When older checkpoints are removed, a state that is made of them stays as it is, or the prune is refused."""
    replica, other = stage.replica(), stage.replica()
    needs(replica, "prune")
    graph, config = replica.compile(changes()), stage.config()
    again = other.compile(changes())
    for turn in range(6):
        replica.invoke(graph, {"said": [f"turn {turn}"]}, config)
        before = replica.state(graph, config).values
        try:
            replica.call("prune", [config["configurable"]["thread_id"]], strategy="keep_latest")
        except NotImplementedError:
            return "the prune was refused"
        after = other.state(again, config).values
        if after != before:
            raise ContractBroken(f"{before} became {after}")
    return None


def what_is_changed_in_place_is_stored(stage: Stage) -> None:
    """A message that a node changes instead of returning a new one is stored, and older checkpoints keep theirs."""
    replica, other = stage.replica(), stage.replica()

    def change(state: Any) -> Any:
        first = state["messages"][0]
        first.content = f"{first.content}, changed"
        return {"messages": [AIMessage("done")]}

    graph, config = replica.compile(line(Talk, ("say", change))), stage.config()
    replica.invoke(graph, {"messages": [HumanMessage(f"q{number}") for number in range(40)]}, config, durability="sync")
    replica.invoke(graph, question("again"), config, durability="sync")
    again = other.compile(talk())
    states = [texts(state.values["messages"]) for state in other.history(again, config) if state.values]
    firsts = [state[0] for state in states if state]
    if firsts != ["q0, changed, changed", *["q0, changed"] * 3, "q0"] or states[0][1:3] != ["q1", "q2"]:
        raise ContractBroken(f"the first message is, newest first, {firsts}")


def finished_siblings_do_not_run_again(stage: Stage) -> None:
    """Of two parallel nodes the one that is done, and whose writes are stored, is not run again after a failure."""
    replica, other = stage.replica(), stage.replica()
    calls: list[str] = []
    stored = threading.Event()
    notice(replica.saver, stored)

    def second(_state: Any) -> Any:
        calls.append("second")
        if calls.count("second") == 1:
            stored.wait(30)
            raise RuntimeError("the first attempt fails")
        return {"messages": [AIMessage("second")]}

    def first(_state: Any) -> Any:
        calls.append("first")
        return {"messages": [AIMessage("first")]}

    builder = side_by_side(Talk, lambda _state: {"note": "done"}, first=first, second=second)
    config = stage.config()
    try:
        replica.invoke(replica.compile(builder), question("go"), config)
    except RuntimeError:
        other.invoke(other.compile(builder), None, config)
    said = texts(other.state(other.compile(builder), config).values["messages"])
    if sorted(calls) != ["first", "second", "second"] or sorted(said) != ["first", "go", "second"]:
        raise ContractBroken(f"the nodes were called {sorted(calls)}, the conversation is {said}")


def notice(saver: Any, stored: threading.Event) -> None:
    """Say when the writes of the first node are stored."""
    plain, aplain = saver.put_writes, saver.aput_writes

    def put_writes(config: Any, writes: Any, *more: Any) -> None:
        plain(config, writes, *more)
        _notice_in(writes, stored)

    async def aput_writes(config: Any, writes: Any, *more: Any) -> None:
        await aplain(config, writes, *more)
        _notice_in(writes, stored)

    saver.put_writes, saver.aput_writes = put_writes, aput_writes


def _notice_in(writes: Any, stored: threading.Event) -> None:
    if "AIMessage(content='first'" in repr(writes):
        stored.set()


def threads_share_a_saver(stage: Stage) -> None:
    """Eight threads use one saver at once, each for a conversation of its own, and all is stored."""
    replica, other = stage.replica(), stage.replica()
    graph = replica.compile(talk())
    configs = [stage.config() for _ in range(_THREADS)]
    said = ["m1", "to m1", "m2", "to m2"]

    def talks(config: Any) -> list[str]:
        for text in ("m1", "m2"):
            replica.invoke(graph, question(text), config)
        return texts(replica.state(graph, config).values["messages"])

    ends = together(*(partial(talks, config) for config in configs))
    again = other.compile(talk())
    stored = [texts(other.state(again, config).values.get("messages", [])) for config in configs]
    wrong = [end for end in (*ends, *stored) if end != said]
    if wrong:
        raise ContractBroken(f"{len(wrong)} of {2 * _THREADS} answers are wrong: {wrong[0]!r:.200}")


def special_writes_count_last_and_ordinary_ones_first(stage: Stage) -> None:
    """Of a write that comes again the first counts; of an error, a question or an answer the last."""
    replica = stage.replica()
    thread_id = stage.config()["configurable"]["thread_id"]
    config = begun(replica, thread_id, {"note": "x"}).config
    for writes, task in (
        ([("a", 1), ("b", 1)], "task"),
        ([("a", 2), ("b", 2)], "task"),
        ([("__error__", "first")], "task"),
        ([("__error__", "last")], "task"),
        ([("c", 3)], "another"),
    ):
        replica.call("put_writes", config, writes, task, f"path {task}")
    stored: list[Any] = replica.get(at(thread_id)).pending_writes
    found = sorted((task, channel, value) for task, channel, value in stored)
    wanted = [("another", "c", 3), ("task", "__error__", "last"), ("task", "a", 1), ("task", "b", 1)]
    if found != wanted:
        raise ContractBroken(f"the pending writes are {found}")


def listings_are_newest_first(stage: Stage) -> None:
    """A thread is listed in the order of its checkpoints, as far as it is asked for."""
    replica = stage.replica()
    thread_id = stage.config()["configurable"]["thread_id"]
    found = begun(replica, thread_id, {"note": "0"})
    ids = [found.checkpoint["id"]]
    for number in range(1, 25):
        put(replica, found, {"note": f"{number} " * 40})
        found = replica.get(at(thread_id))
        ids.insert(0, found.checkpoint["id"])
    for limit in (1, 20, 21, None):
        listed = replica.call("list", at(thread_id), limit=limit)
        if [each.checkpoint["id"] for each in listed] != ids[:limit]:
            raise ContractBroken(f"with limit {limit} the list has {len(listed)} of {len(ids)}, or another order")
    before = replica.call("list", at(thread_id), before=at(thread_id, ids[4]), limit=3)
    if [each.checkpoint["id"] for each in before] != ids[5:8]:
        raise ContractBroken("what is before a checkpoint is listed otherwise")


STEPS: Final[Mapping[Callable[[Stage], str | None], tuple[Any, ...]]] = dict.fromkeys(
    (
        histories_are_those_in_memory,
        stateless_graphs_within_travel_in_time,
        stateful_graphs_within_travel_in_time,
        branches_begin_where_they_were_asked_to,
        changes_give_the_history_in_memory,
        changes_of_long_ago,
        changes_survive_a_prune,
        what_is_changed_in_place_is_stored,
        finished_siblings_do_not_run_again,
        threads_share_a_saver,
        special_writes_count_last_and_ordinary_ones_first,
        listings_are_newest_first,
    ),
    (),
)
