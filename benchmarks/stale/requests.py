"""Build the requests that a model is sent: by agents, on a log, with abreast's middleware; nothing is hand-written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field as Attribute

from abreast import Actor, Database, WorkspaceLog
from abreast.langchain import WorkspaceContext, WorkspaceSyncMiddleware, bind
from abreast.prompt import PLACEMENTS
from benchmarks.stale.product import ENTITIES, IDS, metadata
from benchmarks.stale.wordings import WORDINGS, language_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from abreast.prompt import Placement
    from benchmarks.stale.questions import Change, Question

Messages = list[dict[str, Any]]
INSTRUCTIONS: Final = "You help people move. Answer in one short sentence."
PERSON: Final = Actor.user("u1")


class Treatment(NamedTuple):
    """How a request holds the block; without a placement it holds none."""

    placement: Placement | None
    wording: Literal["sentences", "terse", ""]

    def __str__(self) -> str:
        return f"{self.placement}, {self.wording}" if self.placement else "no block"


NO_BLOCK: Final = Treatment(None, "")
TREATMENTS: Final = (
    NO_BLOCK,
    *(Treatment(placement, wording) for wording in WORDINGS for placement in PLACEMENTS),
)
ALIKE: Final = (
    NO_BLOCK,
    *(Treatment("after", wording) for wording in WORDINGS),
    *(Treatment(placement, wording) for wording in WORDINGS for placement in ("before", "merge")),
    *(Treatment("system", wording) for wording in WORDINGS),
)
"""The same, those beside each other whose requests begin alike."""


class Recorder(BaseChatModel):
    """A model that says what it is told to, and keeps its requests."""

    answers: list[str] = Attribute(default_factory=list)
    requests: list[list[BaseMessage]] = Attribute(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "recorder"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.requests.append(list(messages))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.answers.pop(0)))])


def build(questions: Sequence[Question]) -> Iterator[tuple[Question, Treatment, Messages]]:
    """Hold each conversation under each treatment, and give the request that asks after the change."""
    with Database.temporary() as database:
        database.upgrade()
        database.run(_create_tables)
        log = WorkspaceLog(database, entities=ENTITIES)
        for question in questions:
            for treatment in TREATMENTS:
                yield question, treatment, _converse(log, question, treatment)
                database.run(_empty_tables)


def _create_tables(connection: Connection) -> None:
    metadata.create_all(connection)


def _empty_tables(connection: Connection) -> None:
    for table in metadata.sorted_tables:
        connection.execute(table.delete())


def _converse(log: WorkspaceLog, question: Question, treatment: Treatment) -> Messages:
    """Ask, answer from the rows, change them, and ask again."""
    workspace_id = f"w{question.number} {treatment}"
    with log.write(workspace_id, actor=PERSON) as write:
        for entity, row in question.rows.items():
            write.insert(entity, {"id": IDS[entity], **row})
    model = Recorder()
    agent = _agent(log, model, treatment)
    _ask(agent, workspace_id, model, question.wordings[0], question.stale_answer)
    if question.talk is not None:
        _ask(agent, workspace_id, model, *question.talk)
    for change in (question.besides, question.asked):
        _change(log, workspace_id, change)
    _ask(agent, workspace_id, model, question.wordings[1], "")
    return [dict(message) for message in convert_to_openai_messages(model.requests[-1])]


def _agent(log: WorkspaceLog, model: Recorder, treatment: Treatment) -> Any:
    if treatment.placement is None:
        return create_agent(model, system_prompt=INSTRUCTIONS, checkpointer=InMemorySaver())
    sync = WorkspaceSyncMiddleware(log, placement=treatment.placement, language=language_of(treatment.wording))
    agent = create_agent(
        model,
        system_prompt=INSTRUCTIONS,
        middleware=[sync],
        context_schema=WorkspaceContext,
        checkpointer=InMemorySaver(),
    )
    return bind(agent, log)


def _ask(agent: Any, workspace_id: str, model: Recorder, text: str, answer: str) -> None:
    model.answers.append(answer)
    config = {"configurable": {"thread_id": workspace_id}}
    agent.invoke({"messages": [("user", text)]}, config, context={"workspace_id": workspace_id})


def _change(log: WorkspaceLog, workspace_id: str, change: Change) -> None:
    with log.write(workspace_id, actor=PERSON) as write:
        write.update(
            change.field.entity, IDS[change.field.entity], {change.field.name: change.after}, expected_version="any"
        )
