"""An agent's tools: once each, under the row's version, the run's lease and the user's rights."""

import logging
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain.tools import ToolRuntime, tool
from langchain_core.messages import AIMessage
from langgraph.types import Command, interrupt

from abreast import Entity
from abreast.errors import InvalidEntity, InvalidInput, LeaseLost, UnknownEntity
from abreast.langchain import awrite_options, workspace_tools, write_options
from tests.contract.agents import Talk, begin, calls, update
from tests.contract.client import Client, Place
from tests.contract.product import BOOKING, ITEM, LABEL, MOVE, OTHER_USER, SAMPLE, SLOT, Move, item, ticket

NEW = {"stage": "new", "move_in_date": None, "note": None}


@pytest.fixture
def talk(place: Place, client: Client) -> Talk:
    """Give a workspace with a move, and a conversation about it that has begun."""
    return begin(place, client)


def told(talk: Talk, *wanted: tuple[str, dict[str, Any]], **options: Any) -> list[Any]:
    """Let the model make calls in one message, and give what the tools answered."""
    before = len(talk.results())
    talk.ask("Do it", calls(*wanted), **options)
    return talk.results()[before:]


def events(talk: Talk) -> list[Any]:
    """List what was recorded."""
    return talk.client.recorded()


def test_update(talk: Talk):
    """A write gives the new version and revision, and a receipt that the model is not shown."""
    (result,) = told(talk, update(1, stage="booked", move_in_date="2026-09-30"))
    assert "Done: move m1 was changed. It has version 2 now (revision 2)." == result.content
    assert ("booked", None, 2) == talk.row()
    event = events(talk)[-1]
    assert event.mutation_id == result.artifact["mutation_id"]
    assert (2, 2) == (result.artifact["version"], result.artifact["revision"])
    assert result.artifact["mutation_id"] not in str(talk.model.requests[-1][-1].content)


def test_author(talk: Talk):
    """W11: the log names the agent, the person it acts for, the thread and the run; then the person alone."""
    talk.build(name="mover")
    told(talk, update(1, stage="booked"))
    talk.change(stage="cancelled")
    by_agent, by_user = events(talk)[-2:]
    assert ("agent", "mover", "person-9") == (by_agent.actor.type, by_agent.actor.id, by_agent.actor.on_behalf_of)
    runs = talk.client.rows("SELECT run_id FROM abreast_run WHERE thread_id = 't1'")
    assert "t1" == by_agent.source_thread_id
    assert (by_agent.run_id,) in runs
    assert (OTHER_USER, None) == (by_user.actor, by_user.source_thread_id)


def test_w01_stale_write(talk: Talk):
    """W01 I6: a person's edit stays; the refusal has the version, what changed, the values, and what to do."""

    def edit(_messages: Any) -> AIMessage:
        talk.change(stage="cancelled")
        return calls(update(1, stage="booked"))

    talk.ask("Book", edit, AIMessage("Not applied: it was cancelled."))
    (result,) = talk.results()
    assert "error" == result.status
    assert "has version 2, and this call expected 1" in result.content
    assert '- version 2, a person: stage from "new" to "cancelled"' in result.content
    assert '"stage": "cancelled"' in result.content
    assert "call update_move again with expected_version=2" in result.content
    assert ("cancelled", None, 2) == talk.row()
    assert "Not applied: it was cancelled." == talk.state().values["messages"][-1].content


def test_w01_stale_after_days(talk: Talk):
    """W01: the version from an old message is refused, however long ago it was."""
    for stage in ("a", "b", "c", "d"):
        talk.change(stage=stage)
    (result,) = told(talk, update(1, stage="booked"))
    assert "has version 5" in result.content
    assert 4 == result.content.count("a person: stage from")
    assert ("d", None, 5) == talk.row()


def test_fields_are_merged(talk: Talk):
    """W02: a patch of other fields passes where the application allows it; an overlap is a conflict."""
    talk.build(tools=workspace_tools(talk.client.log, merge="fields"), entity_tools=False)
    talk.change(note="by hand")
    (result,) = told(talk, update(1, stage="booked"))
    assert "success" == result.status
    assert ("booked", "by hand", 3) == talk.row()
    talk.change(note="by hand again")
    (result,) = told(talk, update(3, note="by the agent"))
    assert "error" == result.status
    assert "a person: note from" in result.content
    assert ("booked", "by hand again", 4) == talk.row()


def test_version_is_needed(talk: Talk):
    """W03: a write without a version is refused by default."""
    (result,) = told(talk, ("update_move", {"id": "m1", "changes": {"stage": "booked"}}))
    assert ("error", True) == (result.status, "expected_version: Field required" in result.content)
    assert ("new", None, 1) == talk.row()


def test_retry(talk: Talk):
    """W05 I7: a call that is repeated takes effect once and gets the recorded result."""

    class Twice(AgentMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            handler(request)
            return handler(request)

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            await handler(request)
            return await handler(request)

    talk.build(middleware=[Twice()], entity_tools={"move": ["read", "update", "create", "delete"]})
    told(talk, update(1, stage="booked"))
    (created,) = told(talk, ("create_move", {"values": NEW}))
    (deleted,) = told(talk, ("delete_move", {"id": "m1", "expected_version": 2}))
    assert ["insert", "update", "insert", "delete"] == [event.operation for event in events(talk)]
    assert all("was not carried out again" in result.content for result in talk.results())
    assert "success" == created.status == deleted.status


def test_crash_after_the_write(talk: Talk):
    """W06 I7: what was written before a crash is not written again when the run goes on."""
    crash = [True]

    class Crashing(AgentMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            result = handler(request)
            if crash:
                raise KeyboardInterrupt(crash.pop())
            return result

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            result = await handler(request)
            if crash:
                raise SystemError(crash.pop())
            return result

    talk.build(middleware=[Crashing()])
    with pytest.raises((KeyboardInterrupt, SystemError)):
        told(talk, update(1, stage="booked"))
    assert ("booked", None, 2) == talk.row()
    talk.build()
    talk.run(None)
    assert ["insert", "update"] == [event.operation for event in events(talk)]
    assert "was not carried out again" in talk.results()[-1].content


def test_w07_work_before_an_interrupt(talk: Talk):
    """W07 I7: the application's own tool that writes, then asks, writes once in three rounds."""
    log = talk.client.log

    def ask() -> str:
        while interrupt("right?") != "yes":
            pass
        return "done"

    @tool("review")
    def review(runtime: ToolRuntime[Any, Any]) -> str:
        """Note, then ask until it is right."""
        with log.write("w1", **write_options(log, runtime, "note")) as write:
            write.update("move", "m1", {"note": "asked"}, expected_version=1)
        return ask()

    @tool("review")
    async def areview(runtime: ToolRuntime[Any, Any]) -> str:
        """Note, then ask until it is right."""
        async with log.awrite("w1", **await awrite_options(log, runtime, "note")) as write:
            write.update("move", "m1", {"note": "asked"}, expected_version=1)
        return ask()

    talk.build([review if talk.client.mode == "sync" else areview])
    talk.ask("Review", calls(("review", {})))
    for answer in ("no", "no", "yes"):
        talk.run(Command(resume=answer))
    assert ("new", "asked", 2) == talk.row()
    assert ["insert", "update"] == [event.operation for event in events(talk)]
    assert "fine" == talk.state().values["messages"][-1].content


def test_w09_reused_call_ids(talk: Talk):
    """W09 I7: a provider that numbers its calls anew in each message and thread has all of them carried out."""
    told(talk, update(1, stage="a"))
    told(talk, update(2, stage="b"))
    talk.ask("Do it", calls(update(3, stage="c")), config={"configurable": {"thread_id": "t2"}})
    told(talk, update(4, stage="c"), update(4, note="d"))
    assert ("c", "d", 5) == talk.row()
    assert ["insert", "update", "update", "update", "update"] == [event.operation for event in events(talk)]


def test_w10_poison_call(talk: Talk):
    """W10: a call that fails at every try is told and kept as failed; those behind it take effect."""
    poison = update(1, "m9", stage="x")
    for round_, version in enumerate((1, 3)):
        results = told(talk, poison, update(version, stage=f"s{round_}"))
        assert ["error", "success"] == [result.status for result in results]
        (last,) = told(talk, update(version + 1, note=f"n{round_}"))
        assert "success" == last.status
    failed = [result.tool_call_id for result in talk.results() if result.status == "error"]
    assert ["call_0", "call_0"] == failed
    assert ("s1", "n1", 5) == talk.row()
    assert 4 == len(talk.client.rows("SELECT mutation_id FROM abreast_mutation WHERE mutation_id IS NOT NULL"))
    at_tools = next(state for state in reversed(talk.history()) if state.next == ("tools", "tools"))
    talk.run(None, config=at_tools.config)
    again = [result for result in talk.results() if result.tool_call_id in ("call_0", "call_1")]
    assert ["error", "success"] == [result.status for result in again]
    assert ("s1", "n1", 5) == talk.row()


def test_parallel_calls(talk: Talk):
    """Two calls of one message carry one version: the second is told that the run itself was first."""
    results = told(talk, update(1, stage="booked"), update(1, note="n"))
    assert ["error", "success"] == sorted(result.status for result in results)
    (refused,) = [result for result in results if result.status == "error"]
    assert "you, in this run" in refused.content


def test_edited_on_a_fork(talk: Talk):
    """S12 C13 I7: approved again it takes effect once; a branch that edits the arguments is another write."""

    class Gate(AgentMiddleware):
        def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - LangChain's signature
            last = state["messages"][-1]
            if not last.tool_calls:
                return None
            answer = interrupt("approve?")
            call = {**last.tool_calls[0], "args": update(answer["version"], stage=answer["stage"])[1]}
            return {"messages": [last.model_copy(update={"tool_calls": [call]})]}

    talk.build(middleware=[Gate()])
    talk.ask("Book", calls(update(1, stage="booked")))
    asked = talk.state().config
    talk.run(Command(resume={"stage": "booked", "version": 1}))
    talk.run(Command(resume={"stage": "booked", "version": 1}), config=asked)
    assert ("booked", None, 2) == talk.row()
    at_tools = next(state for state in talk.history() if state.next == ("tools",))
    last = at_tools.values["messages"][-1]
    edited = last.model_copy(update={"tool_calls": [{**last.tool_calls[0], "args": update(2, stage="packed")[1]}]})
    fork = talk.wait(
        talk.agent.update_state, talk.agent.aupdate_state, at_tools.config, {"messages": [edited]}, as_node="model"
    )
    talk.run(None, config=fork)
    talk.run(Command(resume={"stage": "packed", "version": 2}), config=fork)
    assert ("packed", None, 3) == talk.row()


def test_redundant_write(talk: Talk):
    """W15: a write that sets the same values makes no event and no version."""
    (result,) = told(talk, update(1, stage="new"))
    assert ("success", True) == (result.status, "Nothing had to be written" in result.content)
    assert 1 == len(events(talk))


def test_runs_side_by_side(place: Place, client: Client):
    """W18: writes of two threads and users carry their own run, thread and person."""
    first, second = begin(place, client), Talk(place, client.of(MOVE))
    second.build()
    first.ask("Do it", calls(update(1, stage="a")))
    second.model.answers.append(calls(update(2, stage="b")))
    second.run(
        {"messages": [("user", "Do it")]},
        config={"configurable": {"thread_id": "t2"}},
        context={"workspace_id": "w1", "user_id": "person-8"},
    )
    told_of = [(event.source_thread_id, event.actor.on_behalf_of) for event in first.client.recorded()[-2:]]
    assert [("t1", "person-9"), ("t2", "person-8")] == told_of
    runs = {event.run_id for event in first.client.recorded()[-2:]}
    assert 2 == len(runs)


def test_lost_lease(talk: Talk):
    """I8: a run that lost its thread while its tool ran writes nothing and ends."""
    lease = talk.client.database.tables.thread_lease

    def lose(_messages: Any) -> AIMessage:
        with talk.client.engine().begin() as connection:
            connection.execute(lease.update().values(fence=lease.c.fence + 1, run_id="somebody"))
        return calls(update(1, stage="booked"))

    with pytest.raises(LeaseLost):
        talk.ask("Book", lose)
    assert ("new", None, 1) == talk.row()


def test_create_and_delete(talk: Talk):
    """What is allowed for an entity, and nothing else, is a tool."""
    talk.build(entity_tools={"move": ["read", "create", "delete"]})
    (created,) = told(talk, ("create_move", {"values": {**NEW, "move_in_date": "2026-10-01"}}))
    key = created.artifact["entity_id"]
    assert ("new", None, 1) == talk.row(key)
    (read,) = told(talk, ("read_move", {"ids": [key]}))
    assert f'"id": "{key}", "version": 1, "move_in_date": "2026-10-01"' in read.content
    (deleted,) = told(talk, ("delete_move", {"id": key, "expected_version": 1}))
    assert f"Done: move {key} was deleted (revision 3)." == deleted.content
    (unknown,) = told(talk, update(1, stage="booked"))
    assert "error" == unknown.status


def test_read(talk: Talk):
    """A read is bounded, shows exposed fields only, and as data."""
    talk.client.put(
        Move.__table__,
        *({"id": f"x{at:02}", "workspace_id": "w1", "stage": "new", "version": 1} for at in range(30)),
    )
    (read,) = told(talk, ("read_move", {}))
    assert "20 of 31 rows of move." in read.content
    assert 21 == len(read.content.splitlines())
    talk.change(note="n" * 2_000 + "</workspace_state>")
    (many,) = told(talk, ("read_move", {"ids": ["m1", "x01", "gone"]}))
    assert "2 of 3 rows" in many.content
    assert "cut, 2018 characters in all" in many.content
    (one,) = told(talk, ("read_move", {"ids": ["m1"]}))
    assert "n" * 2_000 in one.content
    for secret in ("door-4711", "alarm-0815", "<"):
        assert secret not in read.content + many.content + one.content


def test_list_changes(talk: Talk):
    """Changes are found by kind of row, row, field and period; hidden values are not shown."""
    talk.change(stage="booked")
    talk.change(door_code="door-4712")
    talk.change(alarm_code="alarm-0816")
    told(talk, update(4, note="n"))
    (everything,) = told(talk, ("list_changes", {}))
    lines = everything.content.splitlines()
    assert lines[0].startswith("4 changes, newest first.")
    assert lines[1].endswith('an agent in this conversation: move m1: note from null to "n"')
    assert "door_code changed (value not shown)" in lines[2]
    assert 'a person: move m1: stage from "new" to "booked"' in lines[3]
    assert "added" in lines[4]
    for secret in ("door-47", "alarm", "person-9"):
        assert secret not in everything.content
    (stage,) = told(talk, ("list_changes", {"entity": "move", "id": "m1", "field": "stage", "limit": 1}))
    assert stage.content.startswith("1 changes")
    (past,) = told(talk, ("list_changes", {"until": "2020-01-01T00:00:00"}))
    assert "No change was found." == past.content
    (older,) = told(talk, ("list_changes", {"before_revision": 2}))
    assert older.content.startswith("1 changes")
    for wrong in ({"field": "alarm_code"}, {"id": "m1"}, {"entity": "secret"}):
        (refused,) = told(talk, ("list_changes", wrong))
        assert "error" == refused.status


def test_foreign_id(talk: Talk):
    """P02: an id of another workspace is not found, in the words for one that exists nowhere."""
    talk.client.insert(Move, {"id": "m9", "stage": "theirs"}, workspace_id="w2")
    talk.build(entity_tools={"move": ["read", "update", "delete"]})
    foreign, absent, gone, read = told(
        talk,
        update(1, "m9", stage="booked"),
        update(1, "m8", stage="booked"),
        ("delete_move", {"id": "m9", "expected_version": 1}),
        ("read_move", {"ids": ["m9"]}),
    )
    assert foreign.content.replace("m9", "m8") == absent.content
    assert "error" == foreign.status == gone.status
    assert "theirs" not in read.content
    assert ("theirs", None, 1) == talk.row("m9")


def test_foreign_parent(place: Place, client: Client):
    """P02: a row is not created under a parent of another workspace."""
    talk = begin(place, client, MOVE, ITEM, entity_tools={"item": ["read", "create"]})
    talk.client.insert(Move, {"id": "m9"}, workspace_id="w2")
    values = {"title": "keys", "done": False}
    foreign, absent, own = told(
        talk,
        ("create_item", {"values": {"move_id": "m9", **values}}),
        ("create_item", {"values": {"move_id": "m8", **values}}),
        ("create_item", {"values": {"move_id": "m1", **values}}),
    )
    assert foreign.content == absent.content
    assert ["error", "error", "success"] == [foreign.status, absent.status, own.status]
    assert [("m1",)] == talk.client.rows("SELECT move_id FROM item")


def test_rights(talk: Talk):
    """Rights are asked in the tool, by code, from the runtime context."""
    asked: list[tuple[Any, ...]] = []

    def rights(context: Any, entity: str, operation: str) -> bool:
        asked.append((context["user_id"], entity, operation))
        return operation == "read"

    talk.build(rights=rights)
    refused, read = told(talk, update(1, stage="booked"), ("read_move", {}))
    assert ("error", "success") == (refused.status, read.status)
    assert "it is not allowed" in refused.content
    assert ("new", None, 1) == talk.row()
    assert {("person-9", "move", "update"), ("person-9", "move", "read")} == set(asked)


def test_rights_to_read(talk: Talk):
    """Who may not read a row is not told its values by a conflict either, nor its history."""
    talk.change(stage="secret-stage")
    talk.build(rights=lambda _context, _entity, operation: operation == "update")
    stale, read, history = told(talk, update(1, stage="booked"), ("read_move", {}), ("list_changes", {}))
    assert ["error", "error", "success"] == [stale.status, read.status, history.status]
    assert "secret-stage" not in stale.content + read.content + history.content


def test_async_rights(place: Place, talk: Talk):
    """Rights may be looked up on the loop; where the agent is called sync that is refused by name."""

    async def rights(_context: Any, _entity: str, operation: str) -> bool:
        return operation == "update"

    talk.build(rights=rights)
    if place.runner is None:
        with pytest.raises(InvalidInput, match="rights: is async"):
            told(talk, update(1, stage="booked"))
        return
    (result,) = told(talk, update(1, stage="booked"))
    assert "success" == result.status


TICKET = Entity(ticket, expose=["state"], visible=lambda columns, viewer: columns.owner == viewer)


def test_p01_rights_are_lost(place: Place, client: Client):
    """P01: a row the user may no longer see is in no block, no read and no conflict, and cannot be written."""
    client.put(
        ticket,
        {"id": 1, "workspace_id": "w1", "owner": "person-9", "state": "open", "priority": 1, "version": 1},
    )
    talk = Talk(place, client.of(TICKET))
    talk.build(viewer=lambda context: context["user_id"])
    talk.ask("Hello")
    assert 'state: "open"' in talk.model.block()
    talk.client.update("ticket", 1, {"owner": "person-8", "state": "private"})
    talk.ask("And now?")
    assert "private" not in talk.model.block()
    assert "There are no tickets." in talk.model.block()
    write, read, history = told(
        talk,
        ("update_ticket", {"id": "1", "expected_version": 1, "changes": {"state": "mine"}}),
        ("read_ticket", {"ids": ["1"]}),
        ("list_changes", {}),
    )
    assert ("error", True) == (write.status, "there is no ticket 1" in write.content)
    assert "private" not in write.content + read.content + history.content
    assert [("private",)] == client.rows("SELECT state FROM ticket")


def test_p05_secret_argument(talk: Talk, caplog: pytest.LogCaptureFixture):
    """P05 I9: what a tool was given is neither in its error nor in the log."""
    caplog.set_level(logging.INFO)
    tools = workspace_tools(talk.client.log, fields={"move": ["door_code", "stage"]})
    talk.build(tools, entity_tools=False)
    secret = "code-" + "9" * 50
    for wrong in (
        update(1, door_code=secret),
        ("update_move", {"id": "m1", "expected_version": secret, "changes": {"door_code": secret}}),
        update(7, door_code=secret[:30]),
        update(1, "m8", door_code=secret[:30]),
    ):
        (result,) = told(talk, wrong)
        assert "error" == result.status
        assert "code-9" not in result.content
    (done,) = told(talk, update(1, door_code="code-9"))
    assert ("success", False) == (done.status, "code-9" in done.content)
    assert [("code-9",)] == talk.client.rows("SELECT door_code FROM move")
    assert "code-9" not in caplog.text + talk.client.dump() + talk.model.block()


def test_hidden_fields_are_no_arguments(talk: Talk):
    """Hidden, secret and unexposed fields, key, version and workspace cannot be written unless they are named."""
    for name in ("door_code", "alarm_code", "memo", "id", "version", "workspace_id"):
        arguments = {"id": "m1", "expected_version": 1, "changes": {"stage": "x", name: "y"}}
        (result,) = told(talk, ("update_move", arguments))
        assert "error" == result.status
    assert ("new", None, 1) == talk.row()


def test_every_type(place: Place, client: Client):
    """A column of each type is written from what a model can pass."""
    talk = begin(place, client, MOVE, SAMPLE, entity_tools={"sample": ["read", "update", "create"]})
    values = {
        "day": "2026-09-30",
        "moment": "2026-09-30T10:00:00+02:00",
        "local_moment": "2026-09-30T10:00:00",
        "price": 10.5,
        "weight": 1.5,
        "amount": 3,
        "paid": True,
        "size": "SMALL",
        "tags": ["a"],
        "parcel": "00000000-0000-0000-0000-000000000001",
        "text": "t",
    }
    (created,) = told(talk, ("create_sample", {"values": values}))
    assert "success" == created.status
    key = created.artifact["entity_id"]
    (read,) = told(talk, ("read_sample", {"ids": [key]}))
    for expected in ('"price": "10.50"', '"moment": "2026-09-30T08:00:00+00:00"', '"size": "SMALL"', '"paid": true'):
        assert expected in read.content
    (changed,) = told(
        talk, ("update_sample", {"id": key, "expected_version": 1, "changes": {"price": "11", "day": None}})
    )
    assert "success" == changed.status
    assert "photo" not in str(talk.model.tools[1].args)


@pytest.mark.parametrize(
    ("entity", "key", "values"),
    [
        (LABEL, "1", {"text": "t"}),
        (SLOT, '["2026-09-30",9]', {"day": "2026-09-30", "hour": 9, "taken_by": None}),
        (BOOKING, None, {"amount": "10.00", "guests": 2}),
    ],
    ids=["numbered by the database", "composite key", "made key"],
)
def test_keys(place: Place, client: Client, entity: Entity, key: str | None, values: dict[str, Any]):
    """A new row gets its key from the database, the call, or abreast; the row is found under it."""
    allowed = {entity.name: ["read", "create", "delete"]}
    talk = begin(place, client, MOVE, entity, entity_tools=allowed)
    (created,) = told(talk, (f"create_{entity.name}", {"values": values}))
    assert "success" == created.status
    made = created.artifact["entity_id"]
    assert key is None or key == made or key.isdecimal()
    (deleted,) = told(talk, (f"delete_{entity.name}", {"id": made, "expected_version": created.artifact["version"]}))
    assert "success" == deleted.status


def test_unreadable_key(place: Place, client: Client):
    """An id that is none of the entity is refused, not raised."""
    talk = begin(place, client, MOVE, SLOT, entity_tools={"slot": ["read", "delete"]})
    results = told(
        talk, ("delete_slot", {"id": "x", "expected_version": 1}), ("read_slot", {"ids": ["x"]}),
        ("list_changes", {"entity": "slot", "id": "x"}),
    )  # fmt: skip
    assert ["error", "error", "error"] == [result.status for result in results]


def test_what_cannot_be_made(client: Client):
    """Wrong tools are refused when they are made."""
    log = client.of(MOVE, ITEM).log
    with pytest.raises(UnknownEntity):
        workspace_tools(log, allow={"door": ["read"]})
    with pytest.raises(InvalidInput, match="unknown operation"):
        workspace_tools(log, allow={"move": ["reed"]})  # type: ignore[list-item]
    with pytest.raises(InvalidEntity, match="cannot write 'version'"):
        workspace_tools(log, fields={"move": ["version"]})
    hidden_title = client.of(MOVE, Entity(item, expose=["done"], workspace="move_id.workspace_id")).log
    with pytest.raises(InvalidEntity, match="'title' needs a value"):
        workspace_tools(hidden_title, allow={"item": ["create"]})


def test_names(client: Client):
    """Only what is allowed is there, the mapped class names an entity as well, and schemas are typed."""
    log = client.of(MOVE, ITEM).log
    assert ["read_move", "update_move", "read_item", "update_item", "list_changes"] == [
        made.name for made in workspace_tools(log)
    ]
    made = workspace_tools(log, allow={Move: ["delete"]})
    assert ["delete_move"] == [one.name for one in made]
    (_, updating, *_) = workspace_tools(log)
    schema = updating.tool_call_schema.model_json_schema()
    assert {"id", "expected_version", "changes"} == set(schema["properties"]) == set(schema["required"])
    (changes,) = schema["$defs"].values()
    assert {"move_in_date", "stage", "note"} == set(changes["properties"])
    assert "required" not in changes
