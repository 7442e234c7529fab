"""All the words of the story that are not abreast's: what things are called, what is asked, how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from abreast.demo.product import ChecklistItem, Move

if TYPE_CHECKING:
    from collections.abc import Mapping

    from abreast.prompt import LanguageName


@dataclass(frozen=True, slots=True)
class Words:
    """
    One telling of the story.

    Attributes:
        offline: Says who answers where nobody else was named.
        blinded: Says what is left out where the block is.
        instructions: What the model is told first; it never changes.
        move: Mapped class of the move, with fields for a date and a stage.
        item: Mapped class of a checklist item, with fields for a title and a yes-or-no.
        labels: What fields are called, by field name.
        dates: The date at first, and the one a person sets.
        stages: The stage at first, and the one the nightly job sets.
        tasks: Titles of the checklist items; the first is the one that gets done.
        imported: Title of an imported item, with a place for its number.
        a_person: How abreast calls a person, in the sentence's language.
        other_agent: How abreast calls the agent of another conversation.
        titles: What happens in each step, by its key.
    """

    language: LanguageName
    offline: str
    blinded: str
    instructions: str
    move: type[Any]
    move_label: str
    date_field: str
    stage_field: str
    item: type[Any]
    item_label: str
    title_field: str
    done_field: str
    labels: Mapping[str, str]
    dates: tuple[str, str]
    stages: tuple[str, str]
    tasks: tuple[str, ...]
    imported: str
    ask_date: str
    ask_stage: str
    ask_done: str
    ask_changes: str
    mark_done: str
    a_person: str
    other_agent: str
    titles: Mapping[str, str]


ENGLISH: Final = Words(
    language="en",
    offline=(
        "The model of this story is an offline reader: it answers from the text of the request alone, and sees no "
        "database. --without-block shows what it answers without abreast's block."
    ),
    blinded=(
        "Once the date has changed (step 3) the block is taken out of every request: see what is answered in step 4. "
        "Checks fail from there on, as they should."
    ),
    instructions=(
        "You help people plan a move. Answer in one or two sentences. Write dates as YYYY-MM-DD. Where a value "
        "has changed, say who changed it. Use the tool when you are asked to change the checklist."
    ),
    move=Move,
    move_label="move",
    date_field="move_in_date",
    stage_field="stage",
    item=ChecklistItem,
    item_label="checklist item",
    title_field="title",
    done_field="done",
    labels={"move_in_date": "move-in date", "stage": "stage", "title": "title", "done": "done mark"},
    dates=("2026-09-28", "2026-09-30"),
    stages=("planned", "confirmed"),
    tasks=("Book the van", "Order boxes", "Tell the neighbours"),
    imported="Pack box {}",
    ask_date="What is our move-in date?",
    ask_stage="Which stage is our move in?",
    ask_done='Is the done mark of "Book the van" set?',
    ask_changes="What has changed?",
    mark_done='Please set the done mark of "Book the van" to yes.',
    a_person="A person",
    other_agent="An agent in another conversation",
    titles={
        "opened": "A workspace has a move and a checklist; conversations A and B begin",
        "asked_early": "B is asked early and says the old date",
        "date_changed": "A person changes the date on the screen",
        "asked_again": "B, opened before the change, is asked again",
        "model_away": "A is asked while the model is away: its cursor stays",
        "retried": "A is asked again and is given the same change",
        "first_part": "A job adds 76 tasks; B is given the first 50 changes",
        "second_part": "B is given the other 26",
        "tool_writes": "A's model calls a tool that changes the checklist",
        "other_learns": "B learns of it",
        "stale_write": "A screen opened before that writes, and is refused",
        "nightly": "A nightly job changes the stage in its own transaction; B names it",
        "repeated": "One write arrives twice under one mutation id",
    },
)

KOREAN: Final = Words(
    language="ko",
    offline=(
        "이 이야기의 모델은 오프라인 독해기입니다. 요청에 적힌 글만 읽고 답하며 데이터베이스를 보지 않습니다. "
        "--without-block을 주면 abreast의 블록이 없을 때 어떻게 답하는지 볼 수 있습니다."
    ),
    blinded=(
        "날짜가 바뀐 뒤(3단계)에는 모든 요청에서 블록을 뺍니다. 4단계의 답변을 보십시오. "
        "그 뒤로 검사가 실패하는 것이 맞습니다."
    ),
    instructions=(
        "이사를 준비하는 사람들을 돕습니다. 한두 문장으로 답하십시오. 날짜는 YYYY-MM-DD로 쓰십시오. 값이 바뀌었다면 "
        "누가 바꾸었는지 말하십시오. 할 일을 변경해 달라는 요청을 받으면 도구를 사용하십시오."
    ),
    move=Move,
    move_label="이사",
    date_field="move_in_date",
    stage_field="stage",
    item=ChecklistItem,
    item_label="할 일",
    title_field="title",
    done_field="done",
    labels={"move_in_date": "입주일", "stage": "단계", "title": "제목", "done": "완료"},
    dates=("2026-09-28", "2026-09-30"),
    stages=("준비 중", "확정"),
    tasks=("트럭 부르기", "상자 주문", "이웃에게 알리기"),
    imported="상자 {} 포장",
    ask_date="우리 입주일이 언제인가요?",
    ask_stage="우리 이사는 지금 어느 단계인가요?",
    ask_done='"트럭 부르기"는 완료되었나요?',
    ask_changes="무엇이 바뀌었나요?",
    mark_done='"트럭 부르기"를 완료로 표시해 주세요.',
    a_person="사람",
    other_agent="다른 대화의 에이전트",
    titles={
        "opened": "작업 공간에 이사와 할 일 목록이 있고, 대화 A와 B가 시작됩니다",
        "asked_early": "일찍 질문을 받은 B는 이전 날짜로 답합니다",
        "date_changed": "사람이 화면에서 날짜를 바꿉니다",
        "asked_again": "변경 전에 열린 B가 다시 질문을 받습니다",
        "model_away": "모델이 응답하지 않을 때 A에게 질문합니다: 커서는 그대로입니다",
        "retried": "A에게 다시 질문하면 같은 변경이 전달됩니다",
        "first_part": "작업이 할 일 76건을 추가하고, B는 먼저 50건을 받습니다",
        "second_part": "B는 나머지 26건을 받습니다",
        "tool_writes": "A의 모델이 도구를 호출하여 할 일을 변경합니다",
        "other_learns": "B가 그 변경을 알게 됩니다",
        "stale_write": "그 전에 열린 화면이 저장하려다 거부됩니다",
        "nightly": "야간 작업이 자체 트랜잭션에서 단계를 바꾸고, B가 그 작업의 이름을 말합니다",
        "repeated": "같은 변경 식별자로 쓰기가 두 번 도착합니다",
    },
)

LANGUAGES: Final[Mapping[str, Words]] = {"en": ENGLISH, "ko": KOREAN}
