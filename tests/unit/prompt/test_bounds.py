"""The block never grows past its bound, and what is left out is counted."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abreast.errors import InvalidInput
from abreast.model.entity import Row
from abreast.prompt import render
from tests.unit.prompt.batches import ITEM, ITEM_KO, MOVE, MOVE_KO, batch, item, line, update

TYPES = ("move", "checklist_item")
LEFT_OUT = re.compile(r"([0-9]+) more (?:moves?|checklist items?) (?:is|are) not listed\.")

texts = st.one_of(st.text(max_size=20), st.text(min_size=200, max_size=1_500))


def moves(count, text="x"):
    """Give that many moves."""
    return [Row("move", f"m{number}", 1, {"stage": text, "move_in_date": None}) for number in range(count)]


@st.composite
def batches(draw):
    """Give a batch of any size, with rows inside and outside of the snapshot, long and short."""
    rows = moves(draw(st.integers(0, 30)), draw(texts)) + [
        item(number, title=draw(texts)) for number in range(draw(st.integers(0, 5)))
    ]
    changed = draw(st.lists(st.sampled_from(rows), max_size=30)) if rows else []
    lines = [
        update("stage", draw(texts), draw(texts), of=row)
        if row.entity_type == "move"
        else line("delete", "checklist_item", row.entity_id, values=row.values)
        for row in changed
    ]
    more = draw(st.integers(0, 1_000))
    return batch(
        *lines,
        rows=[row for row in rows if row not in changed or draw(st.booleans())],
        outside=changed,
        types=TYPES,
        totals={"move": 30 + more, "checklist_item": 5},
        remaining=more,
    )


def render_or_refuse(*arguments, **options):
    """Give the block, or None where `max_bytes` has no room for its frame."""
    try:
        return render(*arguments, **options)
    except InvalidInput:
        return None


@settings(max_examples=150, deadline=None)
@given(batches(), st.integers(800, 12_000), st.sampled_from(["en", "ko"]))
def test_never_longer_than_allowed(given_batch, max_bytes, language):
    """Whatever the rows hold, the block fits, or it is said that the frame alone does not."""
    entities = [MOVE, ITEM] if language == "en" else [MOVE_KO, ITEM_KO]
    block = render_or_refuse(given_batch, entities, language=language, max_bytes=max_bytes)
    assert block is not None or max_bytes < 2_000
    assert len((block or "").encode()) <= max_bytes
    assert block == render_or_refuse(given_batch, entities, language=language, max_bytes=max_bytes)


@settings(max_examples=100, deadline=None)
@given(batches(), st.integers(2_000, 12_000))
def test_every_row_is_listed_or_counted(given_batch, max_bytes):
    """Listed rows and the counts of those left out make up the totals."""
    block = render(given_batch, [MOVE, ITEM], max_bytes=max_bytes).split("\n")
    current = block[block.index("CURRENT") + 1 : block.index("CHANGES SINCE LAST SUCCESS")]
    listed = sum(text.startswith("- ") for text in current)
    counted = sum(int(found[1]) for text in current if (found := LEFT_OUT.fullmatch(text)))
    outside = {
        row.entity_id
        for row in given_batch.current.values()
        if row and row not in [other for part in given_batch.snapshot.entities for other in part.rows]
    }
    assert sum(part.total for part in given_batch.snapshot.entities) + len(outside) == listed + counted


def test_changed_rows_come_before_others():
    """Where there is room for some rows only, these are the changed ones, in the entity's order."""
    rows = moves(60)
    given_batch = batch(update("stage", "a", "x", of=rows[50]), update("stage", "a", "x", of=rows[40]), rows=rows)
    block = render(given_batch, [MOVE], max_bytes=1_500)
    listed = re.findall(r"^- move (m[0-9]+) \(", block, flags=re.MULTILINE)
    assert {"m40", "m50"} < set(listed)
    assert sorted(listed, key=lambda name: int(name[1:])) == listed
    assert f"{60 - len(listed)} more moves are not listed." in block


def test_a_long_row_is_cut_before_it_is_left_out():
    """A row that does not fit as it is fits with its values cut shorter."""
    block = render(batch(rows=moves(2, "x" * 400)), [MOVE], max_bytes=1_010)
    first, second = re.findall(r"^- move m.*$", block, flags=re.MULTILINE)
    assert "x" * 400 in first
    assert '"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" (cut, 400 characters in all)' in second


def test_long_changes_leave_half_of_the_room_to_the_rows():
    """Values in changes are cut before rows are left out."""
    lines = [update("stage", "a" * 400, "b" * 400, of=row) for row in moves(10)]
    block = render(batch(*lines, rows=moves(10)), [MOVE], max_bytes=6_000)
    assert 10 == len(re.findall(r"^- move m", block, flags=re.MULTILINE))
    assert 10 == block.count("- A person changed")
    assert "(cut, 400 characters in all)" in block


@pytest.mark.parametrize(
    ("language", "told"),
    [
        (
            "en",
            (
                r"([0-9]+) more changes are not written out here for want of room \(r41 to r43\): "
                r"[0-9]+ of checklist items, [0-9]+ of moves\. Call list_changes to see them\."
            ),
        ),
        (
            "ko",
            (
                r"자리가 부족하여 변경 ([0-9]+)건은 적지 않았습니다\(r41~r43\): "
                r"이사 [0-9]+건, 체크리스트 항목 [0-9]+건\. list_changes로 확인하십시오\."
            ),
        ),
    ],
)
def test_changes_that_do_not_fit_are_counted(language, told):
    """No change is dropped in silence: those without room are counted with their revisions."""
    rows = [row for number, move in enumerate(moves(30)) for row in (move, item(number))]
    lines = [
        update("stage" if row.entity_type == "move" else "title", "a", "b", of=row, revisions=[41, 43]) for row in rows
    ]
    entities = [MOVE, ITEM] if language == "en" else [MOVE_KO, ITEM_KO]
    block = render(batch(*lines, rows=rows, types=TYPES), entities, language=language, max_bytes=3_000)
    (count,) = (int(found[1]) for text in block.split("\n") if (found := re.fullmatch(told, text)))
    assert 60 == count + block.count("- A person changed") + block.count("- 사람이")


def test_one_change_that_does_not_fit():
    """The last resort is to count all of them."""
    given_batch = batch(update("stage", "a" * 100, "b" * 100, of=moves(1)[0]), rows=[])
    block = render(given_batch, [MOVE], max_bytes=580)
    told = "1 more change is not written out here for want of room (r41): 1 of moves."
    assert f"{told} Call list_changes to see it." in block.split("\n")
