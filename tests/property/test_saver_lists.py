"""Whatever becomes of a list, its ranges give it back, and what is stored already is not stored again."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from abreast.langgraph.saver.codec import Codec, Part
from abreast.langgraph.saver.lists import KnownList, draft_of
from abreast.operations.elements import ElementRow
from abreast.operations.manifests import Listed, Span, joined

CODEC = Codec(JsonPlusSerializer(pickle_fallback=True))


class Log:
    """An element log in memory, as the operations keep it."""

    def __init__(self) -> None:
        self.parts: list[Part] = []

    def store(self, draft: Any) -> Listed:
        """Append what is new, and give the ranges."""
        spans = []
        for piece in draft.pieces:
            if isinstance(piece, Span):
                assert 0 <= piece.start < piece.end <= len(self.parts)
                spans.append(piece)
                continue
            row = ElementRow(len(self.parts), *piece)
            self.parts += CODEC.piece(row, 0, len(row.sizes)).parts()
            spans.append(Span(row.first, row.end))
        return Listed(joined(spans), draft.size, len(self.parts), 0, 0)

    def read(self, listed: Listed) -> list[Part]:
        """Give the bytes of ranges."""
        return [part for start, end in listed.spans for part in self.parts[start:end]]


element = st.one_of(
    st.integers(0, 3),
    st.text(max_size=3),
    st.lists(st.integers(0, 2), max_size=2),
    st.sampled_from([complex(1, 2), None, b"x"]),
)
change = st.one_of(
    st.tuples(st.just("append"), st.lists(element, min_size=1, max_size=3)),
    st.tuples(st.just("remove"), st.integers(0, 20)),
    st.tuples(st.just("replace"), st.integers(0, 20), element),
    st.tuples(st.just("trim"), st.integers(0, 5)),
    st.tuples(st.just("reverse")),
    st.tuples(st.just("copy"), st.integers(0, 20)),
    st.tuples(st.just("in place"), st.integers(0, 20)),
    st.tuples(st.just("reload")),
)


def changed(values: list[Any], how: tuple[Any, ...]) -> list[Any]:
    """Give the list after a change."""
    found, at = list(values), how[1] % len(values) if len(how) > 1 and isinstance(how[1], int) and values else 0
    if how[0] == "append":
        found += how[1]
    elif how[0] == "trim":
        found = found[how[1] :]
    elif how[0] == "reverse":
        found.reverse()
    elif found and how[0] == "remove":
        del found[at]
    elif found and how[0] == "replace":
        found[at] = how[2]
    elif found and how[0] == "copy":
        found.append(found[at])
    elif found and how[0] == "in place" and isinstance(found[at], list):
        found[at].append(9)
    return found


@settings(max_examples=300, deadline=None)
@given(st.lists(element, max_size=12), st.lists(change, max_size=12))
def test_ranges_give_the_list_back(values: list[Any], changes: list[tuple[Any, ...]]) -> None:
    """I10 I11: through appends, trims, edits, moves and changes in place, with and without the objects."""
    log = Log()
    draft, parts = draft_of(CODEC, values, None, everything=True)
    listed, objects = log.store(draft), list(values)
    for how in changes:
        values = changed(values, how)
        before = len(log.parts)
        known = KnownList(listed, None if how[0] == "reload" else objects, log.read(listed), current=True)
        draft, parts = draft_of(CODEC, values, known, everything=True)
        listed, objects = log.store(draft), list(values)
        assert parts == log.read(listed) == [CODEC.part(each) for each in values]
        assert draft.size == sum(len(part.data) for part in parts)
        assert values == CODEC.elements(
            [
                piece
                for row in [ElementRow(0, *r) for r in CODEC.rows(parts)]
                for piece in [CODEC.piece(row, 0, len(row.sizes))]
            ]
        )
        if how[0] in ("trim", "remove", "reverse", "reload"):
            assert before == len(log.parts)
