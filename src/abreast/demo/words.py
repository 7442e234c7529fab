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
        dates: The date at first, and those a person sets.
        stages: The stage at first, the one the nightly job sets, and the one a person sets.
        tasks: Titles of the checklist items; the first is the one that gets done.
        imported: Title of an imported item, with a place for its number.
        mark_done: Asks to set a task's mark, with a place for its title.
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
    dates: tuple[str, str, str]
    stages: tuple[str, str, str]
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
        "has changed, say who changed it. Use a tool when you are asked to change the checklist."
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
    dates=("2026-09-28", "2026-09-30", "2026-10-05"),
    stages=("planned", "confirmed", "postponed"),
    tasks=("Book the van", "Order boxes", "Tell the neighbours"),
    imported="Pack box {}",
    ask_date="What is our move-in date?",
    ask_stage="Which stage is our move in?",
    ask_done='Is the done mark of "Book the van" set?',
    ask_changes="What has changed?",
    mark_done='Please set the done mark of "{}" to yes.',
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
        "paused": "C asks before it writes: its run pauses for an approval, and holds nothing meanwhile",
        "approved": "The date changes, then the approval comes: the run goes on and knows both",
        "paused_again": "C pauses once more in front of a write",
        "approved_late": "Meanwhile a person changed that row: the approved write is refused, and C is told what to do",
        "left": "The stage changes; B is asked and the stream is closed early: its cursor stays, nobody holds it",
        "asked_after": "B is asked again and is given the same changes",
        "both_at_once": "Two processes send to thread D at once: one runs, the other is refused and sends again",
        "in_line": "Once more, with a line to wait in: one runs, the other waits its turn",
        "branched": "B's answer of step 12 is made anew: its branch is given what it has not processed",
        "stored": "What the story leaves behind",
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
    dates=("2026-09-28", "2026-09-30", "2026-10-05"),
    stages=("준비 중", "확정", "연기"),
    tasks=("트럭 부르기", "상자 주문", "이웃에게 알리기"),
    imported="상자 {} 포장",
    ask_date="우리 입주일이 언제인가요?",
    ask_stage="우리 이사는 지금 어느 단계인가요?",
    ask_done='"트럭 부르기"는 완료되었나요?',
    ask_changes="무엇이 바뀌었나요?",
    mark_done='할 일 "{}"의 완료를 예로 변경해 주세요.',
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
        "paused": "C는 쓰기 전에 묻습니다: 실행이 승인을 기다리며 멈추고, 그동안 아무것도 잡고 있지 않습니다",
        "approved": "날짜가 바뀐 뒤 승인이 옵니다: 실행이 이어지고 둘 다 압니다",
        "paused_again": "C가 다시 쓰기 앞에서 멈춥니다",
        "approved_late": "그동안 사람이 그 행을 바꾸었습니다: 승인된 쓰기가 거부되고, C는 어떻게 할지 전달받습니다",
        "left": "단계가 바뀝니다. B에게 질문하고 스트림을 일찍 닫습니다: 커서는 그대로이고 스레드는 비어 있습니다",
        "asked_after": "B에게 다시 질문하면 같은 변경이 전달됩니다",
        "both_at_once": "두 프로세스가 스레드 D에 동시에 보냅니다: 하나는 실행되고, 다른 하나는 거부되어 다시 보냅니다",
        "in_line": "이번에는 줄을 섭니다: 하나는 실행되고, 다른 하나는 차례를 기다립니다",
        "branched": "12단계의 B의 답변을 다시 만듭니다: 그 가지는 처리하지 않은 변경을 전달받습니다",
        "stored": "이야기가 남긴 것",
    },
)

LANGUAGES: Final[Mapping[str, Words]] = {"en": ENGLISH, "ko": KOREAN}
