"""Two savers on one thread: what one of them does not know of."""

from __future__ import annotations

import uuid
from collections import Counter
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from unittest import mock

from langgraph.checkpoint.base.id import uuid6
from langgraph.types import Command, interrupt

from abreast.testing.saver_contract.graphs import FewSnapshots, Talk, line, question, side_by_side, talk
from abreast.testing.saver_contract.meeting import race
from abreast.testing.saver_contract.results import ContractBroken
from abreast.testing.saver_contract.stage import at, begun, checkpoint_after, needs, put, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from abreast.testing.saver_contract.graphs import Builder
    from abreast.testing.saver_contract.replica import Replica
    from abreast.testing.saver_contract.stage import Stage

_TICKS: Final = 10_000_000
"""Of the clock that makes ids, in a second."""
_HOUR: Final = 3_600


def no_message_is_lost(stage: Stage) -> str:
    """Of two turns that begin at one checkpoint both are heard once; who is refused asks again."""
    replicas = stage.replica(), stage.replica()
    graphs = [replica.compile(talk()) for replica in replicas]
    lost, again, refused = 0, 0, 0
    for number in range(stage.rounds):
        config = stage.config()
        before = ["m0"] * (number % 2)
        for text in before:
            replicas[0].invoke(graphs[0], question(text), config)
        ends = race(
            replicas,
            *(_asks(replica, graph, config, text) for replica, graph, text in zip(replicas, graphs, "ab", strict=True)),
        )
        for replica, graph, text, end in zip(replicas, graphs, "ab", ends, strict=True):
            if isinstance(end, Exception):
                refused += 1
                if text not in _heard(replica, graph, config):
                    replica.invoke(graph, question(text), config)
        heard = Counter(_heard(replicas[0], graphs[0], config))
        lost += sum(not heard[text] for text in (*before, "a", "b"))
        again += sum(count > 1 for count in heard.values())
    total = 2 * stage.rounds + stage.rounds // 2
    if lost or again:
        raise ContractBroken(f"{lost} of {total} messages lost, {again} stored twice; {refused} runs got an error")
    return f"{total} messages, {refused} asked again"


def _asks(replica: Replica, graph: Any, config: Any, text: str) -> Callable[[Mapping[str, Any]], Any]:
    return lambda more: replica.invoke(graph, question(text), _with(config, more))


def _with(config: Any, more: Mapping[str, Any]) -> Any:
    return {"configurable": {**config["configurable"], **more}}


def _heard(replica: Replica, graph: Any, config: Any) -> list[str]:
    messages = replica.state(graph, config).values.get("messages", [])
    return texts([message for message in messages if message.type == "human"])


def one_resume_counts(stage: Stage) -> str:
    """Of two answers to one question one counts, and is what is stored; the other one gets an error."""

    def build(effects: list[str]) -> Builder:
        return line(Talk, ("ask", lambda _state: {"note": _effect(effects, interrupt("which day?"))}))

    return _resumed(stage, build, question("m0"), lambda state: state["note"])


def one_resume_of_changes_counts(stage: Stage) -> str:
    """So it is where the state is made of what its tasks have written (DeltaChannel)."""

    def build(effects: list[str]) -> Builder:
        def ask(_state: Any) -> Any:
            answer = _effect(effects, interrupt("which day?"))
            # The answers do not write the same number of channels.
            return {"said": [answer], **({"note": answer} if answer == "a" else {})}

        return line(FewSnapshots, ("ask", ask), ("more", lambda state: {"said": [f"again {state['said'][-1]}"]}))

    return _resumed(stage, build, {"said": ["m0"]}, lambda state: state["said"])


def one_resume_of_siblings_counts(stage: Stage) -> str:
    """So it is where two parallel nodes were asked: the state is no mixture of two answers."""

    def build(effects: list[str]) -> Builder:
        def ask(_state: Any) -> Any:
            return {"said": [_effect(effects, interrupt("which day?"))]}

        return side_by_side(FewSnapshots, lambda _state: {"note": "done"}, first=ask, second=ask)

    return _resumed(stage, build, {"said": ["m0"]}, lambda state: state["said"], parts=2)


def _effect(effects: list[str], answer: str) -> str:
    effects.append(answer)
    return answer


def _resumed(
    stage: Stage, build: Callable[[list[str]], Builder], value: Any, read: Callable[[Any], Any], parts: int = 1
) -> str:
    effects: list[str] = []
    replicas = stage.replica(), stage.replica()
    graphs = [replica.compile(build(effects)) for replica in replicas]
    accepted, wrong, kept = 0, 0, 0
    for _ in range(stage.rounds):
        config = stage.config()
        replicas[0].invoke(graphs[0], value, config)
        questions = replicas[0].state(graphs[0], config).interrupts
        before = len(effects)
        calls = (
            _resumes(replica, graph, config, {each.id: answer for each in questions})
            for replica, graph, answer in zip(replicas, graphs, "ab", strict=True)
        )
        won = [read(end) for end in race(replicas, *calls) if not isinstance(end, Exception)]
        stored = replicas[0].state(graphs[0], config)
        accepted += len(won)
        wrong += len(won) != 1 or bool(stored.next) or read(stored.values) != won[0]
        kept += len(effects) - before
    done = kept // parts
    told = f"{accepted} answers accepted and {done} effects for {stage.rounds} questions"
    if wrong or (stage.setup.exclusive and done != stage.rounds):
        raise ContractBroken(f"{told}; {wrong} times not one of them was accepted and stored")
    return told


def _resumes(replica: Replica, graph: Any, config: Any, answers: Any) -> Callable[[Mapping[str, Any]], Any]:
    return lambda more: replica.invoke(graph, Command(resume=answers), _with(config, more))


def clocks_decide_nothing(stage: Stage) -> str:
    """Turns of savers whose clocks are an hour apart follow each other, and none is dropped."""
    replicas = stage.replica(), stage.replica()
    graphs = [replica.compile(talk()) for replica in replicas]
    turns = 0
    for seconds in (_HOUR, -_HOUR):
        config = stage.config()
        said: list[str] = []
        for which, text in zip((0, 1, 1, 0, 1), ("m1", "m2", "m3", "m4", "m5"), strict=True):
            with _clock(0 if which else seconds):
                replicas[which].invoke(graphs[which], question(text), config)
            said.append(text)
            heard = _heard(replicas[1 - which], graphs[1 - which], config)
            if heard != said:
                raise ContractBroken(f"after the turns {said} the conversation is {heard}, without an error")
            turns += 1
    return f"{turns} turns"


@contextmanager
def _clock(seconds: int) -> Generator[None]:
    """Let LangGraph's clock be ahead: ids and times of checkpoints are made of it."""

    def shifted(**options: Any) -> uuid.UUID:
        made = uuid6(**options)
        high, middle, low = made.int >> 96, (made.int >> 80) & 0xFFFF, (made.int >> 64) & 0x0FFF
        ticks = (high << 28 | middle << 12 | low) + seconds * _TICKS
        fields = ((ticks >> 28) << 96) | ((ticks >> 12 & 0xFFFF) << 80) | (0x6000 | ticks & 0x0FFF) << 64
        return uuid.UUID(int=fields | made.int & (1 << 64) - 1)

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(seconds=seconds)

    names = "langgraph.pregel._checkpoint.uuid6", "langgraph.pregel._checkpoint.datetime"
    with mock.patch(names[0], shifted), mock.patch(names[1], Clock):
        yield


def a_deleted_thread_stays_deleted(stage: Stage) -> str:
    """A thread that is deleted while it runs does not come back with the run's next checkpoint."""
    runs, deletes = stage.replica(), stage.replica()
    config = stage.config()
    thread_id = config["configurable"]["thread_id"]

    def answer(state: Any) -> Any:
        if state["messages"][-1].content == "m2":
            deletes.call("delete_thread", thread_id)
        return {"note": "answered " * 10}

    graph = runs.compile(talk(answer))
    runs.invoke(graph, question("m1"), config)
    ended = "without an error"
    try:
        runs.invoke(graph, question("m2"), config)
    except Exception as error:  # noqa: BLE001 - a run may well be refused
        ended = f"with {type(error).__name__}"
    _check_gone(deletes, thread_id, f"the run ended {ended}")
    return f"the run ended {ended}"


def late_calls_do_not_revive(stage: Stage) -> None:
    """With a configuration of before its deletion neither a checkpoint nor a pending write revives a thread."""
    late, deletes = stage.replica(), stage.replica()
    thread_id = stage.config()["configurable"]["thread_id"]
    found = begun(late, thread_id, {"note": "first " * 20})
    deletes.call("delete_thread", thread_id)
    calls = (partial(put, late, found, {"note": "late " * 20}), partial(_write, late, found.config))
    refused = [_refused(call) for call in calls]
    _check_gone(deletes, thread_id, f"refused: put {refused[0]}, put_writes {refused[1]}")
    put(deletes, None, {"note": "anew " * 20}, at(thread_id))
    if deletes.get(at(thread_id)).pending_writes:
        raise ContractBroken("the thread that begins anew has a pending write of the deleted one")


def _write(replica: Replica, config: Any) -> None:
    replica.call("put_writes", config, [("note", "late " * 20)], "task")


def _check_gone(replica: Replica, thread_id: str, told: str) -> None:
    found = replica.get(at(thread_id))
    listed = replica.call("list", {"configurable": {"thread_id": thread_id}})
    if found is not None or listed:
        raise ContractBroken(f"{len(listed)} checkpoints of the deleted thread are there; {told}")


def _refused(call: Callable[[], Any]) -> bool:
    try:
        call()
    except Exception:  # noqa: BLE001 - whatever it is, it was refused
        return True
    return False


def late_calls_of_an_older_run_are_refused(stage: Stage) -> None:
    """A run that is behind changes neither the newest checkpoint nor its pending writes."""
    late, newer = stage.replica(), stage.replica()
    thread_id = stage.config()["configurable"]["thread_id"]
    begun(newer, thread_id, {"note": "first " * 20})
    mine, theirs = late.get(at(thread_id)), newer.get(at(thread_id))
    put(newer, theirs, {"note": "second " * 20})
    newest = newer.get(at(thread_id))
    calls = (partial(put, late, mine, {"note": "late " * 20}), partial(_write, late, mine.config))
    refused = [_refused(call) for call in calls]
    found = stage.replica().get(at(thread_id))
    same = found.checkpoint == newest.checkpoint and found.pending_writes == newest.pending_writes
    if not same or not refused[0]:
        raise ContractBroken(f"the head is {'the same' if same else 'another'}; put was refused: {refused[0]}")


def repeated_puts_are_one(stage: Stage) -> None:
    """A put whose answer was lost can be repeated: the checkpoint is there once, and the newest."""
    replica = stage.replica()
    thread_id = stage.config()["configurable"]["thread_id"]
    parent = begun(replica, thread_id, {"note": "first " * 20, "todo": ["a " * 50]})
    values = {"note": "second " * 20, "todo": ["a " * 50, "b " * 50]}
    made, versions = checkpoint_after(replica, parent, values)
    for _ in range(2):
        metadata: Any = {"source": "loop", "step": 1, "parents": {}}
        replica.call("put", at(thread_id, parent.checkpoint["id"]), made, metadata, versions)
    listed = replica.call("list", {"configurable": {"thread_id": thread_id}})
    found = stage.replica().get(at(thread_id))
    if len(listed) != 2 or found.checkpoint["channel_values"] != values:  # noqa: PLR2004 - the first and this one
        raise ContractBroken(f"{len(listed)} checkpoints instead of 2, the newest {found.checkpoint['id']}")


def quick_updates_are_no_conflict(stage: Stage) -> None:
    """One run after the other changes the state at once, with older checkpoints removed in between."""
    replica = stage.replica()
    graph, config = replica.compile(talk()), stage.config()
    thread_id = config["configurable"]["thread_id"]
    needs(replica, "prune")
    replica.invoke(graph, question("m1"), config)
    for number in range(3):
        replica.update(graph, config, {"note": f"update {number}"}, as_node="say")
        replica.call("prune", [thread_id], strategy="keep_latest")
        replica.invoke(graph, question(f"q{number}"), config)
    if _heard(replica, graph, config) != ["m1", "q0", "q1", "q2"]:
        raise ContractBroken(f"the conversation is {_heard(replica, graph, config)}")


def a_question_survives_a_prune(stage: Stage) -> None:
    """When older checkpoints are removed, the newest keeps its pending writes: a question can be answered."""
    replica = stage.replica()
    needs(replica, "prune")
    graph = replica.compile(line(Talk, ("ask", lambda _state: {"note": str(interrupt("which day?")) * 20})))
    config = stage.config()
    replica.invoke(graph, question("m1"), config)
    replica.call("prune", [config["configurable"]["thread_id"]], strategy="keep_latest")
    asked = [each.value for each in replica.state(graph, config).interrupts]
    replica.invoke(graph, Command(resume="30"), config)
    note = replica.state(graph, config).values["note"]
    if (asked, note) != (["which day?"], "30" * 20):
        raise ContractBroken(f"the questions are {asked}, the answer is stored as {note!r}")


def deletion_leaves_nothing(stage: Stage) -> None:
    """Nested namespaces, pending writes and a second deletion: nothing is left, and it is no error."""
    replica = stage.replica()
    thread_id = stage.config()["configurable"]["thread_id"]
    namespaces = ("", "inner:1", "inner:1|deep:2")
    for namespace in namespaces:
        config = at(thread_id, checkpoint_ns=namespace)
        made = put(replica, None, {"note": "x" * 200}, config)
        replica.call("put_writes", made, [("note", "y" * 200)], "task")
    for _ in range(2):
        replica.call("delete_thread", thread_id)
    found = [replica.get(at(thread_id, checkpoint_ns=namespace)) for namespace in namespaces]
    listed = replica.call("list", {"configurable": {"thread_id": thread_id}})
    if listed or any(found):
        raise ContractBroken(f"{len(listed)} checkpoints are left")


STEPS: Final[Mapping[Callable[[Stage], str | None], tuple[Any, ...]]] = dict.fromkeys(
    (
        no_message_is_lost,
        one_resume_counts,
        one_resume_of_changes_counts,
        one_resume_of_siblings_counts,
        clocks_decide_nothing,
        a_deleted_thread_stays_deleted,
        late_calls_do_not_revive,
        late_calls_of_an_older_run_are_refused,
        repeated_puts_are_one,
        quick_updates_are_no_conflict,
        a_question_survives_a_prune,
        deletion_leaves_nothing,
    ),
    (),
)
