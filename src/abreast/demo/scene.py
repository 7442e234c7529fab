"""Who takes part in the story, and what is asked of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from abreast.demo.conversation import Conversation
from abreast.demo.grammar import read_block
from abreast.demo.steps import Told, equal

if TYPE_CHECKING:
    from collections.abc import Callable

    from langchain_core.messages import ToolCall

    from abreast.demo.conversation import Keeping, Turn
    from abreast.demo.processes import Senders
    from abreast.demo.steps import Check
    from abreast.demo.words import Words
    from abreast.demo.workspace import Workspace


@dataclass(slots=True)
class Scene:
    """
    Who takes part.

    Attributes:
        conversations: Those that have begun, by name.
        senders: Two processes that can send to one conversation.
        blind: Whether models are given no block once the date has changed.
        remembered: What a step leaves for a later one to compare with.
        elsewhere: Entries in the memory across threads of other processes.
    """

    workspace: Workspace
    words: Words
    keeping: Keeping
    senders: Senders
    blind: bool
    conversations: dict[str, Conversation] = field(default_factory=dict[str, Conversation])
    remembered: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    elsewhere: int = 0

    def begin(self, name: str, *, asks_first: bool = False) -> Conversation:
        """Begin a conversation."""
        begun = Conversation(name, self.workspace, self.keeping, asks_first=asks_first)
        self.conversations[name] = begun
        return begun

    def ask(self, name: str, question: str, *checks: Callable[[Turn], Check], revision: int | None = None) -> Told:
        """Ask a conversation, and check what comes back."""
        return told(self.conversations[name].ask(question), *checks, asked=question, revision=revision)

    def cursor(self, name: str, expected: int) -> Callable[[Turn], Check]:
        """Check where a conversation stands after its turn."""
        return lambda _turn: equal(f"cursor {name}", expected, self.conversations[name].cursor())

    def free(self, name: str) -> Callable[[Turn], Check]:
        """Check that nobody holds a conversation's thread."""
        thread_id = self.conversations[name].thread_id
        return lambda _turn: equal(f"thread {name} is held", expected=False, actual=self.workspace.is_held(thread_id))


def told(turn: Turn, *checks: Callable[[Turn], Check], asked: str | None = None, revision: int | None = None) -> Told:
    """Tell what came of a question, and check it."""
    found = [check(turn) for check in checks]
    called = [written(call) for call in turn.called]
    return Told(found, revision, asked, turn.given, called, turn.answer, turn.error)


def written(call: ToolCall) -> str:
    """Write a call of a tool."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in call["args"].items())
    return f"{call['name']}({arguments})"


def changes(turn: Turn) -> tuple[str, ...]:
    """Give the lines of changes that the model was given."""
    block = read_block(turn.given or "")
    return block.changes if block else ()
