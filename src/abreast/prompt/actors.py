"""Group the actors of a change: people are counted, not named, unless the application gives their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from abreast.model.event import Actor, ActorType
from abreast.prompt.quoting import quote, write_name
from abreast.prompt.sentences import Party

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from abreast.prompt.sentences import Place

Names = Callable[[Actor], str | None]
"""Gives the name an actor is shown by; None where it is shown without one."""

Named = tuple[ActorType, str | None]

_MOST_NAMED = 4
_NAME_LENGTH = 80
_NAMED_BY_ID = ("system", "database")


def parties(
    actors: Sequence[Actor],
    threads: Iterable[str | None],
    *,
    thread_id: str,
    names: Names | None,
    more_threads: bool = False,
) -> tuple[Party, ...]:
    """
    Group actors in order of appearance.

    At most four names are written, the others are counted by type. Ids of people and agents never are.

    Args:
        threads: Threads whose runs took part; None stands for no thread.
        thread_id: The thread that reads.
        more_threads: Whether further threads took part, which can be the one that reads.
    """
    place = _place({thread for thread in threads if thread is not None}, thread_id, more=more_threads)
    everyone = {(actor.type, actor.id): actor for actor in actors}
    named: list[Named] = [(actor.type, _name(actor, names)) for actor in everyone.values()]
    written = list(dict.fromkeys(key for key in named if key[1] is not None))[:_MOST_NAMED]
    groups = Counter[Named](key if key in written else (key[0], None) for key in named)
    return tuple(Party(type_, name, count, place) for (type_, name), count in groups.items())


def _name(actor: Actor, names: Names | None) -> str | None:
    name = names(actor) if names is not None else None
    if name:
        return quote(name[:_NAME_LENGTH])
    if actor.type in _NAMED_BY_ID:
        return f"{actor.type}/{write_name(actor.id)}"
    return None


def _place(threads: set[str], thread_id: str, *, more: bool) -> Place:
    if not threads or (more and thread_id not in threads):
        return "unknown"
    if thread_id not in threads:
        return "elsewhere"
    return "here" if len(threads) == 1 else "both"
