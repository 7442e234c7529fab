"""What a bound agent's run costs the database: its transactions, counted."""

from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents.middleware import ModelRetryMiddleware
from langchain.tools import tool
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from benchmarks.counting import Transactions, counted
from tests.contract.agents import Talk, begin, calls, update
from tests.contract.client import Client, Place
from tests.contract.history import edit, store
from tests.contract.product import AGENT, Move

LEASE, READ, END = "write", "read", "write"


@pytest.fixture
def talk(place: Place, client: Client) -> Talk:
    """Give a conversation that has begun, and a change it has not been told."""
    talk = begin(place, client)
    # What a saver costs comes on top, and is not what a run adds.
    talk.saver = InMemorySaver()
    talk.build()
    talk.ask("Hello")
    talk.change(stage="booked")
    return talk


@pytest.fixture
def transactions(talk: Talk) -> Iterator[Transactions]:
    """Count from here on."""
    with counted(talk.client.database) as found:
        yield found


@tool
def look() -> str:
    """Look at the clock."""
    return "noon"


def test_run_takes_three_transactions(talk: Talk, transactions: Transactions):
    """I3 I5: the lease, one read in front of the model, and one end that confirms and gives the lease back."""
    before: list[str] = []

    def answer(_messages: Any) -> AIMessage:
        before.extend(transactions.kinds)
        return AIMessage("Booked.")

    talk.ask("And now?", answer)
    assert [LEASE, READ] == before
    assert [LEASE, READ, END] == transactions.kinds
    lease, read, end = transactions
    assert lease.touches("abreast_thread_lease")
    assert read.touches("abreast_workspace_event")
    assert end.touches("abreast_thread_cursor")
    assert end.touches("abreast_thread_lease")
    assert all(transaction.committed for transaction in transactions)
    assert 2 == talk.cursor()


def test_first_run_takes_two_more(talk: Talk, transactions: Transactions):
    """I3: the first run of a thread numbers and sets its cursor to HEAD before its input is stored."""
    talk.ask("Hello", config={"configurable": {"thread_id": "t2"}})
    assert [LEASE, "write", "write", READ, END] == transactions.kinds
    assert not transactions[1].touches("abreast_thread_cursor")
    assert transactions[2].touches("abreast_thread_cursor")


def test_waiting_events_take_two_more(talk: Talk, client: Client, transactions: Transactions):
    """I2: the read that finds events without a number gives way to their numbering, and is done again."""
    store(client, [edit(1, "m1", 3)])
    transactions.clear()
    talk.ask("And now?")
    assert [LEASE, READ, "write", READ, END] == transactions.kinds


def test_failed_run_takes_as_many(talk: Talk, transactions: Transactions):
    """I4: a run that fails gives its lease back in the same one transaction, and confirms nothing."""
    with pytest.raises(ConnectionError):
        talk.ask("And now?", ConnectionError("the model"))
    assert [LEASE, READ, END] == transactions.kinds
    assert not transactions[-1].touches("abreast_thread_cursor")
    assert 1 == talk.cursor()


def test_repeated_call_takes_none(talk: Talk, transactions: Transactions):
    """I14: a model that is asked again within a run is given the block that was read for it."""
    talk.build(middleware=[ModelRetryMiddleware(max_retries=1, initial_delay=0)])
    answer = talk.ask("And now?", ConnectionError("the model"), AIMessage("Booked."))
    assert "Booked." == answer.content
    assert talk.model.block(-2) == talk.model.block(-1)
    assert [LEASE, READ, END] == transactions.kinds


def test_call_after_a_tool_looks_for_own_writes(talk: Talk, transactions: Transactions):
    """S02: after a tool that may have written, the log is looked at in one read; rows are not read again."""
    talk.build([look])
    talk.ask("And now?", calls(("look", {})), calls(("look", {}), first="call_1"), AIMessage("Noon."))
    assert [LEASE, READ, "read", "read", END] == transactions.kinds
    assert not any(transaction.touches("move") for transaction in transactions[2:])


def test_own_write_is_read_again(talk: Talk, transactions: Transactions):
    """S02 I5: after an own write rows, HEAD and batch are read again as a whole, once."""
    talk.ask("Pack", calls(update(2, stage="packed")), AIMessage("Packed."))
    writes = [transaction for transaction in transactions if transaction.touches("UPDATE move")]
    assert 1 == len(writes)
    assert [LEASE, READ, "write", "read", READ, END] == transactions.kinds
    assert "packed" in talk.model.block()


@pytest.mark.parametrize(
    ("thread_id", "looked", "told"),
    [("t1", ["read", READ, "write", READ], "packed"), ("t2", ["read"], "booked")],
)
def test_write_that_waits_for_its_number(
    talk: Talk, transactions: Transactions, thread_id: str, looked: list[str], told: str
):
    """S02 I5: an own write counts before it has a number; what others write meanwhile changes no block of the run."""

    @tool
    def pack() -> str:
        """Pack."""
        with talk.client.log.write("w1", actor=AGENT, source_thread_id=thread_id, number="later") as write:
            write.update(Move, "m1", {"stage": "packed"}, expected_version=2)
        return "done"

    talk.build([pack])
    talk.ask("Pack", calls(("pack", {})), AIMessage("Packed."))
    assert [LEASE, READ, "write", *looked, END] == transactions.kinds
    assert f'stage: "{told}"' in talk.model.block()
