"""I9: no value of the runtime context and no column that is not exposed leaves an agent, however it is watched."""

import json
from typing import Any
from unittest.mock import MagicMock

import pytest
from langchain.tools import tool
from langchain_core.messages import AIMessage
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt
from langsmith import Client as LangSmith
from langsmith.run_helpers import tracing_context

from abreast.langchain import create_synced_agent
from tests.contract.agents import CONFIG, CONTEXT, Talk, begin, calls, update
from tests.contract.client import Client, Place
from tests.contract.payloads import Claude, OpenAI, Strict

pytestmark = [pytest.mark.filterwarnings("ignore:The v3"), pytest.mark.filterwarnings("ignore:astream_events")]

SECRETS = {
    "context": ("person-9", "right-of-way", "token-123"),
    "columns": ("door-4711", "door-4712", "alarm-0815", "memo-2342"),
}
CANARIES = tuple(secret for secrets in SECRETS.values() for secret in secrets)
WATCHED: Any = {**CONTEXT, "rights": "right-of-way", "token": "token-123"}
BLOCK = "workspace_state"
MODES = ["messages", "values", "updates", "tasks", "checkpoints", "debug", "custom"]
STREAMS = [*MODES, "events v1", "events v2", "events v3"]


@tool
def approve() -> str:
    """Ask a person."""
    return str(interrupt("may I?"))


@pytest.fixture
def talk(place: Place, client: Client) -> Talk:
    """Give a workspace with a move whose unexposed columns are filled, and have changed."""
    talk = begin(place, client)
    talk.change(note="a note", door_code="door-4712")
    talk.client.rows("UPDATE move SET memo = 'memo-2342'")
    talk.build([approve])
    return talk


def script(talk: Talk) -> None:
    """Let the model read, look changes up, write, conflict, name a row that is not there, and ask a person."""
    version = talk.row()[2]
    talk.model.answers[:] = [
        calls(("read_move", {}), ("list_changes", {}), update(version, stage="booked"), first="a"),
        calls(update(version, stage="packed"), update(1, "m9", stage="x"), ("approve", {}), first="b"),
        AIMessage("done"),
    ]


def found(**places: str) -> list[tuple[str, str]]:
    """Say which canaries stand where."""
    assert all(places.values())
    return [(place, secret) for place, text in places.items() for secret in CANARIES if secret in text]


def watched(place: Place, talk: Talk, how: str, value: Any) -> str:
    """Run the agent once and give all that a client could see."""
    options: dict[str, Any] = {"context": WATCHED, "subgraphs": True, "stream_mode": [how]}

    async def astreamed() -> list[Any]:
        if how == "events v3":
            run = await talk.agent.astream_events(value, CONFIG, context=WATCHED, version="v3")
            return [part async for part in run]
        if how.startswith("events"):
            parts = talk.agent.astream_events(value, CONFIG, context=WATCHED, version=how.removeprefix("events "))
        else:
            parts = talk.agent.astream(value, CONFIG, **options)
        return [part async for part in parts]

    if place.runner is not None:
        return repr(place.runner.run(astreamed()))
    if how == "events v3":
        return repr(list(talk.agent.stream_events(value, CONFIG, context=WATCHED, version="v3")))
    return repr(list(talk.agent.stream(value, CONFIG, **options)))


def forms(mode: str) -> list[str]:
    """Leave out what there is on an event loop alone."""
    return [how for how in STREAMS if mode == "async" or how not in ("events v1", "events v2")]


@pytest.mark.parametrize(
    ("mode", "how"), [(mode, how) for mode in ("sync", "async") for how in forms(mode)], indirect=["mode"]
)
def test_p07_streams(place: Place, talk: Talk, how: str):
    """P07 I9: in every mode a secret is in no part, of a run that is interrupted or of one that is resumed."""
    script(talk)
    first = watched(place, talk, how, {"messages": [("user", "Book")]})
    assert talk.state().interrupts
    second = watched(place, talk, how, Command(resume="yes"))
    assert "done" == talk.state().values["messages"][-1].content
    asked = repr(talk.model.requests)
    seen = first + second
    if not how.startswith("events"):
        assert BLOCK not in seen
    assert [] == found(stream=seen + ".", checkpoint=talk.stored(), request=asked)
    assert BLOCK not in talk.stored()
    assert "booked" in talk.stored()
    assert "a note" in asked


def test_state_and_history(talk: Talk):
    """P07 I9: what the graph gives of its state, past and present, holds cursors and nothing else of abreast's."""
    script(talk)
    result = talk.run({"messages": [("user", "Book")]}, context=WATCHED)
    result = talk.run(Command(resume="yes"), context=WATCHED)
    state, history = talk.state(), talk.history()
    assert [] == found(result=repr(result), state=repr(state), history=repr(history))
    assert BLOCK not in repr((result, state, history))
    assert not [name for name in result if name.startswith("_")]
    private = {name for one in history for name in one.values if name.startswith("_")}
    assert {"_abreast_delivered", "_abreast_cursor"} == private


@pytest.mark.parametrize("kind", [Claude, OpenAI, Strict])
def test_payloads(talk: Talk, kind: Any):
    """I9: nothing that is serialized for a provider holds one: messages, instructions, tools, settings, metadata."""
    talk.model = kind(model="claude-sonnet-4-5", api_key="none") if kind is Claude else kind()
    talk.build([approve], system_prompt="You help.")
    script(talk)
    talk.run({"messages": [("user", "Book")]}, context=WATCHED)
    talk.run(Command(resume="yes"), context=WATCHED)
    payloads = talk.model.payloads if kind is Claude else [talk.model.payload(call) for call in range(3)]
    text = json.dumps(payloads)
    assert 3 == len(payloads)
    assert BLOCK in text
    assert "update_move" in text
    assert [] == found(payload=text)
    assert not [id_ for id_ in ('"w1"', '"t1"', "abreast_") if id_ in text]


@pytest.mark.parametrize("refused", [True, False])
def test_errors(talk: Talk, caplog: pytest.LogCaptureFixture, refused: bool):
    """I9: nor do errors and log lines, of refused rights or of a model that is away."""
    caplog.set_level("DEBUG", "abreast")
    talk.build(rights=lambda _context, _entity, _operation: not refused)
    talk.model.answers[:] = [calls(update(1, stage="booked"), ("read_move", {})), ConnectionError("away")]
    with pytest.raises(ConnectionError) as raised:
        talk.run({"messages": [("user", "Book")]}, context=WATCHED)
    said = "".join(getattr(raised.value, "__notes__", []))
    assert [] == found(error=repr(raised.value) + said, log=caplog.text + ".", checkpoint=talk.stored())


def test_store_stays_empty(talk: Talk):
    """Nothing of abreast's is in LangGraph's Store, which belongs to the application."""
    store = InMemoryStore()
    talk.build([approve], store=store)
    store.put(("own",), "key", {"value": 1})
    script(talk)
    talk.run({"messages": [("user", "Book")]}, context=WATCHED)
    talk.run(Command(resume="yes"), context=WATCHED)
    assert [("own",)] == store.list_namespaces()
    assert [("key", {"value": 1})] == [(one.key, one.value) for one in store.search(())]


def test_traces(place: Place, talk: Talk):
    """I9: a trace of the run holds the request, as any trace does, and no secret."""
    session = MagicMock()
    client = LangSmith(session=session, api_key="none", auto_batch_tracing=False, info={})
    talk.agent = create_synced_agent(talk.model, [approve], log=talk.client.log, checkpointer=talk.saver)
    script(talk)
    values = ({"messages": [("user", "Book")]}, Command(resume="yes"))

    async def arun() -> None:
        with tracing_context(enabled=True, client=client):
            for value in values:
                await talk.agent.ainvoke(value, CONFIG, context=WATCHED)

    if place.runner is not None:
        place.runner.run(arun())
    else:
        with tracing_context(enabled=True, client=client):
            for value in values:
                talk.agent.invoke(value, CONFIG, context=WATCHED)
    sent = repr(session.request.call_args_list)
    assert BLOCK in sent
    assert [] == found(trace=sent)
