"""W13: what somebody tried to write, and what became of it."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from abreast import Actor, Entity
from abreast.errors import (
    AbreastError,
    EntityNotFound,
    InvalidInput,
    LeaseLost,
    MutationReused,
    StaleWrite,
    UnknownField,
    VersionRequired,
    WriteRefused,
)
from abreast.model.attempt import Attempt
from abreast.operations.leases import Lease
from tests.contract.agents import CONTEXT, Talk, begin, calls, update
from tests.contract.client import Client, Place
from tests.contract.product import MOVE, OTHER_USER, USER, Move, item

AGENT = Actor.agent("mover", on_behalf_of="person-9")
NOBODY = Actor.agent("nobody")


def attempts(client: Client, **options: Any) -> list[Attempt]:
    """List attempts, newest first."""
    return client.attempts("w1", **options)


def told(found: list[Attempt]) -> list[tuple[Any, ...]]:
    """Say what was tried, oldest first."""
    shown = ("result", "operation", "entity_type", "entity_id", "changed_fields")
    return [tuple(getattr(attempt, name) for name in shown) for attempt in reversed(found)]


@pytest.fixture
def talk(place: Place, client: Client) -> Talk:
    """Give an agent with all tools for moves, and rights that a test can take away."""
    talk = begin(place, client)
    every = {"move": ["read", "update", "create", "delete"]}
    talk.build(name="mover", entity_tools=every, rights=lambda context, _entity, _deed: "denied" not in context)
    return talk


def test_w13_what_an_agent_did(talk: Talk):
    """W13 I9: each call of an agent's tools, with its result, its run, and names in place of values."""
    talk.change(stage="seen")
    for call in (
        update(2, stage="booked", door_code="4711-hush", alarm_code="0815-hush"),
        update(2, stage="booked"),
        update(1, stage="cancelled", note="x"),
        update(1, "nowhere", stage="booked"),
        ("update_move", {"id": "m1", "changes": {"stage": "4711-hush", "no_field": 1, "alarm_code": 1}}),
        ("update_move", {"id": "m1", "expected_version": 3, "changes": "stage"}),
        ("delete_move", {"id": "m1", "expected_version": 1}),
        ("create_move", {"values": {"stage": "new", "move_in_date": "tomorrow"}}),
    ):
        talk.ask("Do it", calls(call))
    denied = {**CONTEXT, "denied": "4711-hush"}
    talk.ask("Do it", calls(update(3, stage="cancelled")), context=denied)
    found = attempts(talk.client, actor=AGENT)
    assert [
        ("invalid", "update", "move", "m1", ("door_code", "stage")),
        ("allowed", "update", "move", "m1", ("stage",)),
        ("conflict", "update", "move", "m1", ("note", "stage")),
        ("not_found", "update", "move", "nowhere", ("stage",)),
        ("invalid", "update", "move", "m1", ("stage",)),
        ("invalid", "update", "move", "m1", ()),
        ("conflict", "delete", "move", "m1", ()),
        ("invalid", "insert", "move", None, ("move_in_date", "stage")),
        ("denied", "update", "move", "m1", ("stage",)),
    ] == told(found)
    runs = [run for (run,) in talk.client.rows("SELECT run_id FROM abreast_run ORDER BY fence")]
    assert [("t1", run) for run in runs[1:]] == [(each.source_thread_id, each.run_id) for each in reversed(found)]
    assert [None] * 7 + [3, None] == [attempt.revision for attempt in found]
    assert "hush" not in repr(found)
    assert "hush" not in "\n".join(map(repr, talk.client.rows("SELECT * FROM abreast_refusal")))
    assert "alarm_code" not in repr(found)


def test_w13_nobody_is_taken_for_a_person(talk: Talk):
    """W13: what has no agent's mark is told as whoever it was: a person, a job, a database account, each apart."""
    client = talk.client
    talk.ask("Book", calls(update(1, stage="booked")))
    with client.write(actor=OTHER_USER) as write:
        write.update(Move, "m1", {"note": "x"}, expected_version=2)
    with client.write(actor=Actor.system("nightly")) as write:
        write.update(Move, "m1", {"note": "y"}, expected_version=3)
    refuse(
        client, lambda write: write.update(Move, "m1", {"note": "z"}, expected_version=3), actor=Actor.system("import")
    )
    past = "UPDATE abreast_workspace_event SET actor_type = 'database', actor_id = 'app' WHERE actor_id = 'nightly'"
    client.rows(past)
    assert [
        ("allowed", "user", USER.id),
        ("allowed", "agent", "mover"),
        ("allowed", "user", OTHER_USER.id),
        ("allowed", "database", "app"),
        ("conflict", "system", "import"),
    ] == [(each.result, each.actor.type, each.actor.id) for each in reversed(attempts(client))]
    of_user = attempts(client, actor=OTHER_USER)
    assert [("allowed", OTHER_USER)] == [(attempt.result, attempt.actor) for attempt in of_user]
    assert 1 == len(attempts(client, actor=Actor.database("app")))


def test_w13_whom_an_agent_acted_for(client: Client):
    """W13: an agent is found for whomever it acted; with a person, for that one alone; newest first, since, at most."""
    with client.write(actor=Actor.agent("a", on_behalf_of="p1")) as write:
        write.insert(Move, {"id": "m1", "move_in_date": "2026-09-28"})
    for person in ("p1", "p2", None):
        actor = Actor.agent("a", on_behalf_of=person)
        refuse(client, lambda write: write.update(Move, "m1", {"note": "x"}, expected_version=9), actor=actor)
    by_agent = attempts(client, actor=Actor.agent("a"))
    assert [None, "p2", "p1", "p1"] == [attempt.actor.on_behalf_of for attempt in by_agent]
    assert ["conflict", "allowed"] == [
        each.result for each in attempts(client, actor=Actor.agent("a", on_behalf_of="p1"))
    ]
    assert by_agent[:2] == attempts(client, limit=2)
    exactly = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=by_agent[1].created_at)
    assert by_agent[:2] == attempts(client, since=exactly)
    assert [] == client.attempts("w2")
    bad: list[dict[str, Any]] = [{"actor": "u1"}, {"since": "24h"}, {"since": datetime(2026, 1, 1)}, {"limit": 0}]  # noqa: DTZ001
    for options in bad:
        with pytest.raises(InvalidInput, match=f"^{next(iter(options))}: "):
            attempts(client, **options)


def refuse(
    client: Client, change: Callable[[Any], object], kind: type[Exception] = AbreastError, **options: Any
) -> None:
    """Begin a block of writes that is refused."""
    with pytest.raises(kind), client.write(**options) as write:
        change(write)


def two(write: Any) -> None:
    """Change two rows, the second of which is not there."""
    write.update(Move, "m1", {"note": "x"}, expected_version=1)
    write.update(Move, "m9", {"stage": "x"}, expected_version=1)


BLOCKS: dict[str, tuple[type[Exception], Callable[[Any], object], tuple[Any, ...]]] = {
    "stale": (
        StaleWrite,
        lambda write: write.update(Move, "m1", {"note": "x", "alarm_code": "y"}, expected_version=7),
        ("conflict", "update", "move", "m1", ("note",)),
    ),
    "one of two": (EntityNotFound, two, ("not_found", "update", "move", "m9", ("stage",))),
    "there already": (
        WriteRefused,
        lambda write: write.insert(Move, {"id": "m1"}),
        ("refused", "insert", "move", "m1", ("id",)),
    ),
    "no parent": (
        EntityNotFound,
        lambda write: write.insert(item, {"id": "i1", "move_id": "m9", "title": "keys"}),
        ("not_found", "insert", "item", "i1", ("id", "move_id", "title")),
    ),
    "no version": (
        VersionRequired,
        lambda write: write.delete(Move, "m1"),
        ("invalid", "delete", "move", "m1", ()),
    ),
    "no field": (
        UnknownField,
        lambda write: write.update(Move, "m1", {"note": "x", "4711-hush": 1}, expected_version=1),
        ("invalid", "update", "move", "m1", ("note",)),
    ),
    "no key": (
        InvalidInput,
        lambda write: write.update(Move, "m\n", {"note": "x"}, expected_version=1),
        ("invalid", "update", "move", None, ("note",)),
    ),
}


@pytest.mark.parametrize("case", BLOCKS)
def test_w13_refused_blocks(client: Client, case: str):
    """W13 I6: a refused block stores one row that tells of it, and nothing else."""
    with client.write() as write:
        write.insert(Move, {"id": "m1", "move_in_date": "2026-09-28"})
    before = client.rows("SELECT * FROM move")
    kind, change, expected = BLOCKS[case]
    refuse(client, change, kind, actor=AGENT, mutation_id="u7", source_thread_id="t1", run_id="r1")
    (found,) = attempts(client, actor=AGENT)
    assert [expected] == told([found])
    assert ("t1", "r1", "u7", AGENT) == (found.source_thread_id, found.run_id, found.mutation_id, found.actor)
    assert before == client.rows("SELECT * FROM move")
    assert [("w1", 1)] == [(event.workspace_id, event.revision) for event in client.changes()]


def test_w13_refusals_of_whole_blocks(client: Client):
    """W13 I7 I8: a reused mutation id and a lost thread; where no change is to blame none is named."""
    with client.write(mutation_id="u1") as write:
        write.insert(Move, {"id": "m1"})
        write.insert(Move, {"id": "m2"})

    def others(write: Any) -> None:
        write.insert(Move, {"id": "m3"})
        write.insert(Move, {"id": "m4"})

    refuse(client, others, MutationReused, mutation_id="u1")
    client.open_thread()
    refuse(client, lambda write: write.insert(Move, {"id": "m5"}), LeaseLost, lease=Lease("t1", 3))
    assert [("reused", None, None, None, ()), ("lost", "insert", "move", "m5", ("id",))] == told(attempts(client)[:2])
    assert [("m1",), ("m2",)] == client.rows("SELECT id FROM move ORDER BY id")


def test_w13_what_is_no_refusal(client: Client):
    """W13: an error of the application's own, one it has caught, and a block in its own transaction record nothing."""
    with client.write() as write:
        write.insert(Move, {"id": "m1"})
    refuse(client, lambda _write: {}["nothing"], KeyError)
    refuse(client, lambda _write: raised(StaleWrite("move", "m1", 1, 2, ())), StaleWrite)
    with client.write() as write:
        with pytest.raises(UnknownField):
            write.update(Move, "m1", {"no_field": 1}, expected_version=1)
        write.update(Move, "m1", {"note": "x"}, expected_version=1)
    with client.own("connection") as own:
        refuse(client, lambda write: write.delete(Move, "m1", expected_version=1), StaleWrite, within=own.raw)
    assert ["allowed", "allowed"] == [attempt.result for attempt in attempts(client)]


def raised(error: Exception) -> None:
    """Raise."""
    raise error


def test_w13_a_refusal_that_cannot_be_recorded(client: Client, caplog: pytest.LogCaptureFixture):
    """W13: then the log says so, and the refusal itself is told as ever."""
    with client.write() as write:
        write.insert(Move, {"id": "m1"})
    client.rows("ALTER TABLE abreast_refusal RENAME TO abreast_elsewhere")
    with caplog.at_level(logging.WARNING):
        try:
            refuse(client, lambda write: write.delete(Move, "m1", expected_version=7), StaleWrite)
        finally:
            client.rows("ALTER TABLE abreast_elsewhere RENAME TO abreast_refusal")
    (record,) = caplog.records
    assert "a refused write in workspace 'w1' could not be recorded" in record.getMessage()


def test_w13_retention(client: Client):
    """W13: refusals go with the events of their time, and those of other workspaces stay."""

    def change(version: int) -> None:
        with client.write() as write:
            write.update(Move, "m1", {"note": f"{version}"}, expected_version=version)
        refuse(client, lambda write: write.delete(Move, "m1", expected_version=version))

    for workspace in ("w1", "w2"):
        with client.write(workspace) as write:
            write.insert(Move, {"id": f"m{workspace[1]}"})
        refuse(client, lambda write: write.delete(Move, "m9", expected_version=1), workspace_id=workspace)
    for version in (1, 2, 3):
        change(version)
    assert 3 == client.forget_before("w1", 3)
    assert ["allowed", "conflict", "allowed", "conflict"] == [attempt.result for attempt in reversed(attempts(client))]
    assert ["allowed", "not_found"] == [attempt.result for attempt in reversed(client.attempts("w2"))]


def test_w13_a_field_that_has_become_secret(client: Client):
    """W13 I9: names that were stored are told as the entity is described today."""
    with client.write() as write:
        write.insert(Move, {"id": "m1"})
    refuse(client, lambda write: write.update(Move, "m1", {"note": "x", "stage": "y"}, expected_version=7))
    today = client.of(Entity(Move, expose=["stage"], secret=["note"]))
    assert ("conflict", ("stage",)) == (attempts(today)[0].result, attempts(today)[0].changed_fields)
    assert MOVE.name == attempts(today)[0].entity_type
