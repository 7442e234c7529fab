"""The domains of τ²-bench: their tasks, their environments, and the rows their databases hold."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic import BaseModel
    from tau2.data_model.tasks import Task
    from tau2.environment.environment import Environment

Side = Literal["assistant", "user"]
Row = dict[str, Any]
State = dict[str, dict[str, Row]]
"""Rows by entity and key; values as the pydantic models dump them to JSON."""

SINGLETON_KEY = "id"
SINGLETON_ID = "only"


@dataclass(frozen=True, slots=True)
class Collection:
    """
    A part of a domain's database that becomes one table.

    Attributes:
        entity: The entity type, unique within the domain.
        side: Whose database it is in.
        attribute: Its name in that database: a dict or list of models, or one model.
        key: The field that identifies a row; `SINGLETON_KEY` where there is one model.
    """

    entity: str
    side: Side
    attribute: str
    key: str


DOMAINS: dict[str, tuple[Collection, ...]] = {
    "retail": (
        Collection("product", "assistant", "products", "product_id"),
        Collection("user", "assistant", "users", "user_id"),
        Collection("order", "assistant", "orders", "order_id"),
    ),
    "airline": (
        Collection("flight", "assistant", "flights", "flight_number"),
        Collection("user", "assistant", "users", "user_id"),
        Collection("reservation", "assistant", "reservations", "reservation_id"),
    ),
    "telecom": (
        Collection("plan", "assistant", "plans", "plan_id"),
        Collection("customer", "assistant", "customers", "customer_id"),
        Collection("line", "assistant", "lines", "line_id"),
        Collection("bill", "assistant", "bills", "bill_id"),
        Collection("device", "assistant", "devices", "device_id"),
        Collection("phone", "user", "device", SINGLETON_KEY),
        Collection("surroundings", "user", "surroundings", SINGLETON_KEY),
    ),
}


@cache
def _module(domain: str) -> Any:
    from loguru import logger  # noqa: PLC0415 - silenced before τ²-bench logs while it is imported

    logger.disable("tau2")
    return importlib.import_module(f"tau2.domains.{domain}.environment")


@cache
def load_tasks(domain: str) -> tuple[Task, ...]:
    """Load every task of a domain, in the order of its file."""
    return tuple(_module(domain).get_tasks(None))


def new_environment(domain: str) -> Environment:
    """Load τ²-bench's environment of a domain, sharing nothing with another one."""
    environment: Environment = _module(domain).get_environment()
    kit = environment.user_tools
    if kit is not None:
        # The class holds one object that every phone connects to and that `break_vpn` spoils for all of them.
        kit.default_vpn_details = kit.default_vpn_details.model_copy(deep=True)
    return environment


def start_environment(domain: str, task: Task) -> Environment:
    """Load an environment and bring it to the state in which a task begins."""
    environment = new_environment(domain)
    initial = task.initial_state
    if initial is not None:
        environment.set_state(
            initial.initialization_data, initial.initialization_actions, initial.message_history or []
        )
    return environment


def read_state(domain: str, environment: Environment) -> State:
    """Give the rows of both sides' databases."""
    return {
        collection.entity: dict(
            _rows(collection, getattr(_database(environment, collection.side), collection.attribute))
        )
        for collection in DOMAINS[domain]
    }


@cache
def base_state(domain: str) -> State:
    """Give the rows a domain ships with, before any task."""
    return read_state(domain, new_environment(domain))


@cache
def models(domain: str) -> dict[str, type[BaseModel]]:
    """Give the pydantic model of each collection, by entity."""
    environment = new_environment(domain)
    return {
        collection.entity: _model(type(_database(environment, collection.side)), collection)
        for collection in DOMAINS[domain]
    }


def _model(database: type[BaseModel], collection: Collection) -> type[BaseModel]:
    annotation: Any = database.model_fields[collection.attribute].annotation
    model: type[BaseModel] = (get_args(annotation) or (annotation,))[-1]
    return model


def _database(environment: Environment, side: Side) -> BaseModel:
    kit = environment.tools if side == "assistant" else environment.user_tools
    if kit is None or kit.db is None:
        raise LookupError(f"the environment has no database of the {side}; check DOMAINS")
    database: BaseModel = kit.db
    return database


def _rows(collection: Collection, value: object) -> Iterator[tuple[str, Row]]:
    for model in _models(value):
        row = model.model_dump(mode="json")
        if collection.key == SINGLETON_KEY:
            row = {SINGLETON_KEY: SINGLETON_ID, **row}
        yield row[collection.key], row


def _models(value: Any) -> Iterable[BaseModel]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else (value,)
