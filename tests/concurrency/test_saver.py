"""SqlSaver in several processes and threads: killed, stopped, at once."""

import threading
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from sqlalchemy import create_engine, event, text

from abreast import Database
from abreast.errors import CheckpointConflict, ThreadBusy
from abreast.langgraph import bind
from abreast.langgraph.saver import SqlSaver
from tests.concurrency import children
from tests.concurrency.backends import ON_POSTGRESQL
from tests.concurrency.children import barrier, results
from tests.concurrency.fuses import IN_FLIGHT, Fuse
from tests.concurrency.product import W, add_items, log_of
from tests.concurrency.watching import until_somebody_waits

CONFIG: Any = {"configurable": {"thread_id": "t1", "workspace_id": W}}
STEP: Any = {"source": "loop", "step": 1, "parents": {}}


def graph_of(saver, node=lambda state: {"messages": [AIMessage("to " + state["messages"][-1].content)]}):
    """Build a graph that answers."""
    return StateGraph(MessagesState).add_node("say", node).add_edge(START, "say").compile(checkpointer=saver)


def told(database):
    """Give what people have said."""
    values = graph_of(SqlSaver(database)).get_state(CONFIG).values
    return [message.content for message in values.get("messages", []) if message.type == "human"]


def asks(url, question, on_busy, meet):
    """Ask in a process of its own, with and without a lease; goes on until it is answered or refused."""
    with Database.open(url) as database:
        graph = graph_of(SqlSaver(database))
        if on_busy is not None:
            graph = bind(graph, log_of(database), on_busy=on_busy, busy_timeout=60)
        meet.wait()
        refused = 0
        while True:
            try:
                if question not in told(database):
                    graph.invoke({"messages": [("user", question)]}, CONFIG)
            except (ThreadBusy, CheckpointConflict):
                refused += 1
            else:
                return refused


@pytest.mark.parametrize("on_busy", ["queue", "reject", None])
def test_c02_no_turn_is_lost(database, product_url, on_busy):
    """C02 I8 I10: processes that ask one thread at once are all heard, whether leases or the head decide."""
    add_items(log_of(database), "i1")
    questions = [f"m{number}" for number in range(4)]
    meet = barrier(len(questions))
    results(*[(asks, product_url, question, on_busy, meet) for question in questions])
    heard = told(database)
    assert sorted(questions) == sorted(set(heard))
    if on_busy == "queue":
        assert len(questions) == len(heard)


def puts_under_fuse(url, at, parent, number):
    """Publish in a process that dies at its `at`-th step."""
    with Database.open(url) as database:
        saver = SqlSaver(database)
        database.check()
        found = saver.get_tuple(CONFIG)
        Fuse(database._engines.sync(), at)
        config = found.config if found else CONFIG
        saver.put(config, new_checkpoint(number), STEP, {"todo": number, "note": number})
        return parent


def new_checkpoint(number):
    """Make the `number`-th checkpoint."""
    return {
        "v": 4,
        "id": f"c{number:04}",
        "ts": "2026-01-01T00:00:00+00:00",
        "channel_values": {"todo": [f"item {each} " * 9 for each in range(number)], "note": f"note {number} " * 9},
        "channel_versions": {"todo": number, "note": number},
        "versions_seen": {},
        "updated_channels": None,
    }


@ON_POSTGRESQL
def test_c04_killed_while_the_commit_is_on_its_way(database, product_url):
    """C04 I10: repeated after a COMMIT that nobody heard of, a put is there once."""
    SqlSaver(database).put(CONFIG, new_checkpoint(1), STEP, {"todo": 1, "note": 1})
    for number in range(2, 5):
        assert children.start(puts_under_fuse, product_url, IN_FLIGHT, 1, number).died()
        saver = SqlSaver(database)
        parent = {"configurable": {**CONFIG["configurable"], "checkpoint_id": f"c{number - 1:04}"}}
        saver.put(parent, new_checkpoint(number), STEP, {"todo": number, "note": number})
        found = saver.get_tuple(CONFIG)
        assert new_checkpoint(number)["channel_values"] == found.checkpoint["channel_values"]
        assert number == len(list(saver.list(CONFIG)))


def test_c29_no_lock_is_held_across_the_pool(database, product_url):
    """C29: while one thread's put waits for its database, calls of others on the same saver go on."""
    saver = SqlSaver(database)
    waits, goes_on = threading.Event(), threading.Event()

    def hold(_connection, _cursor, statement, parameters, *_):
        if "INSERT INTO abreast_checkpoint " in statement and "slow" in str(parameters):
            waits.set()
            assert goes_on.wait(30)

    for thread_id in ("slow", "quick"):
        saver.put({"configurable": {"thread_id": thread_id}}, new_checkpoint(1), STEP, {"todo": 1, "note": 1})
    engine = database._engines.sync()
    event.listen(engine, "before_cursor_execute", hold)
    slow = threading.Thread(target=puts_one, args=(saver, "slow"))
    slow.start()
    try:
        assert waits.wait(30)
        assert saver.get_tuple({"configurable": {"thread_id": "quick"}}).checkpoint["id"] == "c0001"
        if engine.dialect.name != "sqlite":
            puts_one(saver, "quick")
    finally:
        goes_on.set()
        slow.join()
        event.remove(engine, "before_cursor_execute", hold)
    assert saver.get_tuple({"configurable": {"thread_id": "slow"}}).checkpoint["id"] == "c0002"


def puts_one(saver, thread_id):
    """Publish one more checkpoint."""
    config = saver.get_tuple({"configurable": {"thread_id": thread_id}}).config
    saver.put(config, new_checkpoint(2), STEP, {"todo": 2, "note": 2})


@ON_POSTGRESQL
def test_c09_a_pending_write_and_a_deletion_wait_for_each_other(database, product_url):
    """C09: whichever commits first, no write is left in a deleted thread."""
    saver = SqlSaver(database)
    saver.put(CONFIG, new_checkpoint(1), STEP, {"todo": 1, "note": 1})
    found = saver.get_tuple(CONFIG)
    other = create_engine(product_url)
    with other.begin() as connection:
        connection.execute(text("UPDATE abreast_checkpoint_head SET deleted = 1, epoch = epoch + 1"))
        errors = []

        def late():
            try:
                saver.put_writes(found.config, [("note", "late")], "task")
            except Exception as error:
                errors.append(type(error).__name__)

        thread = threading.Thread(target=late)
        thread.start()
        until_somebody_waits(other)
        connection.execute(text("DELETE FROM abreast_checkpoint"))
    thread.join()
    assert ["ThreadDeleted"] == errors
    with other.connect() as connection:
        assert 0 == connection.scalar(text("SELECT count(*) FROM abreast_checkpoint_write"))
    other.dispose()
