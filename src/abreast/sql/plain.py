"""Tell the keys and values that stay as they are, which most do, from those that have to be looked at one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from abreast.sql.columns import KEY_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

_KEYS: Final = frozenset({str, int})
_TEXTS: Final = frozenset({str, type(None)})
_WHOLE_NUMBERS: Final = frozenset({int, type(None)})


def is_plain_id(text: str) -> bool:
    """Say whether a text is an id that `check_id` takes."""
    return text.isascii() and text.isprintable() and 0 < len(text) <= KEY_BYTES


def plain_ids(keys: Sequence[Any]) -> list[str] | None:
    """Write keys as ids that `check_id` takes, all of them at once; None where each has to be looked at."""
    if not _KEYS.issuperset(map(type, keys)):
        return None
    ids = list(map(str, keys))
    text = "".join(ids)
    plain = text.isascii() and text.isprintable() and all(ids) and max(map(len, ids), default=0) <= KEY_BYTES
    return ids if plain else None


def are_json(values: Sequence[Any]) -> bool:
    """Say whether all values are their own JSON values: whole numbers or texts without a NUL, as most columns hold."""
    kinds = set(map(type, values))
    if not kinds <= _TEXTS:
        return kinds <= _WHOLE_NUMBERS
    # One look at all of them takes a fraction of the time of one at each.
    text = "".join(filter(None, values))
    return text.isascii() and "\0" not in text
