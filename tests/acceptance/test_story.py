"""`abreast demo story`: the promise of the library, seen from outside."""

import json
import random
import re
import secrets
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore
from sqlalchemy import Boolean, Date, Integer, NullPool, String, create_engine
from sqlalchemy.orm import DeclarativeBase, mapped_column

import abreast.demo
from abreast import Database
from abreast.demo import story
from abreast.demo.offline_model import OfflineModel
from abreast.demo.processes import Outset, ProcessEnded, two_senders
from abreast.demo.story import tell
from abreast.demo.words import ENGLISH, KOREAN, Words
from abreast.demo.workspace import PREFIX
from abreast.langgraph import SqlSaver

COMMAND = [str(Path(sys.executable).with_name("abreast")), "demo", "story"]
KEYS = {"step", "title", "revision", "head", "cursor", "asked", "given", "called", "answer", "error", "checks"}
B_AGAIN, A_TOOL, B_LEARNS, STALE, NIGHTLY = 4, 9, 10, 11, 12
PAUSED, APPROVED, LATE, LEFT, ASKED_AFTER, AT_ONCE, IN_LINE, BRANCHED, LAST = 14, 15, 17, 18, 19, 20, 21, 22, 23


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the command in an empty folder."""
    return subprocess.run([*COMMAND, *options], check=False, cwd=folder, capture_output=True, text=True, timeout=100)


def failed(steps: list[Any]) -> list[Any]:
    """List the checks that do not hold."""
    told = [step if isinstance(step, dict) else step.to_json() for step in steps]
    return [(step["step"], check) for step in told for check in step["checks"] if not check["holds"]]


@pytest.fixture
def empty_folder(tmp_path: Path) -> Path:
    """Give a folder with nothing in it."""
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def test_story(empty_folder: Path, database_url: str, capsys: pytest.CaptureFixture[str]):
    """Every step holds on every database, and the product's own tables of abreast stay as they were."""
    begun = time.monotonic()
    done = run(empty_folder, "--json", "--database", database_url)
    with capsys.disabled():
        print(f" [story: {time.monotonic() - begun:.1f} s]", end="")  # noqa: T201 - a figure to look at, not to fail on
    assert (0, "") == (done.returncode, done.stderr)
    steps = json.loads(done.stdout)
    assert list(range(1, LAST + 1)) == [step["step"] for step in steps]
    assert {frozenset(KEYS)} == {frozenset(step) for step in steps}
    assert [] == failed(steps)
    assert all(step["checks"] for step in steps)
    assert [] == rows(database_url, "abreast_workspace_event")
    assert [1, 79] == [len(rows(database_url, f"demo_{name}")) for name in ("move", "checklist_item")]
    assert 88 == len(rows(database_url, "demo_workspace_event"))
    assert [] == rows(database_url, "demo_thread_waiter")


def rows(url: str, table: str) -> list[Any]:
    """Read a table past the library."""
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        return list(connection.exec_driver_sql(f"SELECT * FROM {table}"))


@pytest.mark.parametrize("language", ["en", "ko"])
def test_for_a_person(empty_folder: Path, language: str):
    """Without options it runs on a file of its own, leaves nothing, and can be read without a terminal."""
    done = run(empty_folder, "--language", language)
    assert (0, "") == (done.returncode, done.stderr)
    words = {"en": ENGLISH, "ko": KOREAN}[language]
    assert [] == [title for title in words.titles.values() if title not in done.stdout]
    assert "2026-09-30" in done.stdout
    assert "\x1b[" not in done.stdout
    assert [] == list(empty_folder.iterdir())


def test_without_the_block(empty_folder: Path):
    """What the library does makes the difference: without the block B repeats the old date, and the story fails."""
    done = run(empty_folder, "--json", "--without-block")
    steps = json.loads(done.stdout)
    again = steps[B_AGAIN - 1]
    assert (1, None) == (done.returncode, again["given"])
    assert "2026-09-28" in again["answer"]
    assert "2026-09-30" not in again["answer"]
    needing = {PAUSED, APPROVED, LATE, LEFT, ASKED_AFTER, AT_ONCE, IN_LINE, BRANCHED}
    assert needing <= {number for number, _ in failed(steps)}


def test_unknown_model(empty_folder: Path):
    """A model that cannot be named is refused with what can be."""
    done = run(empty_folder, "--model", "nobody:nothing")
    assert 2 == done.returncode
    assert "provider" in done.stderr


def test_no_checkpoint_holds_a_block(tmp_path: Path):
    """I14: the stored conversations, value by value, hold questions and answers and no block."""
    url = f"sqlite:///{tmp_path / 'demo.db'}"
    assert [] == failed(list(tell(url=url)))
    with Database.open(url, prefix=PREFIX) as database:
        saver = SqlSaver(database)
        found = [[*each[1:3], each.pending_writes] for each in saver.list(None)]
        stored = b"".join(saver.serde.dumps_typed(each)[1] for each in found)
    assert b"What is our move-in date?" in stored
    assert b"_abreast_cursor" in stored
    assert b"workspace_state" not in stored
    assert b"CHANGES SINCE" not in stored


def test_something_in_the_store(monkeypatch: pytest.MonkeyPatch):
    """What anybody puts into LangGraph's Store is found at the end."""

    def filled() -> InMemoryStore:
        store = InMemoryStore()
        store.put(("memories",), "m1", {"text": "likes boxes"})
        return store

    monkeypatch.setattr(story, "InMemoryStore", filled)
    ((number, check),) = failed(list(tell()))
    assert (LAST, 1) == (number, check["actual"])


def test_a_process_that_dies(tmp_path: Path):
    """I3: a process that cannot work ends the story with an error and leaves nothing running."""
    outset = Outset(f"sqlite:///{tmp_path / 'nothing' / 'demo.db'}", ENGLISH, "w1", OfflineModel, "D")
    with two_senders(outset) as senders, pytest.raises(ProcessEnded, match="sender 1 ended"):
        senders.refused(["What is our move-in date?", "Which stage is our move in?"])


@dataclass(frozen=True)
class Making:
    """
    Makes words that nobody has written down.

    Attributes:
        letters: What words are made of.
    """

    chance: random.Random
    letters: str

    def word(self) -> str:
        """Make a word."""
        if self.letters == "ko":
            return "".join(chr(self.chance.randrange(ord("가"), ord("힣") + 1)) for _ in range(4))
        pairs = (self.chance.choice("bdfgklmnprstvz") + self.chance.choice("aeiou") for _ in range(4))
        return "".join(pairs)

    def words(self) -> str:
        """Make two words and a number."""
        return f"{self.word()} {self.word()} {self.chance.randrange(100, 1000)}"

    def label(self) -> str:
        """Make two words."""
        return f"{self.word()} {self.word()}"

    def name(self) -> str:
        """Make a name for a table or column."""
        return "".join(self.chance.choice("bdfgklmnprstvz") for _ in range(9))

    def date(self) -> str:
        """Make a date."""
        return (date(2031, 1, 1) + timedelta(days=self.chance.randrange(7000))).isoformat()


def mapped(name: str, *columns: tuple[str, Any]) -> type[Any]:
    """Map a table of its own."""
    base = type("Base", (DeclarativeBase,), {})
    own = {
        "__tablename__": f"demo_{name}",
        "workspace_id": mapped_column(String(100), primary_key=True),
        "id": mapped_column(String(40), primary_key=True),
        "version": mapped_column(Integer),
    }
    return type(name, (base,), {**own, **{field: mapped_column(kind) for field, kind in columns}})


def made_up(telling: Words, seed: str) -> Words:
    """Make a telling whose names, labels, fields and values are all new."""
    make = Making(random.Random(seed), telling.language)
    day, stage, title, done = (make.name() for _ in range(4))
    labels = {field: make.label() for field in (day, stage, title, done)}
    move, item, task = make.label(), make.label(), make.words()
    english = telling.language == "en"
    return replace(
        telling,
        move=mapped(make.name(), (day, Date), (stage, String(40))),
        move_label=move,
        date_field=day,
        stage_field=stage,
        item=mapped(make.name(), ("position", Integer), (title, String(200)), (done, Boolean)),
        item_label=item,
        title_field=title,
        done_field=done,
        labels=labels,
        dates=(make.date(), make.date(), make.date()),
        stages=(make.words(), make.words(), make.words()),
        tasks=(task, make.words(), make.words()),
        imported=f"{make.words()} {{}}",
        ask_date=f"What is the {labels[day]} now?" if english else f"{labels[day]}은(는) 지금 무엇인가요?",
        ask_stage=(
            f"Tell me the {labels[stage]} of our {move}."
            if english
            else f"우리 {move}의 {labels[stage]}을(를) 알려 주세요."
        ),
        ask_done=f"Is {task} {labels[done]}?" if english else f"{task}의 {labels[done]}은(는) 어떤가요?",
        mark_done=(
            f"Please mark {{}} as {labels[done]}." if english else f"{{}}을(를) {labels[done]}(으)로 표시해 주세요."
        ),
    )


@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize("telling", [ENGLISH, KOREAN], ids=["en", "ko"])
def test_words_nobody_knew(telling: Words, *, blind: bool):
    """Names, labels, fields and values made up just now: the model can only have read them in the request."""
    seed = secrets.token_hex(8)
    print(f"seed {seed}")  # noqa: T201 - shown where the test fails
    words = made_up(telling, seed)
    steps = list(islice(tell(words, blind=blind), B_AGAIN if blind else None))
    said = steps[B_AGAIN - 1].answer or ""
    dates = re.findall(r"\d{4}-\d{2}-\d{2}", said)
    if blind:
        assert [words.dates[0]] == dates
        return
    assert [] == failed(steps)
    assert words.dates[1] == dates[0]
    assert words.stages[1] in (steps[NIGHTLY - 1].answer or "")
    learnt = steps[B_LEARNS - 1].answer or ""
    assert words.labels[words.done_field] in learnt
    assert re.search(r" is yes\.| 예입니다\.", learnt)
    assert "expected_version=1" in steps[A_TOOL - 1].called[0]
    assert words.done_field in (steps[STALE - 1].error or "")
    assert words.dates[2] in (steps[APPROVED - 1].answer or "")
    assert "again with expected_version=2" in (steps[LATE - 1].error or "")
    for number in (ASKED_AFTER, AT_ONCE, IN_LINE, BRANCHED):
        assert words.stages[2] in (steps[number - 1].answer or "")


def test_demo_is_no_part_of_the_library():
    """Nothing outside of the demo and the command imports it."""
    package = Path(abreast.demo.__file__).parents[1]
    users = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "abreast.demo" in path.read_text() and path.parent.name not in ("demo", "cli")
    ]
    assert [] == users
