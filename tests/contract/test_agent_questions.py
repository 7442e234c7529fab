"""A message while a question is open: it is refused, or closes the question by a name that the application chose."""

import logging
import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import tool
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from abreast import Database, WorkspaceLog
from abreast.errors import InvalidInput, NothingToAnswer, QuestionOpen
from abreast.langchain import bind, create_synced_agent
from abreast.langgraph import SqlSaver
from tests.contract.agents import Script, Talk, begin, calls, update
from tests.contract.client import Client, Place

APPROVE: Any = Command(resume={"decisions": [{"type": "approve"}]})
ASK = {"messages": [("user", "Something else: how many boxes?")]}


@pytest.fixture
def talk(place: Place, client: Client) -> Talk:
    """Give a conversation that waits for an approval."""
    talk = begin(place, client)
    wait_for_approval(talk)
    return talk


def wait_for_approval(talk: Talk, **options: Any) -> None:
    """Let the agent ask whether it may change the date."""
    talk.build(middleware=[HumanInTheLoopMiddleware({"update_move": True})], **options)
    talk.model.answers.append(calls(update(1, stage="booked")))
    talk.run({"messages": [("user", "Book it.")]})


def kinds(talk: Talk) -> list[str]:
    """Say who spoke."""
    return [message.type for message in talk.state().values["messages"]]


def test_s19_a_message_is_refused(talk: Talk):
    """S19 I3: nothing is stored, no model is asked, the question stays, and its answer counts as before."""
    before, asked, cursor = talk.stored(), len(talk.model.requests), talk.cursor()
    for value in (ASK, Command(goto="model"), Command(update=ASK), None):
        with pytest.raises(QuestionOpen, match='on_interrupted="cancel"') as refused:
            talk.run(value)
        assert ("t1", 1) == (refused.value.thread_id, len(refused.value.interrupts))
    assert (before, asked, cursor) == (talk.stored(), len(talk.model.requests), talk.cursor())
    talk.run(APPROVE)
    assert ["success"] == [result.status for result in talk.results()]


def test_refusals_are_no_failures(talk: Talk):
    """S22: a message that was refused is not held against the changes that it would have been told."""
    for _ in range(3):
        with pytest.raises(QuestionOpen):
            talk.run(ASK)
    outcomes = [outcome for (outcome,) in talk.client.rows("SELECT outcome FROM abreast_run ORDER BY fence")]
    assert ["succeeded", *["interrupted"] * 4] == outcomes


def test_s18_s19_a_message_closes_the_question(talk: Talk, caplog: pytest.LogCaptureFixture):
    """S18 S19: the call has a neutral result before the message, is never executed, and cannot be approved any more."""
    caplog.set_level(logging.INFO)
    talk.build(middleware=[HumanInTheLoopMiddleware({"update_move": True})], on_interrupted="cancel")
    talk.run(ASK)
    assert ["human", "ai", "human", "ai", "tool", "human", "ai"] == kinds(talk)
    (result,) = talk.results()
    assert ("error", "call_0") == (result.status, result.tool_call_id)
    assert "never executed" in result.content
    assert "Nobody refused" in result.content
    assert "open questions" in caplog.text
    assert [result.content] == [found.content for found in talk.model.requests[-1] if isinstance(found, ToolMessage)]
    with pytest.raises(NothingToAnswer, match="answered or closed before"):
        talk.run(APPROVE)
    assert ("new", None, 1) == talk.row()


def test_c14_a_command_closes_nothing(talk: Talk):
    """C14: LangGraph asks again after a Command that is no answer, so it is refused under each policy."""
    talk.build(middleware=[HumanInTheLoopMiddleware({"update_move": True})], on_interrupted="cancel")
    for value in (Command(goto="model"), Command(update=ASK)):
        with pytest.raises(QuestionOpen):
            talk.run(value)
    assert talk.state().interrupts


def test_c13_an_answer_counts_once(talk: Talk):
    """C13 I7: the tool is executed once; who answers again is told so, and nothing changes."""
    talk.run(APPROVE)
    stored, row = talk.stored(), talk.row()
    with pytest.raises(NothingToAnswer):
        talk.run(APPROVE)
    assert (stored, row) == (talk.stored(), talk.row())
    talk.ask("And now?")


def test_c14_an_answer_goes_nowhere_else(talk: Talk):
    """C14: an answer with `goto` would leave the question behind, and is refused; one with `update` is an answer."""
    with pytest.raises(QuestionOpen, match="leave it behind"):
        talk.run(Command(resume=APPROVE.resume, goto="model"))
    talk.run(Command(resume=APPROVE.resume, update={"messages": []}))
    assert ["success"] == [result.status for result in talk.results()]


def test_c15_answered_elsewhere(place: Place, client: Client):
    """C15: asked with one database, saver and agent, answered with others: it goes on, and sees what changed since."""
    talk = begin(place, client)
    talk.saver = SqlSaver(place.database)
    talk.ask("Hello")
    wait_for_approval(talk)
    talk.change(move_in_date="2026-09-30")
    other = Database.open(place.url)
    try:
        talk.saver = SqlSaver(other)
        log = WorkspaceLog(other, client.log.entities)
        talk.build(middleware=[HumanInTheLoopMiddleware({"update_move": True})], log=log)
        talk.run(APPROVE)
    finally:
        talk.wait(other.close, other.aclose)
    assert "from 2026-09-28 to 2026-09-30" in talk.model.block()


class Answers(TypedDict, total=False):
    """What was answered."""

    given: Annotated[list[str], operator.add]


@pytest.fixture
def two_questions(talk: Talk) -> Callable[..., Any]:
    """Give a function that runs a graph whose only node asks two questions."""

    def ask(_state: Answers) -> Any:
        return {"given": [interrupt("first?"), interrupt("second?")]}

    builder = StateGraph(Answers).add_node("ask", ask).add_edge(START, "ask")
    graph = bind(builder.compile(checkpointer=InMemorySaver()), talk.client.log)
    config: Any = {"configurable": {"thread_id": "two", "workspace_id": "w1"}}

    def run(value: Any) -> Any:
        return talk.wait(graph.invoke, graph.ainvoke, value, config)

    return run


def test_c12_none_answers_nothing(two_questions: Callable[..., Any]):
    """C12: the first of two questions is answered; None is refused, and the second one stays open."""
    assert "first?" == two_questions({"given": []})["__interrupt__"][0].value
    assert "second?" == two_questions(Command(resume="one"))["__interrupt__"][0].value
    with pytest.raises(QuestionOpen):
        two_questions(None)
    assert ["one", "two"] == two_questions(Command(resume="two"))["given"]


def test_results_of_finished_tools_are_kept(place: Place, client: Client):
    """S19 C33: of two calls one is done and one asks: the real result stays, in the order of the calls."""
    done: list[str] = []

    @tool
    def book_van() -> str:
        """Book a van."""
        done.append("van")
        return "van 7 is booked"

    @tool
    def ask_person() -> str:
        """Ask."""
        return str(interrupt("May I?"))

    talk = begin(place, client)
    talk.build([book_van, ask_person], on_interrupted="cancel")
    talk.model.answers.append(calls(("ask_person", {}), ("book_van", {})))
    talk.run({"messages": [("user", "Go on.")]})
    talk.run(ASK)
    first, second = talk.results()
    assert ("call_0", "error", "call_1", "van 7 is booked") == (
        first.tool_call_id,
        first.status,
        second.tool_call_id,
        second.content,
    )
    assert ["van"] == done
    assert isinstance(talk.state().values["messages"][-1], AIMessage)


def test_branches_are_not_looked_at(talk: Talk):
    """An input for a named checkpoint is a branch: the question belongs to another one."""
    earlier = next(state for state in talk.history() if not state.next)
    talk.run({"messages": [("user", "And now?")]}, earlier.config)
    assert ["human", "ai", "human", "ai"] == kinds(talk)


def test_unknown_policy(client: Client):
    """A policy that is none is named."""
    with pytest.raises(InvalidInput, match="'ask'"):
        create_synced_agent(Script(), log=client.log, on_interrupted="ask")  # type: ignore[arg-type]


def test_inputs_that_cannot_be_added_to(talk: Talk):
    """What takes no messages is refused, and the question stays open."""
    talk.build(middleware=[HumanInTheLoopMiddleware({"update_move": True})], on_interrupted="cancel")
    with pytest.raises(InvalidInput, match="pass the input as a dict"):
        talk.run([("messages", [HumanMessage("x")])])
    assert talk.state().interrupts
