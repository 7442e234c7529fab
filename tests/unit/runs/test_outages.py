"""S22: whose fault a failed run is: the changes may have caused it, or something that it needs was away."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import psycopg
import pytest
import requests
from botocore.exceptions import ClientError, ReadTimeoutError
from langgraph.errors import GraphRecursionError
from sqlalchemy.exc import IntegrityError, OperationalError

from abreast.errors import CheckpointConflict, DatabaseUnavailable, InvalidInput, StateUnavailable, ThreadBusy
from abreast.runs.outages import is_outage

REQUEST = httpx2.Request("POST", "https://provider.example")


def status_error(kind: Any, status: int, **body: str) -> Exception:
    """Give a provider's error of a status."""
    return kind("told", response=httpx2.Response(status, request=REQUEST), body=body)


def coded(**attributes: Any) -> Exception:
    """Give an error of no known class that carries something."""
    error = Exception("told")
    vars(error).update(attributes)
    return error


def caused(error: Exception, cause: BaseException) -> Exception:
    """Give an error with a cause."""
    error.__cause__ = cause
    return error


def unanswered(client: Any) -> Exception:
    """Give what a provider's client raises where nobody answers."""

    def refuse(_request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectTimeout("nobody answers")

    called = client(api_key="none", max_retries=0, http_client=httpx2.Client(transport=httpx2.MockTransport(refuse)))
    with pytest.raises((openai.OpenAIError, anthropic.AnthropicError)) as raised:
        called.models.list()
    return raised.value


def after(first: Exception, second: Exception) -> Exception:
    """Give an error that was raised while another one was handled."""
    second.__context__ = first
    return second


def circle() -> Exception:
    """Give an error that is the cause of its cause."""
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    return first


OUTAGES: dict[str, Callable[[], BaseException]] = {
    **{
        f"status {status}": lambda status=status: coded(status_code=status) for status in (401, 403, 404, 408, 409, 429)
    },
    **{f"status {status}": lambda status=status: coded(status_code=status) for status in (500, 502, 503, 504, 529)},
    "enum": lambda: coded(status_code=HTTPStatus.TOO_MANY_REQUESTS),
    "http_status": lambda: coded(http_status=429),
    "status": lambda: coded(status=503),
    "code": lambda: coded(code=503),
    "in the response": lambda: coded(response=httpx.Response(429)),
    "in a mapping": lambda: ClientError({"ResponseMetadata": {"HTTPStatusCode": 429}}, "Converse"),
    "rate limit": lambda: status_error(openai.RateLimitError, 429),
    "no credentials": lambda: status_error(anthropic.AuthenticationError, 401),
    "overloaded in a stream": lambda: coded(status_code=200, type="overloaded_error"),
    "failed in a stream": lambda: openai.APIError("told", REQUEST, body={"code": "server_error"}),
    "no answer": lambda: unanswered(openai.OpenAI),
    "no answer of another": lambda: unanswered(anthropic.Anthropic),
    "no cause": lambda: openai.APITimeoutError(REQUEST),
    "built in": lambda: ConnectionResetError("gone"),
    "time-out": TimeoutError,
    "httpx": lambda: httpx.ReadError("gone"),
    "httpx2": lambda: httpx2.RemoteProtocolError("gone"),
    "requests": lambda: requests.ReadTimeout("late"),
    "botocore": lambda: ReadTimeoutError(endpoint_url="https://provider.example"),
    "SQLAlchemy": lambda: OperationalError("SELECT 1", {}, Exception("away")),
    "driver": lambda: psycopg.OperationalError("away"),
    "own": lambda: DatabaseUnavailable("here", "closed"),
    "not read": lambda: StateUnavailable("w1", "closed"),
    "busy": lambda: ThreadBusy("t2", "run"),
    "head moved": lambda: CheckpointConflict("t1", "", "c1", "c2"),
    "wrapped": lambda: caused(RuntimeError("the model failed"), caused(ValueError("so"), coded(status_code=429))),
    "group": lambda: ExceptionGroup("both", [TimeoutError(), coded(status_code=500)]),
}
FAILURES: dict[str, Callable[[], BaseException]] = {
    **{f"status {status}": lambda status=status: coded(status_code=status) for status in (400, 413, 415, 422, 431)},
    "too long": lambda: status_error(openai.BadRequestError, 400, code="context_length_exceeded"),
    "too large": lambda: status_error(anthropic.RequestTooLargeError, 413),
    "refused, over a lost connection": lambda: caused(coded(status_code=400), ConnectionError("gone")),
    "no status of an error": lambda: coded(status_code=200),
    "a number that is none": lambda: coded(code=1, status="late"),
    "unknown": lambda: ValueError("no JSON"),
    "memory": MemoryError,
    "too many steps": lambda: GraphRecursionError("25"),
    "refused by us": lambda: InvalidInput("x", "is odd", "mend it"),
    "refused by the database": lambda: IntegrityError("INSERT", {}, Exception("twice")),
    "only before it": lambda: after(ConnectionError("gone"), ValueError("no JSON")),
    "one of a group": lambda: ExceptionGroup("both", [TimeoutError(), ValueError("no JSON")]),
    "circle": circle,
}


@pytest.mark.parametrize("case", OUTAGES)
def test_outage(case: str):
    """S22: it says nothing of what the run was given."""
    assert is_outage(OUTAGES[case]())


@pytest.mark.parametrize("case", FAILURES)
def test_failure(case: str):
    """S22: what the run was given may have caused it, as everything that nothing is known of."""
    assert not is_outage(FAILURES[case]())
