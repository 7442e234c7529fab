"""An agent with a scripted model in one conversation, called sync or async, so that one test body serves both."""

from collections.abc import Callable
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import ConfigDict, Field

from abreast.langchain import create_synced_agent
from abreast.langgraph import SqlSaver
from abreast.langgraph.state import DELIVERED, NOMINATED
from tests.contract.client import Client, Place
from tests.contract.product import MOVE, OTHER_USER, Move

CONTEXT = {"workspace_id": "w1", "user_id": "person-9"}
CONFIG: Any = {"configurable": {"thread_id": "t1"}}


class Script(BaseChatModel):
    """
    A chat model that answers in order and keeps what it was given.

    Attributes:
        answers: What it says next: a message, an error to raise, or a function of the messages; "fine" when empty.
        requests: The messages of each call.
        bound: What tools and settings each call was bound to.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    answers: list[Any] = Field(default_factory=list)
    requests: list[list[BaseMessage]] = Field(default_factory=list)
    tools: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        """Keep the tools."""
        self.tools[:] = tools
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.requests.append(list(messages))
        answer = self.answers.pop(0) if self.answers else AIMessage("fine")
        if callable(answer):
            answer = answer(messages)
        if isinstance(answer, BaseException):
            raise answer
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def block(self, call: int = -1) -> str:
        """Give the block of a request."""
        (found,) = [str(message.content) for message in self.requests[call] if is_block(message)]
        return found


def is_block(message: Any) -> bool:
    """Say whether a message is the block."""
    return "<workspace_state" in str(message.content)


def calls(*wanted: tuple[str, dict[str, Any]], first: str = "call_0", ids: list[str] | None = None) -> AIMessage:
    """Give an assistant's message that calls tools."""
    names = ids or [first if place == 0 else f"call_{place}" for place in range(len(wanted))]
    listed = [
        {"name": name, "args": arguments, "id": id_} for id_, (name, arguments) in zip(names, wanted, strict=True)
    ]
    return AIMessage("", tool_calls=listed)


def update(version: int, key: str = "m1", **changes: Any) -> tuple[str, dict[str, Any]]:
    """Give the call that updates a move."""
    return "update_move", {"id": key, "expected_version": version, "changes": changes}


class Talk:
    """An agent and its thread."""

    def __init__(self, place: Place, client: Client) -> None:
        self.place = place
        self.client = client
        self.model = Script()
        # Each database meets its own saver's transactions; on SQLite LangGraph's stays as the other one.
        self.saver: Any = InMemorySaver() if place.url.startswith("sqlite") else SqlSaver(place.database)
        self.agent: Any = None

    def build(self, tools: Any = (), make: Callable[..., Any] = create_synced_agent, **options: Any) -> None:
        """Make the agent."""
        options = {"log": self.client.log, "checkpointer": self.saver, **options}
        self.agent = make(self.model, tools, **options)

    def wait(self, call: Callable[..., Any], acall: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call something, or its async twin on the loop."""
        if self.place.runner is None:
            return call(*args, **options)
        return self.place.runner.run(acall(*args, **options))

    def run(self, value: Any, config: Any = None, **options: Any) -> Any:
        """Run the agent once."""
        options = {"context": CONTEXT, **options}
        return self.wait(self.agent.invoke, self.agent.ainvoke, value, config or CONFIG, **options)

    def ask(self, text: str = "When do I move in?", *answers: Any, **options: Any) -> Any:
        """Run the agent with a question, and give the last message."""
        self.model.answers.extend(answers)
        return self.run({"messages": [("user", text)]}, **options)["messages"][-1]

    def stream(self, value: Any, modes: list[str], config: Any = None) -> list[Any]:
        """Run the agent once, in parts."""
        options: dict[str, Any] = {"context": CONTEXT, "stream_mode": modes}

        async def collect() -> list[Any]:
            return [part async for part in self.agent.astream(value, config or CONFIG, **options)]

        if self.place.runner is None:
            return list(self.agent.stream(value, config or CONFIG, **options))
        return self.place.runner.run(collect())

    def state(self, config: Any = None) -> Any:
        """Give the thread's state."""
        return self.wait(self.agent.get_state, self.agent.aget_state, config or CONFIG)

    def history(self) -> list[Any]:
        """Give the thread's states, newest first."""

        async def collect() -> list[Any]:
            return [part async for part in self.agent.aget_state_history(CONFIG)]

        if self.place.runner is None:
            return list(self.agent.get_state_history(CONFIG))
        return self.place.runner.run(collect())

    def stored(self) -> str:
        """Give everything that is stored of conversations."""
        if isinstance(self.saver, SqlSaver):
            return repr([(*found[1:3], found.pending_writes) for found in self._listed(self.saver)])
        return repr((self.saver.storage, self.saver.blobs, self.saver.writes))

    def _listed(self, saver: SqlSaver) -> list[Any]:
        async def collect() -> list[Any]:
            return [found async for found in saver.alist(None)]

        return list(saver.list(None)) if self.place.runner is None else self.place.runner.run(collect())

    def results(self) -> list[ToolMessage]:
        """Give what tools have answered."""
        return [message for message in self.state().values["messages"] if isinstance(message, ToolMessage)]

    def cursor(self, scope: str = "") -> int:
        """Say where the thread stands in the database."""
        return self.client.cursors().get(("t1", scope), -1)

    def noted(self, key: str = NOMINATED, scope: str = "") -> int:
        """Say where the thread stands in its newest checkpoint."""
        note = self.state().values.get(key, {}).get(scope)
        return -1 if note is None else note["cursor"]["revision"]

    def delivered(self, scope: str = "") -> int:
        """Say what the newest checkpoint holds as delivered."""
        return self.noted(DELIVERED, scope)

    def change(self, key: str = "m1", **fields: Any) -> None:
        """Change a move on a screen, also while the agent runs on a loop."""
        with self.client.log.write("w1", actor=OTHER_USER) as write:
            write.update(Move, key, fields, expected_version="any")

    def row(self, key: str = "m1") -> tuple[Any, ...]:
        """Give a move's stage, note and version as they are stored."""
        found = self.client.rows("SELECT stage, note, version FROM move WHERE id = :key", key=key)
        return found[0] if found else ()


def begin(place: Place, client: Client, *entities: Any, **options: Any) -> Talk:
    """Give a workspace with a move, and a conversation about it that has begun."""
    talk = Talk(place, client.of(*(entities or (MOVE,))))
    with client.write() as write:
        write.insert(
            Move, {"id": "m1", "move_in_date": "2026-09-28", "door_code": "door-4711", "alarm_code": "alarm-0815"}
        )
    talk.build(**options)
    talk.ask("Hello")
    return talk
