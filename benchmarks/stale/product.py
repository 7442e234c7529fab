"""The product that the questions are about: its rows, how they are described to abreast, and a value of each field."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import Column, Date, Integer, MetaData, String, Table

from abreast import Entity

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

metadata = MetaData()


def _table(name: str, *fields: Column[Any]) -> Table:
    return Table(
        name,
        metadata,
        Column("id", String(20), primary_key=True),
        Column("workspace_id", String(40), nullable=False),
        *fields,
        Column("version", Integer, nullable=False),
    )


move = _table("move", Column("move_in_date", Date), Column("stage", String(40)), Column("keyholder", String(40)))
delivery = _table("delivery", Column("arrival_date", Date), Column("carrier", String(40)), Column("boxes", Integer))
inspection = _table(
    "inspection", Column("inspection_date", Date), Column("inspector", String(40)), Column("result", String(40))
)
contract = _table("contract", Column("deposit", Integer), Column("start_date", Date), Column("state", String(40)))

ENTITIES: Final = (
    Entity(move, expose=["move_in_date", "stage", "keyholder"], labels={"move_in_date": "move-in date"}),
    Entity(delivery, expose=["arrival_date", "carrier", "boxes"]),
    Entity(inspection, expose=["inspection_date", "inspector", "result"]),
    Entity(contract, expose=["deposit", "start_date", "state"]),
)
IDS: Final[Mapping[str, str]] = {"move": "m1", "delivery": "d1", "inspection": "i1", "contract": "c1"}

FIRST_NAMES: Final = ("Mira", "Tomas", "Ines", "Karl", "Noor", "Pavel", "Lena", "Omar")
CARRIERS: Final = ("Bluevan", "Carryall", "Northbox", "Swiftload", "Parcelia", "Wheelhouse")


class Field(NamedTuple):
    """
    A field that is asked about.

    Attributes:
        said: What the assistant says of a value.
        questions: Ways to ask for it.
        value: Draws a value.
    """

    entity: str
    name: str
    said: str
    questions: tuple[str, str]
    value: Callable[[random.Random], Any]


def _day(dice: random.Random) -> date:
    return date(2026, dice.choice((9, 10, 11)), dice.randint(2, 28))


def _one_of(*values: Any) -> Callable[[random.Random], Any]:
    return lambda dice: dice.choice(values)


FIELDS: Final = (
    Field("move", "move_in_date", "You move in on {}.", ("When do I move in?", "What is my move-in date?"), _day),
    Field(
        "move",
        "stage",
        "The move is {}.",
        ("What is the stage of my move?", "How far is my move?"),
        _one_of("planned", "booked", "packed", "finished"),
    ),
    Field(
        "move",
        "keyholder",
        "{} holds the key.",
        ("Who holds the key?", "Who is the keyholder of my move?"),
        _one_of(*FIRST_NAMES),
    ),
    Field(
        "delivery",
        "arrival_date",
        "The delivery arrives on {}.",
        ("When does the delivery arrive?", "What is the arrival date of the delivery?"),
        _day,
    ),
    Field(
        "delivery",
        "carrier",
        "The carrier is {}.",
        ("Which carrier brings the delivery?", "Who is the carrier of the delivery?"),
        _one_of(*CARRIERS),
    ),
    Field(
        "delivery",
        "boxes",
        "The delivery has {} boxes.",
        ("How many boxes are in the delivery?", "How many boxes does the delivery have?"),
        lambda dice: dice.randint(31, 98),
    ),
    Field(
        "inspection",
        "inspection_date",
        "The inspection is on {}.",
        ("When is the inspection?", "What is the date of the inspection?"),
        _day,
    ),
    Field(
        "inspection",
        "inspector",
        "The inspector is {}.",
        ("Who is the inspector?", "Who does the inspection?"),
        _one_of(*FIRST_NAMES),
    ),
    Field(
        "inspection",
        "result",
        "The result of the inspection is {}.",
        ("What is the result of the inspection?", "How did the inspection end?"),
        _one_of("pending", "passed", "failed", "postponed"),
    ),
    Field(
        "contract",
        "deposit",
        "The deposit is {} euros.",
        ("How high is the deposit?", "What is the deposit of my contract?"),
        lambda dice: dice.randrange(550, 2950, 50),
    ),
    Field(
        "contract",
        "start_date",
        "The contract starts on {}.",
        ("When does the contract start?", "What is the start date of my contract?"),
        _day,
    ),
    Field(
        "contract",
        "state",
        "The contract is {}.",
        ("What is the state of my contract?", "What is the contract's state?"),
        _one_of("drafted", "sent", "signed", "cancelled"),
    ),
)
