"""Tell a failure that the changes a run was given may have caused from one that they cannot have caused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from abreast.errors import (
    AccessDenied,
    CheckpointConflict,
    DatabaseUnavailable,
    ReplicaBehind,
    SchemaError,
    StateUnavailable,
    TableMissing,
    ThreadBusy,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN: Final = (
    AccessDenied,
    CheckpointConflict,
    DatabaseUnavailable,
    ReplicaBehind,
    SchemaError,
    StateUnavailable,
    TableMissing,
    ThreadBusy,
)
_ERRORS: Final = range(400, 600)
_FIRST_OF_SERVER: Final = 500
_OF_CLIENT: Final = frozenset({401, 402, 403, 404, 407, 408, 409, 421, 425, 429, 499})
"""Statuses below 500 that say nothing of what was sent: who asks, what for, how often, how long."""

_STATUSES: Final = ("status_code", "http_status", "status", "code")
_KINDS: Final = frozenset(
    {
        "api_error",
        "authentication_error",
        "billing_error",
        "insufficient_quota",
        "overloaded_error",
        "permission_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "server_error",
        "timeout_error",
    }
)
"""What providers call it in the middle of a stream, whose status was 200."""

_CLASSES: Final = frozenset(
    {
        ("aiohttp", "ClientConnectionError"),
        ("anthropic", "APIConnectionError"),
        ("botocore", "ConnectionError"),
        ("botocore", "HTTPClientError"),
        ("httpx", "TransportError"),
        ("httpx2", "TransportError"),
        ("langgraph", "NodeCancelledError"),
        ("langgraph", "NodeTimeoutError"),
        ("openai", "APIConnectionError"),
        ("requests", "ConnectionError"),
        ("requests", "Timeout"),
        ("socket", "gaierror"),
        ("urllib", "URLError"),
    }
)
"""Package and name of classes, or of their bases, that say that somebody was not reached. None of them is needed."""

_OF_DRIVERS: Final = "OperationalError"
"""PEP 249: "related to the database's operation and not necessarily under the control of the programmer"."""


def is_outage(error: BaseException) -> bool:
    """
    Say whether an error tells that something the run needs was away, busy, too slow or let nobody in.

    Then it says nothing of what the run was given: rate limits, time-outs, lost connections, failures of the
    provider's servers, rejected credentials, a database that is away. A request that is refused (400, 413, 422: too
    long, not acceptable) is none, and neither is an error that nothing is known of.

    The first error that says anything counts, from the one that was raised along its causes.
    """
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return all(is_outage(one) for one in group.exceptions)
    verdicts = (_verdict(one) for one in _causes(error))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and not any(cause is one for one in seen):
        yield cause
        seen.append(cause)
        cause = cause.__cause__


def _verdict(error: BaseException) -> bool | None:
    """Say what one error tells by itself; None where that is nothing."""
    status = _status(error)
    if status is not None:
        return status >= _FIRST_OF_SERVER or status in _OF_CLIENT
    if isinstance(error, (*_OWN, TimeoutError, ConnectionError)):
        return True
    kinds = (getattr(error, name, None) for name in ("type", "code"))
    if any(isinstance(kind, str) and kind in _KINDS for kind in kinds):
        return True
    classes = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(error).__mro__}
    return True if classes & _CLASSES or any(name == _OF_DRIVERS for _, name in classes) else None


def _status(error: BaseException) -> int | None:
    """Give the HTTP status that an error carries, itself or in its response; None without one that is an error's."""
    response: Any = getattr(error, "response", None)
    found: list[Any] = [getattr(place, name, None) for place in (error, response) for name in _STATUSES]
    if isinstance(response, Mapping):
        told: Any = cast("Mapping[str, Any]", response).get("ResponseMetadata")  # as botocore keeps it
        found.append(cast("Mapping[str, Any]", told).get("HTTPStatusCode") if isinstance(told, Mapping) else None)
    return next((status for status in found if isinstance(status, int) and status in _ERRORS), None)
