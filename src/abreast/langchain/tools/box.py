"""What all tools of a workspace share: the log, the rights, and how rows are looked up."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abreast.errors import InvalidInput
from abreast.operations.snapshots import Reader

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from abreast.langchain.tools.origin import Origin
    from abreast.model.entity import EntityRows, Row
    from abreast.model.write import Merge
    from abreast.sql.mapping import EntityTable
    from abreast.workspace_log import WorkspaceLog

Rights = Callable[[Any, str, str], "bool | Awaitable[bool]"]
"""`(context, entity, operation)` to whether the run's user may."""


@dataclass(frozen=True)
class Box:
    """The tools' common part."""

    log: WorkspaceLog
    rights: Rights | None
    viewer: Callable[[Any], object] | None
    agent: str | None
    merge: Merge

    def may(self, origin: Origin, entity: str, operation: str) -> bool:
        """
        Ask for the right to do something.

        Raises:
            InvalidInput: The answer has to be awaited, and the tool was called sync.
        """
        answer = True if self.rights is None else self.rights(origin.context, entity, operation)
        if inspect.isawaitable(answer):
            if inspect.iscoroutine(answer):
                answer.close()
            raise InvalidInput("rights", "is async, and the agent was called sync", "call ainvoke() or astream()")
        return answer is True

    async def amay(self, origin: Origin, entity: str, operation: str) -> bool:
        """Async twin of `may`."""
        answer = True if self.rights is None else self.rights(origin.context, entity, operation)
        return (await answer if inspect.isawaitable(answer) else answer) is True

    def key(self) -> bytes:
        """Give the secret of mutation ids."""
        steps = self.log.steps
        if steps.secret is None:
            steps.secret = self.log.database.run(steps.payload_key)
        return steps.secret

    async def akey(self) -> bytes:
        """Async twin of `key`."""
        steps = self.log.steps
        if steps.secret is None:
            steps.secret = await self.log.database.arun(steps.payload_key)
        return steps.secret

    def row(self, origin: Origin, entity: EntityTable, entity_id: str) -> Row | None:
        """Read a row as the run's user may see it."""
        return self.log.database.read(self.named, origin, entity, [entity_id]).get(entity_id)

    async def arow(self, origin: Origin, entity: EntityTable, entity_id: str) -> Row | None:
        """Async twin of `row`."""
        return (await self.log.database.aread(self.named, origin, entity, [entity_id])).get(entity_id)

    def named(self, connection: Connection, origin: Origin, entity: EntityTable, ids: list[str]) -> dict[str, Row]:
        """Read rows by id."""
        return self._reader(connection, origin).named(entity, ids)

    def listed(self, connection: Connection, origin: Origin, entity: EntityTable) -> EntityRows:
        """List an entity's rows."""
        return self._reader(connection, origin).listed(entity)

    def _reader(self, connection: Connection, origin: Origin) -> Reader:
        viewer = self.viewer and self.viewer(origin.context)
        return Reader(connection, self.log.database.tables, origin.run.workspace_id, viewer)
