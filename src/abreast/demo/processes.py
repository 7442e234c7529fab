"""Two processes that send to one conversation, each with its own connections and its own agent."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Literal

from langgraph.store.memory import InMemoryStore

from abreast.demo.conversation import Conversation, Keeping
from abreast.demo.process_server import process_server
from abreast.demo.workspace import Workspace
from abreast.errors import AbreastError, ThreadBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from langchain_core.language_models import BaseChatModel

    from abreast.demo.conversation import Turn
    from abreast.demo.words import Words
    from abreast.runs import OnBusy

_ALL_HERE, _LOOK_SECONDS = 60.0, 0.05


class ProcessEnded(RuntimeError):
    """A process of the story ended, or gave no sign of life; what it printed says why."""


@dataclass(frozen=True, slots=True)
class Outset:
    """
    What a process begins with.

    Attributes:
        make_model: Makes who answers; a function of a module, since it is sent to the process.
        name: The conversation.
        blind: The block is taken out of every request.
    """

    url: str
    words: Words
    workspace_id: str
    make_model: Callable[[], BaseChatModel]
    name: str
    blind: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """
    What a process says.

    Attributes:
        kind: `"asking"`: its run has the thread, and its model is about to be asked; `"answered"`; `"busy"`: it was
            refused, since somebody else runs the thread; `"failed"`: it ended in another error of abreast.
        refusal: Why it was refused, or failed.
        remembered: How many entries its memory across threads has.
    """

    kind: Literal["asking", "answered", "busy", "failed"]
    turn: Turn | None = None
    refusal: str | None = None
    remembered: int = 0

    @property
    def answer(self) -> str | None:
        """What was answered, if anything."""
        return None if self.turn is None else self.turn.answer


@dataclass(frozen=True, slots=True)
class Sent:
    """
    What came of one message.

    Attributes:
        last: The last word of its process.
        was_first: Its run had the thread while the other message came.
    """

    sender: Sender
    question: str
    last: Word
    was_first: bool

    def again(self) -> Sent:
        """Send it once more, from the same process."""
        self.sender.send(self.question, "reject")
        return Sent(self.sender, self.question, self.sender.last_word(self.sender.next_word()), was_first=False)


class Sender:
    """One process, and the pipe to it."""

    def __init__(self, process: BaseProcess, pipe: Connection) -> None:
        self.process = process
        self.pipe = pipe

    def send(self, question: str, on_busy: OnBusy) -> None:
        """
        Let it ask.

        Raises:
            ProcessEnded: It hears nothing any more.
        """
        try:
            self.pipe.send((question, on_busy))
        except ConnectionError:
            raise ProcessEnded(f"{self.process.name} ended") from None

    def next_word(self) -> Word:
        """
        Wait for what it says next.

        Raises:
            ProcessEnded: It says nothing any more.
        """
        if not self.pipe.poll(_ALL_HERE):
            raise ProcessEnded(f"{self.process.name} says nothing for {_ALL_HERE:.0f} seconds")
        try:
            word: Word = self.pipe.recv()
        except (EOFError, ConnectionError):
            raise ProcessEnded(f"{self.process.name} ended") from None
        return word

    def waits(self, waiting: Callable[[], int]) -> int:
        """
        Wait until it says something or somebody stands in line; says how many stand there.

        Raises:
            ProcessEnded: Neither came.
        """
        for _ in range(round(_ALL_HERE / _LOOK_SECONDS)):
            if (stood := waiting()) or self.pipe.poll(_LOOK_SECONDS):
                return stood
        raise ProcessEnded(f"{self.process.name} says nothing for {_ALL_HERE:.0f} seconds")

    def last_word(self, word: Word) -> Word:
        """Let its model be asked, and wait for what comes of it."""
        while word.kind == "asking":
            self.pipe.send(None)
            word = self.next_word()
        return word


class Senders:
    """Two processes, which are told to send at the same time; they begin when they are first needed."""

    def __init__(self, outset: Outset) -> None:
        self._outset = outset
        self._context = process_server()
        self._both: list[Sender] = []

    def refused(self, questions: Sequence[str]) -> list[Sent]:
        """Send both; whoever has the thread keeps it until the other one has been refused."""
        self._send(questions, "reject")
        words = [sender.next_word() for sender in self._both]
        heard = zip(self._both, questions, words, strict=True)
        return [
            Sent(sender, question, sender.last_word(word), word.kind == "asking") for sender, question, word in heard
        ]

    def in_line(self, questions: Sequence[str], waiting: Callable[[], int]) -> tuple[list[Sent], int]:
        """Send both; whoever has the thread keeps it until the other one stands in line. Says how many stood there."""
        asked = dict(zip(self._both, self._send(questions, "queue"), strict=True))
        first, other = self._first_and_other()
        word, stood = first.next_word(), other.waits(waiting)
        last = Sent(first, asked[first], first.last_word(word), was_first=True)
        return [last, Sent(other, asked[other], other.last_word(other.next_word()), was_first=False)], stood

    def close(self) -> None:
        """End the processes."""
        for sender in self._both:
            sender.pipe.close()
            sender.process.terminate()
            sender.process.join()
            sender.process.close()

    def _send(self, questions: Sequence[str], on_busy: OnBusy) -> Sequence[str]:
        while len(self._both) < len(questions):
            self._both.append(self._begun())
        for sender, question in zip(self._both, questions, strict=True):
            sender.send(question, on_busy)
        return questions

    def _begun(self) -> Sender:
        ours, theirs = self._context.Pipe()
        name = f"sender {len(self._both) + 1}"
        process = self._context.Process(target=send_when_told, args=(theirs, self._outset), name=name, daemon=True)
        process.start()
        theirs.close()
        return Sender(process, ours)

    def _first_and_other(self) -> tuple[Sender, Sender]:
        """Wait for one to speak."""
        heard = wait([sender.pipe for sender in self._both], _ALL_HERE)
        first, other = sorted(self._both, key=lambda sender: sender.pipe not in heard)
        return first, other


@contextmanager
def two_senders(outset: Outset) -> Generator[Senders]:
    """Give two processes, and end them."""
    words = outset.words
    # A mapped class can be known to this process alone; its table can be sent.
    words = replace(words, move=words.move.__table__, item=words.item.__table__)
    with closing(Senders(replace(outset, words=words))) as senders:
        yield senders


def send_when_told(pipe: Connection, outset: Outset) -> None:
    """Ask in one conversation what the pipe says, until it is closed."""
    workspace = Workspace(outset.url, outset.words, outset.workspace_id)
    with workspace.database:
        keeping = Keeping(outset.make_model(), InMemoryStore())
        while (wanted := _received(pipe)) is not None:
            question, on_busy = wanted
            conversation = Conversation(outset.name, workspace, keeping, on_busy=on_busy)
            conversation.line.blind = outset.blind
            conversation.line.before = lambda: _hold_up(pipe)
            pipe.send(_asked(conversation, question, keeping))


def _asked(conversation: Conversation, question: str, keeping: Keeping) -> Word:
    try:
        turn = conversation.ask(question)
    except AbreastError as error:
        return Word("busy" if isinstance(error, ThreadBusy) else "failed", refusal=str(error))
    return Word("answered", turn, remembered=len(keeping.store.search(())))


def _hold_up(pipe: Connection) -> None:
    """Say that the model is about to be asked, and wait until it may be."""
    pipe.send(Word("asking"))
    pipe.recv()


def _received(pipe: Connection) -> Any:
    try:
        return pipe.recv()
    except EOFError:
        return None
