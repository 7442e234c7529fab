"""Write down what tools refuse before a write begins: for lack of rights, for unknown rows, for arguments."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, cast

from langchain.tools import ToolRuntime
from langchain_core.tools import StructuredTool

from abreast.errors import AbreastError
from abreast.langchain.tools import replies
from abreast.langchain.tools.origin import Origin
from abreast.model.write import Change
from abreast.workspace_log import write
from abreast.workspace_log.refusals import akeep, keep, refused_write

if TYPE_CHECKING:
    from collections.abc import Generator

    from pydantic import ValidationError

    from abreast.langchain.tools.writing import Writing
    from abreast.model.attempt import Attempt, AttemptResult
    from abreast.model.event import Operation

_OPERATIONS: Final[Mapping[str, Operation]] = {"create": "insert", "update": "update", "delete": "delete"}
_refused: ContextVar[list[ValidationError] | None] = ContextVar("_refused", default=None)


def refused_call(deed: Writing, origin: Origin, result: AttemptResult, entity_id: object, fields: object) -> Attempt:
    """Tell of a call that was refused, with the names of what it would have written."""
    named: dict[str, Any] = dict(cast("Mapping[str, Any]", fields)) if isinstance(fields, Mapping) else {}
    place = origin.run.workspace_id
    key = None if deed.operation == "create" else entity_id
    change = Change(_OPERATIONS[deed.operation], place, deed.entity.name, key, named, None, None, place)
    thread_id, run_id = origin.run.key
    return refused_write(deed.box.log.steps, write.Origin(place, origin.actor, None, thread_id, run_id), result, change)


def told(error: ValidationError) -> str:
    """Refuse arguments, and notice that they were."""
    noticed = _refused.get()
    if noticed is not None:
        noticed.append(error)
    return replies.invalid(error)


class WritingTool(StructuredTool):
    """A tool that writes, and notes calls whose arguments it refuses."""

    deed: Any = None

    def run(self, tool_input: str | dict[str, Any], *args: Any, **options: Any) -> Any:
        """Carry a call out."""
        with _noticing() as noticed:
            answer = super().run(tool_input, *args, **options)
        refused = self._refused(tool_input) if noticed else None
        if refused is not None:
            keep(self.deed.box.log.database, self.deed.box.log.steps, refused)
        return answer

    async def arun(self, tool_input: str | dict[str, Any], *args: Any, **options: Any) -> Any:
        """Async twin of `run`."""
        with _noticing() as noticed:
            answer = await super().arun(tool_input, *args, **options)
        refused = self._refused(tool_input) if noticed else None
        if refused is not None:
            await akeep(self.deed.box.log.database, self.deed.box.log.steps, refused)
        return answer

    def _refused(self, tool_input: object) -> Attempt | None:
        """Tell of refused arguments; None outside of a run, or where the run has ended."""
        given = cast("dict[str, Any]", tool_input if isinstance(tool_input, dict) else {})
        runtime: Any = given.get("runtime")
        if not isinstance(runtime, ToolRuntime):
            return None
        deed: Writing = self.deed
        try:
            origin = Origin.of(cast("Any", runtime), deed.tool, deed.box.agent)
        except AbreastError:
            return None
        return refused_call(deed, origin, "invalid", given.get("id"), given.get("changes", given.get("values")))


@contextmanager
def _noticing() -> Generator[list[ValidationError]]:
    noticed: list[ValidationError] = []
    token = _refused.set(noticed)
    try:
        yield noticed
    finally:
        _refused.reset(token)
