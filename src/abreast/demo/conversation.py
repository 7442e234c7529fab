"""Conversations about the workspace: graphs made by hand, with a checkpointer, a model and a tool."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, ToolRuntime, tools_condition

from abreast.demo.grammar import find_block
from abreast.demo.workspace import AGENT
from abreast.errors import AbreastError
from abreast.langgraph import CursorState, WorkspaceNodes
from abreast.prompt import render
from abreast.prompt.languages import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import ToolCall
    from langchain_core.runnables import Runnable, RunnableConfig
    from langchain_core.tools import BaseTool
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from abreast.demo.workspace import Workspace


class ModelAway(Exception):
    """The provider could not be reached."""


class State(CursorState):
    """What a conversation keeps."""

    messages: Annotated[list[AnyMessage], add_messages]


@dataclass(frozen=True, slots=True)
class Context:
    """What the application tells a run."""

    workspace_id: str


@dataclass(frozen=True, slots=True)
class Turn:
    """
    What came of a question.

    Attributes:
        given: The block as it was sent with the last request; None where there was none.
        called: The calls of tools that the model made.
        answer: What was answered; None where the model was away.
        error: What failed.
    """

    given: str | None
    called: tuple[ToolCall, ...] = ()
    answer: str | None = None
    error: str | None = None


class Provider:
    """
    Passes requests on to a model, and keeps the last one.

    Attributes:
        away: Whether it cannot be reached.
        blind: Whether it takes the block out of every request.
    """

    def __init__(self, model: Runnable[Any, Any], instructions: str) -> None:
        self.away = False
        self.blind = False
        self.sent: list[BaseMessage] = []
        self._model = model
        self._instructions = SystemMessage(instructions)

    def __call__(self, messages: Sequence[BaseMessage]) -> AIMessage:
        """
        Send a request.

        Raises:
            ModelAway: The model could not be reached.
        """
        kept = [message for message in messages if not (self.blind and find_block(message.text))]
        self.sent = [self._instructions, *kept]
        if self.away:
            raise ModelAway("the model is away")
        return cast("AIMessage", self._model.invoke(self.sent))

    @property
    def given(self) -> str | None:
        """The block of the last request as it was sent."""
        return find_block("\n".join(message.text for message in self.sent))


class Conversation:
    """
    One thread about a workspace.

    Attributes:
        thread_id: Its id.
        provider: What its model's requests pass through.
    """

    def __init__(
        self,
        name: str,
        workspace: Workspace,
        model: BaseChatModel,
        saver: BaseCheckpointSaver[Any],
    ) -> None:
        self._workspace = workspace
        self.thread_id = f"{workspace.id}-{name}"
        tools = [_change_tool(workspace)]
        self.provider = Provider(model.bind_tools(tools), workspace.words.instructions)
        self._nodes = WorkspaceNodes(workspace.log, render=partial(render, language=workspace.words.language))
        self._graph = self._built(tools, saver)
        self._config: RunnableConfig = {"configurable": {"thread_id": self.thread_id}}
        workspace.log.open_thread(workspace.id, self.thread_id)

    def ask(self, text: str) -> Turn:
        """Ask, and let it count once the graph has finished."""
        before = len(self.history())
        try:
            result = self._graph.invoke(
                {"messages": [HumanMessage(text)]}, self._config, context=Context(self._workspace.id)
            )
        except ModelAway as error:
            return Turn(self.provider.given, error=str(error))
        self._nodes.confirm_finished(self._graph, self._config)
        said = [message for message in result["messages"][before:] if isinstance(message, AIMessage)]
        calls = tuple(call for message in said for call in message.tool_calls)
        return Turn(self.provider.given, calls, said[-1].text)

    def cursor(self) -> int:
        """Say where the conversation stands."""
        return self._workspace.log.open_thread(self._workspace.id, self.thread_id).revision

    def history(self) -> list[BaseMessage]:
        """Give the messages that its newest checkpoint holds."""
        return list(self._graph.get_state(self._config).values.get("messages", []))

    def blocks_kept(self) -> int:
        """Count the checkpoints that hold a block."""
        return sum(
            bool(find_block(str(checkpoint.values))) for checkpoint in self._graph.get_state_history(self._config)
        )

    def _built(self, tools: list[BaseTool], saver: BaseCheckpointSaver[Any]) -> Any:
        builder: Any = StateGraph(State, context_schema=Context)
        builder.add_node("model", self._nodes.model(RunnableLambda(self.provider)))
        builder.add_node("tools", ToolNode(tools))
        builder.add_node("nominate", self._nodes.nominate)
        builder.add_edge(START, "model")
        builder.add_conditional_edges("model", tools_condition, {"tools": "tools", "__end__": "nominate"})
        builder.add_edge("tools", "model")
        return builder.compile(checkpointer=saver)


def _change_tool(workspace: Workspace) -> BaseTool:
    words, phrases = workspace.words, sentences(workspace.words.language)
    fields = {words.labels[name]: name for name in (words.title_field, words.done_field)}

    @tool
    def change_checklist_item(
        entity_id: str, field: str, value: str, expected_version: int, runtime: ToolRuntime[Any, Any]
    ) -> ToolMessage:
        """
        Change one field of one item of the checklist.

        Give the item's id, the field's name and the item's version as they stand in the current state. A value
        is text; of a yes-or-no field it is the word used in the current state.
        """
        try:
            name = fields[field]
            new = value == phrases.yes if name == words.done_field else value
            with workspace.log.write(
                workspace.id,
                actor=AGENT,
                mutation_id=_mutation_id(runtime),
                source_thread_id=_thread_id(runtime),
            ) as write:
                write.update(words.item, entity_id, {name: new}, expected_version=expected_version)
        except (AbreastError, KeyError) as error:
            return ToolMessage(str(error), tool_call_id=runtime.tool_call_id, status="error")
        told = f"{words.item_label} {entity_id}: {field}: {value} (r{write.results[0].revision})"
        return ToolMessage(told, tool_call_id=runtime.tool_call_id)

    return change_checklist_item


def _thread_id(runtime: ToolRuntime[Any, Any]) -> str:
    return str(runtime.config.get("configurable", {}).get("thread_id"))


def _mutation_id(runtime: ToolRuntime[Any, Any]) -> str:
    """Derive the id from the call: a repeated call takes effect once."""
    return f"{_thread_id(runtime)}/{runtime.state['messages'][-1].id}/{runtime.tool_call_id}"
