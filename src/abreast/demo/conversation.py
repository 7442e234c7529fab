"""Conversations about the workspace: agents made by `create_synced_agent`, with a checkpointer."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from abreast.demo.grammar import find_block
from abreast.demo.provider import Line, ModelAway, Provider
from abreast.demo.workspace import AGENT_NAME, FIRST_PERSON
from abreast.langchain import create_synced_agent, workspace_tools
from abreast.langchain.requests import placement_for

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import ToolCall
    from langchain_core.runnables import RunnableConfig
    from langgraph.store.base import BaseStore

    from abreast.demo.workspace import Workspace
    from abreast.langchain import WorkspaceContext
    from abreast.runs import OnBusy


@dataclass(frozen=True, slots=True)
class Turn:
    """
    What came of a question.

    Attributes:
        given: The block as it was sent with the last request; None where there was none.
        called: The calls of tools that the model made.
        answer: What was answered; None where the model was away or a person has to approve first.
        based_on: The revision that the answer says it is based on.
        error: What failed, or what a tool refused.
        waits: A person has to approve before it goes on.
    """

    given: str | None
    called: tuple[ToolCall, ...] = ()
    answer: str | None = None
    based_on: int | None = None
    error: str | None = None
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Keeping:
    """
    Who answers, and where conversations are kept.

    Attributes:
        store: LangGraph's memory across threads; abreast has nothing to put there.
    """

    model: BaseChatModel
    store: BaseStore


class Conversation:
    """
    One thread about a workspace.

    Attributes:
        thread_id: Its id.
        line: What its model's requests pass through.

    Args:
        asks_first: A person approves each change before its tool runs.
        on_busy: What happens to a message while the thread is being run.
    """

    def __init__(
        self,
        name: str,
        workspace: Workspace,
        keeping: Keeping,
        *,
        asks_first: bool = False,
        on_busy: OnBusy = "reject",
    ) -> None:
        words = workspace.words
        self._workspace = workspace
        self.thread_id = f"{workspace.id}-{name}"
        self.line = Line()
        self._agent: Any = create_synced_agent(
            Provider(model=keeping.model, line=self.line),
            log=workspace.log,
            checkpointer="same",
            store=keeping.store,
            middleware=[HumanInTheLoopMiddleware(_changing(workspace))] if asks_first else [],
            system_prompt=words.instructions,
            block={"language": words.language},
            placement=placement_for(keeping.model),
            on_busy=on_busy,
            name=AGENT_NAME,
        )
        self._config: RunnableConfig = {"configurable": {"thread_id": self.thread_id}}
        self._context: WorkspaceContext = {"workspace_id": workspace.id, "user_id": FIRST_PERSON.id}
        workspace.log.open_thread(workspace.id, self.thread_id)

    def ask(self, text: str) -> Turn:
        """Ask, and wait for the answer."""
        return self._run({"messages": [HumanMessage(text)]}, self._config)

    def approve(self) -> Turn:
        """Approve the change that waits, and let it go on."""
        if not self._agent.get_state(self._config).interrupts:
            return Turn(self.line.given, error="nothing waits for an approval")
        return self._run(Command(resume={"decisions": [{"type": "approve"}]}), self._config)

    def ask_and_leave(self, text: str) -> Turn:
        """Ask, and close the stream after its first part, as a browser does whose tab is closed."""
        value = {"messages": [HumanMessage(text)]}
        parts = self._agent.stream(value, self._config, context=self._context, stream_mode="messages")
        with closing(parts):
            next(parts)
        return Turn(self.line.given)

    def answer_again(self, text: str) -> Turn:
        """Go back to where a question was first asked, and have it answered again, on a branch of its own."""
        states = list(self._agent.get_state_history(self._config))
        return self._run(None, next(state.config for state in reversed(states) if _is_asked(state.values, text)))

    def cursor(self) -> int:
        """Say where the conversation stands."""
        return self._workspace.log.open_thread(self._workspace.id, self.thread_id).revision

    def history(self) -> list[BaseMessage]:
        """Give the messages that its newest checkpoint holds."""
        return list(self._agent.get_state(self._config).values.get("messages", []))

    def blocks_kept(self) -> int:
        """Count the checkpoints that hold a block."""
        return sum(bool(find_block(str(state.values))) for state in self._agent.get_state_history(self._config))

    def _run(self, value: Any, config: RunnableConfig) -> Turn:
        before = {message.id for message in self.history()}
        try:
            result = self._agent.invoke(value, config, context=self._context)
        except ModelAway as error:
            return Turn(self.line.given, error=str(error))
        new = [message for message in result["messages"] if message.id not in before]
        said = [message for message in new if isinstance(message, AIMessage)]
        waits = bool(result.get("__interrupt__"))
        return Turn(
            given=self.line.given,
            called=tuple(call for message in said for call in message.tool_calls),
            answer=None if waits else said[-1].text,
            based_on=said[-1].response_metadata["abreast"]["revision"],
            error=next((message.text for message in new if _is_refusal(message)), None),
            waits=waits,
        )


def _changing(workspace: Workspace) -> dict[str, Any]:
    """Name the tools that change rows."""
    rows = (workspace.words.move, workspace.words.item)
    tools = workspace_tools(workspace.log, allow={row: ["update"] for row in rows})
    return {tool.name: {"allowed_decisions": ["approve", "reject"]} for tool in tools}


def _is_asked(values: dict[str, Any], text: str) -> bool:
    last = (values.get("messages") or [None])[-1]
    return isinstance(last, HumanMessage) and last.text == text


def _is_refusal(message: BaseMessage) -> bool:
    return isinstance(message, ToolMessage) and message.status == "error"
