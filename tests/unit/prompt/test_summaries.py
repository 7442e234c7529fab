"""Changes that are counted instead of listed."""

import dataclasses
import datetime as dt

from abreast.model.event import Actor
from abreast.prompt import render
from tests.unit.prompt.batches import AGENT, JOB, MOVE, MOVE_KO, PERSON, batch, counted
from tests.unit.prompt.reading import changes

SUMMED = [
    counted("update", PERSON, count=312, rows=40),
    counted("insert", JOB, count=12, rows=12),
    counted("delete", AGENT, count=1, rows=1),
]


def test_summary():
    """Changes that are only counted are told by type, actor and period, with the way to see them."""
    assert [
        "- A person changed 40 moves in 312 steps between 2026-09-01 and 2026-09-20 (r100 to r900).",
        "- The job system/nightly added 12 moves between 2026-09-01 and 2026-09-20 (r100 to r900).",
        "- An agent deleted 1 move between 2026-09-01 and 2026-09-20 (r100 to r900).",
        "These changes are summed up because they are too many to list. Call list_changes to see them.",
    ] == changes(render(batch(summary=SUMMED), [MOVE]))
    korean = render(batch(summary=SUMMED), [MOVE_KO], language="ko").split("\n")
    assert [
        "- 사람이 2026-09-01부터 2026-09-20까지 이사 40건을 312번 변경했습니다(r100~r900).",
        "- 작업 system/nightly이(가) 2026-09-01부터 2026-09-20까지 이사 12건을 추가했습니다(r100~r900).",
        "- 에이전트가 2026-09-01부터 2026-09-20까지 이사 1건을 삭제했습니다(r100~r900).",
        "위 변경은 하나씩 적기에 너무 많아 합산했습니다. 자세한 내용은 list_changes로 확인하십시오.",
    ] == korean[korean.index("마지막 성공 이후 변경 사항") + 1 : -1]


def test_summary_of_one_day_and_other_zones():
    """A day is a day of the zone that is asked for."""
    given = batch(summary=[counted("update", PERSON, count=1, rows=1)])
    (told, _) = changes(render(given, [MOVE], time_zone=dt.timezone(dt.timedelta(hours=-1))))
    assert "between 2026-08-31 and 2026-09-19" in told
    one = given.summary[0]
    same_day = dataclasses.replace(one, last_at=one.first_at + 1)
    (told, _) = changes(render(batch(summary=[same_day]), [MOVE]))
    assert "- A person changed 1 move on 2026-09-01 (r100 to r900)." == told
    korean = render(batch(summary=[same_day]), [MOVE_KO], language="ko")
    assert "- 사람이 2026-09-01에 이사 1건을 변경했습니다(r100~r900)." in korean


def test_summary_of_many_people():
    """Actors that are told alike are told once, and a crowd of names does not fill the block."""
    crowd = [counted("update", Actor.user(f"u{number}"), count=10, rows=3) for number in range(50)]
    (told, _) = changes(render(batch(summary=crowd), [MOVE]))
    assert "- 50 people changed moves 500 times between 2026-09-01 and 2026-09-20 (r100 to r900)." == told
    named = render(batch(summary=crowd), [MOVE], names=lambda actor: actor.id)
    (told, _) = changes(named)
    people = ", ".join(f'the person "u{number}"' for number in range(1, 4))
    assert told.startswith(f'- The person "u0", {people} and 46 people changed moves 500 times')
    korean = render(batch(summary=crowd), [MOVE_KO], language="ko")
    assert "사람 50명이 2026-09-01부터 2026-09-20까지 이사를 500번 변경했습니다" in korean


def test_summary_of_what_is_not_described():
    """Counts of a type that is not described do not name it."""
    salaries = counted("update", PERSON, count=7, rows=2, entity_type="salary")
    assert ["7 changes concern rows that are not shown to you."] == changes(render(batch(summary=[salaries]), [MOVE]))
