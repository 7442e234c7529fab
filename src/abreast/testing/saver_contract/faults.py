"""Processes that die or crowd, and bytes that change or go missing."""

from __future__ import annotations

import os
import signal
import threading
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from langchain_core.messages import AIMessage

from abreast.testing.saver_contract import behaviour
from abreast.testing.saver_contract.graphs import Talk, question, side_by_side
from abreast.testing.saver_contract.processes import Child, barrier, start
from abreast.testing.saver_contract.replica import opened
from abreast.testing.saver_contract.results import ContractBroken, Left
from abreast.testing.saver_contract.stage import at, begun, put, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from abreast.testing.saver_contract.graphs import Builder
    from abreast.testing.saver_contract.replica import OpenSaver, Replica
    from abreast.testing.saver_contract.stage import Stage

_PROCESSES, _PUTS = 4, 25


def die() -> None:
    """End this process at once: nothing is flushed, closed or rolled back."""
    os.kill(os.getpid(), signal.SIGKILL)


class Fuse:
    """Ends the process when it is called for the n-th time."""

    def __init__(self, place: int) -> None:
        self._left = place

    def __call__(self) -> None:
        """Count, and end the process when it is time."""
        self._left -= 1
        if self._left == 0:
            die()


def _values(number: int) -> dict[str, Any]:
    return {"todo": [f"item {each} " * 9 for each in range(number)], "note": f"note {number} " * 9}


_WRITES: Final = [("note", "pending " * 20), ("todo", ["pending " * 20])]


def killed_at_any_statement(stage: Stage) -> str:
    """Killed between any two statements of put and put_writes, a process leaves all of a call's bytes, or none."""
    replica = stage.replica()
    thread_id = stage.config()["configurable"]["thread_id"]
    found = begun(replica, thread_id, _values(1))
    number, ends = 1, set[str]()
    for place in count(1):
        before = found.checkpoint["id"]
        child = start(_publishes, stage.setup.open_saver, stage.handle, stage.setup.fault, thread_id, number + 1, place)
        killed = child.killed()
        found = replica.get(at(thread_id))
        published = found.checkpoint["id"] != before
        number += published
        _check_whole(found, number, place)
        ends.add(("put and writes" if found.pending_writes else "put") if published else "nothing")
        if not killed:
            return f"killed at {place - 1} points; stored was {', '.join(sorted(ends))}"
    raise AssertionError("no end")


def _check_whole(found: Any, number: int, place: int) -> None:
    values, writes = found.checkpoint["channel_values"], [write[1:] for write in found.pending_writes]
    if values != _values(number):
        raise ContractBroken(f"killed at point {place}, a checkpoint has {values!r:.200}")
    if writes not in ([], _WRITES):
        raise ContractBroken(f"killed at point {place}, {len(writes)} of {len(_WRITES)} writes of a task are stored")


def _publishes(
    open_saver: OpenSaver,
    handle: Any,
    fault: Callable[[Any, Callable[[], None]], None],
    thread_id: str,
    number: int,
    place: int,
) -> None:
    with opened(open_saver, handle) as replica:
        parent = replica.get(at(thread_id))
        fault(replica.saver, Fuse(place))
        made = put(replica, parent, _values(number))
        replica.call("put_writes", made, _WRITES, "task")


def killed_in_a_deletion(stage: Stage) -> str:
    """Killed between any two statements of delete_thread, a process leaves the whole thread or nothing of it."""
    replica, deleted = stage.replica(), 0
    for place in count(1):
        thread_id = stage.config()["configurable"]["thread_id"]
        made = put(replica, begun(replica, thread_id, _values(1)), _values(2))
        replica.call("put_writes", made, _WRITES, "task")
        before = _everything(replica, thread_id)
        killed = start(_deletes, stage.setup.open_saver, stage.handle, stage.setup.fault, thread_id, place).killed()
        after = _everything(replica, thread_id)
        deleted += not after
        if after not in ([], before):
            raise ContractBroken(f"killed at point {place}, {after} is left of {before}")
        replica.call("delete_thread", thread_id)
        if _everything(replica, thread_id):
            raise ContractBroken(f"killed at point {place}, the thread cannot be deleted any more")
        if not killed:
            return f"killed at {place - 1} points; {deleted} of {place} deletions took effect"
    raise AssertionError("no end")


def _everything(replica: Replica, thread_id: str) -> list[Any]:
    listed = replica.call("list", at(thread_id))
    return [(found.checkpoint["id"], len(found.pending_writes)) for found in listed]


def _deletes(
    open_saver: OpenSaver, handle: Any, fault: Callable[[Any, Callable[[], None]], None], thread_id: str, place: int
) -> None:
    with opened(open_saver, handle) as replica:
        replica.get(at(thread_id))
        fault(replica.saver, Fuse(place))
        replica.call("delete_thread", thread_id)


def a_sibling_that_was_stored_survives_a_kill(stage: Stage) -> None:
    """Of two parallel nodes the one whose writes were stored is not run again when the other one's process dies."""
    replica, config = stage.replica(), stage.config()
    with TemporaryDirectory(prefix="saver-contract-") as folder:
        child = start(_dies_beside_a_sibling, stage.setup.open_saver, stage.handle, config, folder)
        if not child.killed():
            raise ContractBroken("the process was not killed")
        graph = replica.compile(_siblings(folder, lambda: None))
        replica.invoke(graph, None, config, durability="sync")
        calls = sorted(path.name.partition("-")[0] for path in Path(folder).iterdir())
    said = texts(replica.state(graph, config).values["messages"])
    if calls != ["first", "second", "second"] or sorted(said) != ["first", "go", "second"]:
        raise ContractBroken(f"the nodes were called {calls}, the conversation is {said}")


def _siblings(folder: str, dies: Callable[[], None]) -> Builder:
    def first(_state: Any) -> Any:
        (Path(folder) / f"first-{uuid4()}").touch()
        return {"messages": [AIMessage("first")]}

    def second(_state: Any) -> Any:
        (Path(folder) / f"second-{uuid4()}").touch()
        dies()
        return {"messages": [AIMessage("second")]}

    return side_by_side(Talk, lambda _state: {"note": "done"}, first=first, second=second)


def _dies_beside_a_sibling(open_saver: OpenSaver, handle: Any, config: Any, folder: str) -> None:
    stored = threading.Event()

    def dies() -> None:
        stored.wait(30)
        die()

    with opened(open_saver, handle) as replica:
        behaviour.notice(replica.saver, stored)
        replica.invoke(replica.compile(_siblings(folder, dies)), question("go"), config, durability="sync")


def processes_put_at_once(stage: Stage) -> str:
    """Four processes store conversations in one store at once: no error, and all is there."""
    meet = barrier(_PROCESSES)
    threads = [stage.config()["configurable"]["thread_id"] for _ in range(_PROCESSES)]
    given = stage.setup.open_saver, stage.handle
    children: list[Child] = [start(_puts_many, *given, thread_id, meet) for thread_id in threads]
    failed = [error for child in children if (error := child.error()) is not None]
    if failed:
        raise ContractBroken(f"{len(failed)} of {_PROCESSES} processes failed: {failed[0][-300:]}")
    replica = stage.replica()
    for thread_id in threads:
        found = replica.get(at(thread_id))
        listed = replica.call("list", at(thread_id))
        if found.checkpoint["channel_values"] != _values(_PUTS) or len(listed) != _PUTS:
            raise ContractBroken(f"{len(listed)} of {_PUTS} checkpoints of a process are there")
    return f"{_PROCESSES * _PUTS} checkpoints"


def _puts_many(open_saver: OpenSaver, handle: Any, thread_id: str, meet: Any) -> None:
    with opened(open_saver, handle) as replica:
        found = begun(replica, thread_id, _values(1))
        meet.wait()
        for number in range(2, _PUTS + 1):
            made = put(replica, found, _values(number))
            replica.call("put_writes", made, _WRITES, "task")
            found = replica.get(at(thread_id))


def _damaged(stage: Stage, what: str) -> str:
    """Store a thread, damage it, and load it elsewhere."""
    replica = stage.replica()
    thread_id = stage.config()["configurable"]["thread_id"]
    parent = begun(replica, thread_id, _values(79))
    made = put(replica, parent, _values(80))
    replica.call("put_writes", made, _WRITES, "task")
    whole = replica.get(at(thread_id))
    corrupt = stage.setup.corrupt
    if corrupt is None or not corrupt(stage.handle, thread_id, what):
        raise Left("the store has no such bytes of its own")
    try:
        found = stage.replica().get(at(thread_id))
    except Exception as error:
        if thread_id not in str(error):
            raise ContractBroken(f"the thread is not named: {type(error).__name__}: {error!s:.100}") from error
        return type(error).__name__
    raise ContractBroken(f"without an error {_difference(whole, found)}")


def _difference(whole: Any, found: Any) -> str:
    if found is None:
        return "the thread is not there"
    if found.checkpoint["id"] != whole.checkpoint["id"]:
        return "an older checkpoint came back"
    before, after = whole.checkpoint["channel_values"], found.checkpoint["channel_values"]
    for channel in before:
        if channel not in after:
            return f"the channel {channel} is missing"
        if before[channel] != after[channel]:
            return f"the channel {channel} came back as {after[channel]!r:.60}"
    if len(whole.pending_writes) != len(found.pending_writes):
        return f"{len(found.pending_writes)} of {len(whole.pending_writes)} pending writes came back"
    return "pending writes came back as others" if whole.pending_writes != found.pending_writes else "all came back"


def _damage(what: str) -> Callable[[Stage], str | None]:
    """Make the case of one kind of damage."""
    step = partial(_damaged, what=what)
    how, part = what.split()
    verb = {"flip": "changed", "drop": "missing"}[how]
    step.__name__ = f"a_{part}_{verb}_is_named"  # type: ignore[attr-defined]
    step.__doc__ = f"Where the bytes of a {part} are {verb}, the load raises an error that names the thread."
    return step


DAMAGES: Final = tuple(f"{how} {part}" for how in ("flip", "drop") for part in ("checkpoint", "value", "list", "write"))

STEPS: Final[Mapping[Callable[[Stage], str | None], tuple[Any, ...]]] = {
    killed_at_any_statement: ("fault", "processes"),
    killed_in_a_deletion: ("fault", "processes"),
    a_sibling_that_was_stored_survives_a_kill: ("processes",),
    processes_put_at_once: ("processes",),
    **{_damage(what): ("corrupt",) for what in DAMAGES},
}
