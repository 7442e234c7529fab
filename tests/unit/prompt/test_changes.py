"""What each kind of line says, in both languages."""

import dataclasses

import pytest

from abreast.model.entity import Entity, Row
from abreast.model.fold import LineKind
from abreast.prompt import render
from tests.unit.prompt.batches import (
    ACCOUNT,
    AGENT,
    ITEM,
    ITEM_KO,
    JOB,
    M1,
    MOVE,
    MOVE_KO,
    OTHER_PERSON,
    PERSON,
    batch,
    item,
    line,
    table,
    update,
)

TYPES = ("move", "checklist_item")
C2, C3, C4, C9 = item(2), item(3), item(4, title="상자"), item(9)
GONE = Row("move", "m9", 1, {})

DATE = update("move_in_date", "2026-09-28", "2026-09-30")
BACK = update("move_in_date", "2026-09-30", "2026-09-30", revisions=[41, 43])
BEHIND = update("stage", "new", "booking")
SWITCHED = update("done", False, True, of=C2)
EMPTIED = update("stage", "new", None)
NAMED_ONLY = update("stage")
HIDDEN = update("door_code", revisions=[41, 42])
ROW_GONE = update("stage", "new", "booked", of=GONE)
FOLDED = update(
    "move_in_date",
    "2026-09-28",
    "2026-09-30",
    actors=[PERSON, AGENT],
    threads=[None, "t2"],
    revisions=[41, 42, 44],
)
INSERTED = line("insert", "checklist_item", "c4")
INSERTED_GONE = line("insert", "checklist_item", "c9", values={"title": "Keys"})
DELETED = line("delete", "checklist_item", "c9", values={"title": "Keys", "done": False})
CHANGED_AND_DELETED = line("delete", "checklist_item", "c9", revisions=[41, 42])
DELETED_AND_BACK = line("delete", "checklist_item", "c3")
REPLACED = line("replace", "checklist_item", "c3", revisions=[41, 42])
TRANSIENT = line("transient", "checklist_item", "c9", revisions=[41, 44])

ENGLISH = [
    (
        DATE,
        ("A person changed the move-in date of move m1 from 2026-09-28 to 2026-09-30 (r41). It is now 2026-09-30."),
    ),
    (
        FOLDED,
        (
            "A person and an agent in another conversation changed the move-in date of move m1 "
            "from 2026-09-28 to 2026-09-30 in 3 steps (r41 to r44). It is now 2026-09-30."
        ),
    ),
    (
        BACK,
        (
            "A person changed the move-in date of move m1 and back to 2026-09-30 in 2 steps (r41 to r43). "
            "It is now 2026-09-30."
        ),
    ),
    (BEHIND, 'A person changed the stage of move m1 from "new" to "booking" (r41). It is now "booked".'),
    (
        SWITCHED,
        'A person changed the done of checklist item c2 ("Boxes") from no to yes (r41). It is now no.',
    ),
    (EMPTIED, 'A person changed the stage of move m1 from "new" to empty (r41). It is now "booked".'),
    (NAMED_ONLY, 'A person changed the stage of move m1 (r41). It is now "booked".'),
    (HIDDEN, "A person changed the door code of move m1 in 2 steps (value not shown, r41 to r42)."),
    (
        ROW_GONE,
        'A person changed the stage of move m9 from "new" to "booked" (r41). The move is no longer there.',
    ),
    (INSERTED, 'A person added checklist item c4 ("상자") (r41).'),
    (
        INSERTED_GONE,
        'A person added checklist item c9 ("Keys") (r41). The checklist item is no longer there.',
    ),
    (
        DELETED,
        (
            'A person deleted checklist item c9 ("Keys") (r41). It last said: title: "Keys"; done: no. '
            "It no longer exists."
        ),
    ),
    (
        CHANGED_AND_DELETED,
        "A person changed and then deleted checklist item c9 (r41 to r42). It no longer exists.",
    ),
    (DELETED_AND_BACK, 'A person deleted checklist item c3 ("Boxes") (r41). By now it exists again.'),
    (REPLACED, 'A person deleted checklist item c3 ("Boxes") and added it again (r41 to r42).'),
    (TRANSIENT, "A person added and then deleted checklist item c9 (r41 to r44). It no longer exists."),
]

KOREAN = [
    (
        DATE,
        ("사람이 이사 m1의 입주일을 2026-09-28에서 2026-09-30으로 변경했습니다(r41). 현재 값은 2026-09-30입니다."),
    ),
    (
        FOLDED,
        (
            "사람과 다른 대화의 에이전트가 이사 m1의 입주일을 3번에 걸쳐 2026-09-28에서 2026-09-30으로 "
            "변경했습니다(r41~r44). 현재 값은 2026-09-30입니다."
        ),
    ),
    (
        BACK,
        (
            "사람이 이사 m1의 입주일을 2번에 걸쳐 변경했다가 다시 2026-09-30으로 되돌렸습니다(r41~r43). "
            "현재 값은 2026-09-30입니다."
        ),
    ),
    (
        BEHIND,
        '사람이 이사 m1의 단계를 "new"에서 "booking"(으)로 변경했습니다(r41). 현재 값은 "booked"입니다.',
    ),
    (
        SWITCHED,
        ('사람이 체크리스트 항목 c2("Boxes")의 완료를 아니요에서 예로 변경했습니다(r41). 현재 값은 아니요입니다.'),
    ),
    (EMPTIED, '사람이 이사 m1의 단계를 "new"에서 빈 값으로 변경했습니다(r41). 현재 값은 "booked"입니다.'),
    (NAMED_ONLY, '사람이 이사 m1의 단계를 변경했습니다(r41). 현재 값은 "booked"입니다.'),
    (HIDDEN, "사람이 이사 m1의 출입 코드를 2번에 걸쳐 변경했습니다(값은 표시하지 않음, r41~r42)."),
    (
        ROW_GONE,
        '사람이 이사 m9의 단계를 "new"에서 "booked"(으)로 변경했습니다(r41). 지금은 이 이사가 없습니다.',
    ),
    (INSERTED, '사람이 체크리스트 항목 c4("상자")를 추가했습니다(r41).'),
    (
        INSERTED_GONE,
        '사람이 체크리스트 항목 c9("Keys")를 추가했습니다(r41). 지금은 이 체크리스트 항목이 없습니다.',
    ),
    (
        DELETED,
        (
            '사람이 체크리스트 항목 c9("Keys")를 삭제했습니다(r41). 마지막 값: 제목: "Keys"; 완료: 아니요. '
            "더 이상 존재하지 않습니다."
        ),
    ),
    (
        CHANGED_AND_DELETED,
        "사람이 체크리스트 항목 c9를 변경한 뒤 삭제했습니다(r41~r42). 더 이상 존재하지 않습니다.",
    ),
    (DELETED_AND_BACK, '사람이 체크리스트 항목 c3("Boxes")을 삭제했습니다(r41). 지금은 다시 존재합니다.'),
    (REPLACED, '사람이 체크리스트 항목 c3("Boxes")을 삭제했다가 다시 추가했습니다(r41~r42).'),
    (TRANSIENT, "사람이 체크리스트 항목 c9를 추가했다가 삭제했습니다(r41~r44). 더 이상 존재하지 않습니다."),
]


def told(change, *, language="en", entities=(MOVE, ITEM), **options):
    """Give the sentences under the second heading for one line."""
    block = render(batch(change, rows=(M1, C2, C3, C4), types=TYPES), entities, language=language, **options).split(
        "\n"
    )
    heading = {"en": "CHANGES SINCE LAST SUCCESS", "ko": "마지막 성공 이후 변경 사항"}[language]
    return block[block.index(heading) + 1 : -1]


@pytest.mark.parametrize(("change", "sentence"), ENGLISH)
def test_english(change, sentence):
    """Each kind of line is a sentence; "it is now" tells today's row, whatever the line says."""
    assert [f"- {sentence}"] == told(change)


@pytest.mark.parametrize(("change", "sentence"), KOREAN)
def test_korean(change, sentence):
    """The same in Korean, with the particles that the words before them ask for."""
    assert [f"- {sentence}"] == told(change, language="ko", entities=(MOVE_KO, ITEM_KO))


@pytest.mark.parametrize(
    ("actors", "threads", "english", "korean"),
    [
        ([PERSON], [None], "A person", "사람이"),
        ([PERSON, OTHER_PERSON], [None], "2 people", "사람 2명이"),
        ([AGENT], ["t2"], "An agent in another conversation", "다른 대화의 에이전트가"),
        ([AGENT], ["t1"], "An agent in this conversation", "이 대화의 에이전트가"),
        (
            [AGENT],
            ["t1", "t2"],
            "An agent in this and in another conversation",
            "이 대화와 다른 대화의 에이전트가",
        ),
        ([AGENT], [None], "An agent", "에이전트가"),
        ([JOB], [None], "The job system/nightly", "작업 system/nightly이(가)"),
        (
            [ACCOUNT],
            [None],
            "The database account database/reporting",
            "데이터베이스 계정 database/reporting이(가)",
        ),
        (
            [JOB, PERSON, AGENT],
            [None, "t2"],
            "The job system/nightly, a person and an agent in another conversation",
            "작업 system/nightly, 사람과 다른 대화의 에이전트가",
        ),
    ],
)
def test_actors(actors, threads, english, korean):
    """People are counted and never named by id; agents are placed; jobs and accounts are named."""
    change = update("stage", actors=actors, threads=threads)
    assert [f'- {english} changed the stage of move m1 (r41). It is now "booked".'] == told(change)
    sentence = f'- {korean} 이사 m1의 단계를 변경했습니다(r41). 현재 값은 "booked"입니다.'
    assert [sentence] == told(change, language="ko", entities=(MOVE_KO, ITEM_KO))


def test_names_given_by_the_application():
    """A name is data too: it is quoted."""
    change = update("stage", actors=[PERSON, OTHER_PERSON, AGENT], threads=[None, "t2"])
    names = {"u1": 'Kim "A"\n', "assistant": "Planner"}
    (sentence,) = told(change, names=lambda actor: names.get(actor.id))
    who = r'The person "Kim \u0022A\u0022\n", a person and the agent "Planner" in another conversation'
    assert sentence.startswith(f"- {who} changed")
    (sentence,) = told(change, names=lambda actor: names.get(actor.id), language="ko", entities=(MOVE_KO, ITEM_KO))
    who = r'사용자 "Kim \u0022A\u0022\n", 사람과 다른 대화의 에이전트 "Planner"이(가)'
    assert sentence.startswith(f"- {who} 이사")


def test_no_end_of_names():
    """Four names are written, the rest is counted."""
    actors = [type(PERSON)("system", f"job{number}") for number in range(9)]
    (sentence,) = told(update("stage", actors=actors))
    jobs = ", ".join(f"the job system/job{number}" for number in range(1, 4))
    assert sentence.startswith(f"- The job system/job0, {jobs} and 5 jobs changed")


def test_the_thread_that_reads():
    """Which conversation is "this one" can be said; the batch's own is the default."""
    change = update("stage", actors=[AGENT], threads=["t7"])
    assert told(change)[0].startswith("- An agent in another conversation")
    assert told(change, thread_id="t7")[0].startswith("- An agent in this conversation")


def test_only_exposed_values_are_told():
    """A field hidden by now is named without the value it once had; a secret one is not even named."""
    hiding = Entity(table("move"), expose=["move_in_date"], hidden=["stage"])
    change = update("stage", "WAS", "IS")
    assert ["- A person changed the stage of move m1 (value not shown, r41)."] == told(change, entities=(hiding, ITEM))
    assert ["Nothing changed."] == told(update("alarm_code", "WAS", "IS"))
    deleted = line("delete", "move", "m9", values={"stage": "WAS", "alarm_code": "WAS", "move_in_date": None})
    (sentence,) = told(deleted, entities=(hiding, ITEM))
    assert "WAS" not in sentence
    assert "It last said: move in date: empty." in sentence


def test_p01_rows_that_the_viewer_may_not_see():
    """P01: where rights decide, nothing is told of a row that cannot be seen, not even that it went."""
    private = Entity(table("move"), expose=["stage"], visible=lambda _columns, _viewer: True)
    assert ["Nothing changed."] == told(ROW_GONE, entities=(private, ITEM))
    assert ["Nothing changed."] == told(line("delete", "move", "m9"), entities=(private, ITEM))
    assert told(BEHIND, entities=(private, ITEM)) == [
        '- A person changed the stage of move m1 (r41). It is now "booked".'
    ]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("delete", "Nothing changed."),
        ("transient", "Nothing changed."),
        ("replace", "- A person added move m1 (r41)."),
        ("insert", "- A person added move m1 (r41)."),
    ],
)
def test_earlier_rows_of_an_id_that_is_seen_now(kind: LineKind, expected: str):
    """What a row of the same id held before, or that there was one, is not told where rights decide."""
    private = Entity(table("move"), expose=["stage"], visible=lambda _columns, _viewer: True)
    assert [expected] == told(line(kind, "move", "m1", values={"stage": "secret"}), entities=(private, ITEM))


def test_where_rights_decide_a_returned_value_is_not_told():
    """Neither old values nor that the present one is an old one."""
    private = Entity(table("move"), expose=["stage"], visible=lambda _columns, _viewer: True)
    back = update("stage", "booked", "booked", revisions=[40, 41])
    assert ['- A person changed the stage of move m1 in 2 steps (r40 to r41). It is now "booked".'] == told(
        back, entities=(private, ITEM)
    )


def test_more_who_took_part_than_a_line_names():
    """Those beyond the ones a line names are mentioned; whether this conversation was among them is left open."""
    crowd = dataclasses.replace(
        update("stage", "new", "booked", actors=[PERSON, AGENT], threads=["t8", "t9"]),
        more_actors=True,
        more_threads=True,
    )
    (sentence,) = told(crowd)
    assert sentence.startswith("- A person, an agent and others changed the stage of move m1 from")


def test_half_of_the_values():
    """Where one of the two values is missing the other is told."""
    known = update("stage", "new", "old")
    before = told(dataclasses.replace(known, has_after=False))
    assert ['- A person changed the stage of move m1 from "new" (r41). It is now "booked".'] == before
    after = told(dataclasses.replace(known, has_before=False))
    assert ['- A person changed the stage of move m1 to "old" (r41). It is now "booked".'] == after


def test_entities_that_are_not_described():
    """Changes of a type the model is not told of are counted, without its name."""
    unknown = line("update", "salary", "s1", "amount", 1, 2, told=True, revisions=[41, 42])
    assert ["2 changes concern rows that are not shown to you."] == told(unknown)
    assert ["표시되지 않는 항목의 변경이 2건 있습니다."] == told(unknown, language="ko", entities=(MOVE_KO, ITEM_KO))
