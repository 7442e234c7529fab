"""A bound graph in several processes over one database and one store of checkpoints."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

from abreast import Database, WorkspaceLog
from abreast.errors import ThreadBusy
from abreast.langgraph import bind
from tests.concurrency.children import barrier, results
from tests.concurrency.product import W, add_items, log_of

CONFIG: Any = {"configurable": {"thread_id": "t1", "workspace_id": W}}


def asks(url: str, store: str, question: str, on_busy: Any, meet: Any) -> str:
    """Ask in a process of its own, at the same time as others; one that was refused asks again and waits."""
    connection = sqlite3.connect(store, check_same_thread=False, timeout=30)
    builder = StateGraph(MessagesState).add_node(
        "model", lambda state: {"messages": [("ai", state["messages"][-1].content)]}
    )
    plain = builder.add_edge(START, "model").compile(checkpointer=SqliteSaver(connection))
    log = log_of(Database.open(url))
    graph, patient = (bind(plain, log, on_busy=how, busy_timeout=60) for how in (on_busy, "queue"))
    value = {"messages": [("user", question)]}
    meet.wait()
    try:
        graph.invoke(value, CONFIG)
    except ThreadBusy:
        meet.wait()
        patient.invoke(value, CONFIG)
        return "answered when asked again"
    meet.wait()
    return "answered"


@pytest.mark.parametrize("on_busy", ["queue", "reject"])
def test_c02_no_turn_is_lost(database: Database, product_url: str, tmp_path: Path, on_busy: str):
    """C02 I8 I10: messages sent at once to one thread are each answered once, in one line or sent again."""
    log: WorkspaceLog = log_of(database)
    add_items(log, "i1")
    store = str(tmp_path / "checkpoints.sqlite")
    assert ["answered"] == results((asks, product_url, store, "m0", "queue", barrier(1)))
    meet = barrier(3)
    ended = results(*[(asks, product_url, store, question, on_busy, meet) for question in ("mA", "mB", "mC")])
    with sqlite3.connect(store) as connection:
        saver = SqliteSaver(connection)
        found = saver.get_tuple(CONFIG)
        assert found is not None
        told = [message.content for message in found.checkpoint["channel_values"]["messages"]]
        parents = [
            one.parent_config["configurable"]["checkpoint_id"] for one in saver.list(CONFIG) if one.parent_config
        ]
    connection.close()
    assert "answered" in ended
    assert on_busy == "reject" or {"answered"} == set(ended)
    assert ["m0", "m0"] == told[:2]
    assert told[2::2] == told[3::2]
    assert ["mA", "mB", "mC"] == sorted(told[2::2])
    assert len(parents) == len(set(parents))
