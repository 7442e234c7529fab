"""I9: a hidden, secret or unexposed field's value is in no event, prompt, log line, error or table of abreast."""

import logging
import secrets
import traceback
import uuid
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from abreast import AbreastError
from abreast.prompt import render
from abreast.prompt.languages import LANGUAGES
from tests.contract.product import ENTITIES, Move, Size, vault

MARK = f"canary{secrets.token_hex(6)}"
DAY = date(1913, 7, 21)
NUMBER = 1_913_072_119
AMOUNT = Decimal("19130721.19")
ID = uuid.uuid4()
"""What is looked for everywhere: random, and written in every way a value may be written."""
CANARIES = (
    MARK,
    str(DAY),
    repr(DAY).partition("(")[2].rstrip(")"),
    str(NUMBER),
    str(AMOUNT),
    str(ID),
    ID.hex,
)
"""Engines log what they send where the application turns that on; what is left is abreast's."""
NOT_OURS = ("sqlalchemy.engine", "sqlalchemy.pool")


def fields(**more: Any) -> dict[str, Any]:
    """Give a value for every field that must come out nowhere."""
    texts = (
        "hidden_text",
        "hidden_required",
        "hidden_checked",
        "hidden_late",
        "secret_text",
        "secret_checked",
        "other_text",
    )
    return {
        **{name: f"{MARK}-{name}" for name in texts},
        "hidden_day": DAY,
        "hidden_moment": datetime(1913, 7, 21, 3, 4, 5),  # noqa: DTZ001 - a column without a zone
        "hidden_amount": AMOUNT,
        "hidden_size": Size.LARGE,
        "hidden_id": ID,
        "hidden_count": NUMBER,
        "hidden_json": {MARK: [MARK]},
        **more,
    }


def other(place: int) -> dict[str, Any]:
    """Give other such values, of which the unique ones are taken by nobody."""
    texts = ("hidden_text", "hidden_late", "secret_text", "other_text")
    return fields(**{name: f"{MARK}-{name}-{place}" for name in texts})


REFUSED: dict[str, dict[str, Any]] = {
    "unique, hidden": {"hidden_text": f"{MARK}-hidden_text"},
    "unique, secret": {"secret_text": f"{MARK}-secret_text"},
    "unique, unexposed": {"other_text": f"{MARK}-other_text"},
    "check, hidden": {"hidden_checked": f"bad {MARK}"},
    "check, secret": {"secret_checked": f"bad {MARK}"},
    "not null": {"hidden_required": None},
    "no such parent": {"hidden_parent": MARK},
    "no date": {"hidden_day": MARK},
    "no datetime": {"hidden_moment": MARK},
    "no number": {"hidden_amount": MARK},
    "not finite": {"hidden_amount": Decimal("NaN")},
    "number too large": {"hidden_amount": Decimal(f"{NUMBER}e30")},
    "no choice": {"hidden_size": MARK},
    "no uuid": {"hidden_id": MARK},
    "a number for a uuid": {"hidden_id": NUMBER},
    "no integer": {"hidden_count": MARK},
    "integer too large": {"hidden_count": int(f"{NUMBER}{'0' * 30}")},
    "no json": {"hidden_json": {MARK: {NUMBER, MARK}}},
    "no json key": {"hidden_json": {NUMBER: MARK}},
    "no json number": {"hidden_json": {MARK: float("inf")}},
    "no text": {"hidden_text": NUMBER},
    "nul": {"secret_text": f"{MARK}\0"},
    "nul in json": {"hidden_json": [f"{MARK}\0"]},
    "lone surrogate": {"other_text": f"{MARK}\ud800"},
    "surrogate in json": {"hidden_json": {f"{MARK}\udfff": 1}},
}
POSTGRESQL_ONLY: dict[str, dict[str, Any]] = {
    "too long": {"hidden_text": f"{MARK}{'x' * 60}"},
    "unique at commit": {"hidden_late": f"{MARK}-hidden_late"},
}


def leaks(*texts: str) -> list[str]:
    """Give the places where a canary stands, with what stands around it."""
    return [
        text[max(0, text.index(canary) - 60) : text.index(canary) + 60]
        for text in texts
        for canary in CANARIES
        if canary in text
    ]


def written(error: BaseException) -> Iterator[str]:
    """Give all that an error says, printed or not, with everything it is chained to."""
    yield "".join(traceback.format_exception(error))
    seen: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or current in seen:
            continue
        seen.append(current)
        waiting += [current.__cause__, current.__context__]
        yield f"{current} {current!r} {current.args} {getattr(current, '__notes__', '')}"
        yield repr({name: value for name, value in vars(current).items() if not name.startswith("_")})


@pytest.fixture
def logged(caplog):
    """Give what is logged at any level by anybody but an engine."""
    caplog.set_level(logging.DEBUG)
    return lambda: [
        f"{record.name} {record.getMessage()} {record.exc_text}"
        for record in caplog.records
        if not record.name.startswith(NOT_OURS)
    ]


@pytest.fixture
def full(client):
    """Give a workspace with two rows whose hidden fields are all canaries."""
    client.insert(vault, {"id": "v0", "label": "kept", **other(0)})
    client.insert(vault, {"id": "v1", "label": "kept", **fields()})
    client.open_thread()
    return client


def test_writes_and_batches_say_nothing(full, logged):
    """Insertion, update, deletion and move leave no hidden value in log, results, receipts, batches or blocks. I9"""
    said = []
    with full.write(mutation_id="k1", source_thread_id="t2") as write:
        write.update(vault, "v1", other(2), expected_version=1)
        write.insert(vault, {"id": "v2", **other(3)})
    said += map(repr, write.results)
    said.append(repr(full.update(vault, "v1", other(2), "any", mutation_id="k2")))
    full.delete(vault, "v2")
    with full.write() as write:
        write.update(vault, "v1", {**other(4), "workspace_id": "w2"}, expected_version=2, to_workspace="w2")
    full.update(vault, "v1", other(5), 3, "w2", merge="fields")
    for workspace_id, thread_id in (("w1", "t1"), ("w2", "t2")):
        batch = full.read_batch(workspace_id, thread_id)
        assert batch.lines or workspace_id == "w2"
        said += [repr(batch), repr(full.snapshot(workspace_id)), repr(full.changes(workspace_id))]
        said += [render(batch, ENTITIES, language=name) for name in LANGUAGES]
    assert [] == leaks(*said, *logged(), full.dump())


def test_names_that_may_be_said_are(full):
    """What changed is still told: hidden and unexposed fields by name, secret ones not. I9"""
    full.update(vault, "v1", {**other(2), "label": "changed"}, 1)
    named = set(full.changes()[-1].changed_fields)
    assert {"label", "hidden_text", "hidden_late", "other_text"} == named
    assert {"label", "hidden_text", "hidden_late"} == {line.field for line in full.read_batch().lines}
    assert "hidden text" in render(full.read_batch(), ENTITIES)
    assert "secret" not in full.dump().replace("'secret':", "")


def cases(kind: str) -> dict[str, dict[str, Any]]:
    """Give what a kind of database refuses."""
    return REFUSED | (POSTGRESQL_ONLY if kind == "postgresql" else {})


def refused(call) -> Iterator[str]:
    """Give what the refusal of a call says; a call that was not refused, or not by abreast, says so."""
    try:
        call()
    except AbreastError as error:
        yield from written(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not come out
        yield f"{MARK} came out as {type(error).__name__}"
    else:
        yield f"{MARK} was taken"


def test_refused_writes_say_nothing(full, logged):
    """Whatever the database or abreast refuses, the error is abreast's and holds no hidden value. I9"""
    found = {}
    for place, (name, wrong) in enumerate(cases(full.kind).items()):
        insertion = {"id": f"n{place}", **other(100 + place), **wrong}
        said = [
            *refused(lambda row=insertion: full.insert(vault, row)),
            *refused(lambda row=insertion, key=name: full.insert(vault, row, mutation_id=key)),
        ]
        said += refused(lambda values=wrong: full.update(vault, "v0", {**other(300), **values}))
        found[name] = leaks(*said)
    assert {} == {name: places for name, places in found.items() if places}
    assert [] == leaks(*logged(), full.dump())


@pytest.mark.parametrize("kind", ["connection", "session"])
def test_refused_writes_in_the_callers_transaction_say_nothing(full, kind, logged):
    """The same in a transaction of the application, whose engine does not hide parameters. I9"""
    unchecked = {"unique at commit", *(["no such parent"] if full.kind == "sqlite" else [])}
    found = {}
    for name, wrong in cases(full.kind).items():
        if name in unchecked:
            continue
        said = []
        for call in (
            lambda within, wrong=wrong: full.insert(vault, {"id": "n1", **other(4), **wrong}, within=within),
            lambda within, wrong=wrong: full.update(vault, "v0", {**other(4), **wrong}, within=within),
        ):
            with full.own(kind) as own:
                said += refused(lambda call=call, within=own.raw: call(within))
                own.rollback()
        found[name] = leaks(*said)
    assert {} == {name: places for name, places in found.items() if places}
    assert [] == leaks(*logged(), full.dump())


def test_conflicts_and_wrong_names_say_nothing(full):
    """A stale version, a row that is not there, unknown fields, reused ids: none repeats what was to be written. I9"""
    full.update(vault, "v1", other(2), 1, mutation_id="k1")
    full.insert(vault, {"id": "v2", **other(3)})
    said = [
        *refused(lambda: full.update(vault, "v1", other(4), 1)),
        *refused(lambda: full.update(vault, "v9", other(4), 1)),
        *refused(lambda: full.update(vault, "v2", other(4), 1, "w2")),
        *refused(lambda: full.update(vault, "v1", {**other(4), "nothing": MARK})),
        *refused(lambda: full.insert(vault, {"id": "v3", **other(4), "nothing": MARK})),
        *refused(lambda: full.update(vault, "v1", other(5), 2, mutation_id="k1")),
        *refused(lambda: full.update(vault, "v1", {**other(4), "id": MARK})),
        *refused(lambda: full.update(vault, "v1", {**other(4), "version": NUMBER})),
        *refused(lambda: full.update(vault, "v1", {**other(4), "workspace_id": "w2"})),
        *refused(lambda: full.insert(Move, {"id": "m9", "door_code": MARK, "stage": None})),
    ]
    assert [] == leaks(*said)
    assert [] == leaks(full.dump())


def test_secret_fields_are_not_named_to_who_guesses(full):
    """An unknown field's error lists the fields there are, without the secret ones. I9"""
    said = [*refused(lambda: full.update(vault, "v1", {"nothing": 1}))]
    assert "hidden_text" in "".join(said)
    assert "secret_text" not in "".join(said)
