"""Values that a database could refuse, change or lose."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel

from abreast.testing.saver_contract.graphs import line
from abreast.testing.saver_contract.results import ContractBroken
from abreast.testing.saver_contract.stage import at, begun, put

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from abreast.testing.saver_contract.stage import Stage

_MEGABYTES: Final = 20_000_000


class Money(BaseModel):
    """A value of an application's own."""

    amount: float
    currency: str = "EUR"


@dataclass
class Point:
    """Another one."""

    x: int
    y: int


def zero_characters(stage: Stage) -> None:
    """A text may have the character 0, in a channel of its own, in a list and as a key."""
    _come_back(stage, alone="a\x00b", long="a\x00b" * 40, listed=["\x00" * 70, "ok"], key={"a\x00": 1})


def numbers_that_are_none(stage: Stage) -> None:
    """Not-a-number and infinity come back."""
    _come_back(stage, nan=math.nan, inf=-math.inf, listed=[math.nan] * 80, nested={"a": [math.nan]})


def lone_surrogates(stage: Stage) -> None:
    """Half a character, as cut texts have it, is stored as the serializer writes it."""
    _come_back(stage, alone="\udfff", long="lone \ud800 " * 20, listed=["\ud800 " * 50, "ok"])


def empty_values(stage: Stage) -> None:
    """What is empty is not taken for what is missing."""
    _come_back(
        stage, none=None, text="", data=b"", listed=[], mapped={}, zero=0, no=False, many=[[], {}, "", None, b""] * 30
    )


def bytes_and_large_numbers(stage: Stage) -> None:
    """Bytes stay bytes, large numbers exact, numbers and tuples what the serializer makes of them."""
    _come_back(stage, data=b"\x00\xff" * 60, large=2**63, negative=-(2**62), one=1.0, pair=(1, "x"), keys={3: "x"})


def nested_values(stage: Stage) -> None:
    """Lists of lists and mappings of lists come back."""
    nested = {"list": [1, 2.5, None, True, "x"], "dict": {"a": [b"\x00\xff"]}, 3: "int key"}
    _come_back(stage, nested=nested, lists=[[number, [number]] for number in range(80)], deep=[[[[nested]]]])


def models_and_dataclasses(stage: Stage) -> None:
    """Values of an application's own types come back as such."""
    _come_back(
        stage,
        model=Money(amount=1.5),
        point=Point(1, 2),
        models=[Money(amount=number) for number in range(20)],
        points=[Point(number, 1) for number in range(20)],
        messages=[HumanMessage("x" * 99, id="1"), AIMessage([{"type": "text", "text": "y"}], id="2")],
    )


def twenty_megabytes(stage: Stage) -> None:
    """A text and a list of 20 MB come back."""
    _come_back(stage, text="x" * _MEGABYTES, writes=False)
    _come_back(stage, listed=[b"y" * _MEGABYTES], writes=False)


def containers(stage: Stage) -> str:
    """What comes back is stored as the same bytes again; the types that the serializer does not keep are named."""
    given: dict[str, Any] = {
        "defaultdict": defaultdict(list, a=[1]),
        "Counter": Counter("abca"),
        "OrderedDict": OrderedDict(b=1, a=2),
        "deque": deque([1, 2], maxlen=5),
        "set": {1},
        "frozenset": frozenset({1}),
        "tuple": (1, 2),
    }
    first = _come_back(stage, **given)
    lost = [name for name, value in given.items() if not _is_kept(value, first[name])]
    _come_back(stage, **first)
    return f"not kept by the serializer: {', '.join(lost)}" if lost else ""


def _is_kept(given: Any, found: Any) -> bool:
    return type(given) is type(found) and given == found and getattr(given, "maxlen", 0) == getattr(found, "maxlen", 0)


def types_in_strict_mode(stage: Stage) -> None:
    """With a serializer that restores only known types, those of the graph's state are restored."""
    writes, reads = stage.replica(), stage.replica()
    for replica in (writes, reads):
        replica.saver.serde = JsonPlusSerializer(allowed_msgpack_modules=None)
        replica.saver = replica.saver.with_allowlist([(__name__, "Money"), (__name__, "Point")])
    config = stage.config()
    graph = line(dict, ("pay", lambda _state: {"money": Money(amount=1), "log": [Money(amount=2)], "at": Point(1, 2)}))
    writes.invoke(writes.compile(graph), {"money": None}, config)
    writes.invoke(writes.compile(graph), {"money": None}, config)
    found = reads.state(reads.compile(graph), config).values
    wanted = {"money": Money(amount=1), "log": [Money(amount=2)], "at": Point(1, 2)}
    if _values_of(found) != wanted:
        raise ContractBroken(f"{wanted} came back as {found}")


def _values_of(state: Any) -> Any:
    return state.get("__root__", state) if isinstance(state, dict) else state  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def _come_back(stage: Stage, *, writes: bool = True, **given: Any) -> dict[str, Any]:
    """Store values as channels and as pending writes, load them elsewhere, and compare bytes."""
    serde = JsonPlusSerializer()
    first, second = stage.replica(), stage.replica()
    thread_id = stage.config()["configurable"]["thread_id"]
    wanted = {name: serde.loads_typed(serde.dumps_typed(value)) for name, value in given.items()}
    config = begun(first, thread_id, {**given, "beside": "x"}).config
    if writes:
        first.call("put_writes", config, list(given.items()), "task")
    found = second.get(at(thread_id))
    _compare(wanted, {name: value for name, value in found.checkpoint["channel_values"].items() if name != "beside"})
    if writes:
        _compare(wanted, {channel: value for _, channel, value in found.pending_writes})
    put(second, found, {"beside": "y"})
    _compare({**wanted, "beside": "y"}, first.get(at(thread_id)).checkpoint["channel_values"])
    return wanted


def _compare(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    serde = JsonPlusSerializer()
    missing = sorted(wanted.keys() - found.keys())
    if missing:
        raise ContractBroken(f"without an error {', '.join(missing)} came back as nothing")
    other = [name for name in wanted if serde.dumps_typed(wanted[name]) != serde.dumps_typed(found[name])]
    if other:
        name = other[0]
        raise ContractBroken(f"{name}: {wanted[name]!r:.80} came back as {found[name]!r:.80}")


STEPS: Final[Mapping[Callable[[Stage], str | None], tuple[Any, ...]]] = dict.fromkeys(
    (
        zero_characters,
        numbers_that_are_none,
        lone_surrogates,
        empty_values,
        bytes_and_large_numbers,
        nested_values,
        models_and_dataclasses,
        twenty_megabytes,
        containers,
        types_in_strict_mode,
    ),
    (),
)
