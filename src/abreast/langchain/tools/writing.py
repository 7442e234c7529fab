"""Tools that create, update and delete a row, once each, under its version and the run's lease."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from langchain.tools import ToolRuntime  # noqa: TC002 - LangChain reads the annotations
from langchain_core.messages import ToolMessage  # noqa: TC002 - as above
from sqlalchemy import Uuid

from abreast.errors import EntityNotFound, StaleWrite
from abreast.langchain.tools import replies
from abreast.langchain.tools.origin import Origin
from abreast.langchain.tools.refusing import refused_call
from abreast.langchain.tools.schemas import Fields, makes_key
from abreast.workspace_log.refusals import akeep, keep, result_of

if TYPE_CHECKING:
    from abreast.langchain.tools.box import Box
    from abreast.model.attempt import AttemptResult
    from abreast.model.entity import Row
    from abreast.sql.mapping import EntityTable
    from abreast.workspace_log import AsyncWrite, Write

WriteOperation = Literal["create", "update", "delete"]


@dataclass(frozen=True)
class Wanted:
    """
    What one call wants written.

    Attributes:
        entity_id: The row as the model named it; empty for a new one.
        fields: Native values by field name.
        plain: The same as JSON.
    """

    entity_id: str
    version: int | None
    fields: dict[str, Any]
    plain: dict[str, Any]


@dataclass(frozen=True)
class Writing:
    """One tool that writes rows of one entity."""

    box: Box
    entity: EntityTable
    operation: WriteOperation
    tool: str
    reader: str

    def call(self, runtime: ToolRuntime[Any, Any], **arguments: Any) -> ToolMessage:
        """Carry a call out."""
        origin = Origin.of(runtime, self.tool, self.box.agent)
        wanted, write = _wanted(arguments), None
        if not self.box.may(origin, self.entity.name, self.operation):
            self._keep(origin, wanted, "denied")
            return replies.refusal(runtime, self.tool, replies.denied(self.entity.entity, self.operation))
        mutation_id = origin.mutation_id(self.box.key(), self._payload(wanted))
        try:
            self._check_seen(wanted, self._looks and self.box.row(origin, self.entity, self._id(wanted)))
            with self.box.log.write(origin.run.workspace_id, **origin.write_options(mutation_id)) as write:
                self._put(write, wanted, mutation_id)
        except replies.REFUSALS as error:
            if write is None:
                self._keep(origin, wanted, result_of(error))
            shown = isinstance(error, StaleWrite) and self.box.may(origin, self.entity.name, "read")
            found = self.box.row(origin, self.entity, self._id(wanted)) if shown else None
            return replies.refusal(runtime, self.tool, self._refused(error, wanted, found, origin))
        return self._done(runtime, write, mutation_id)

    async def acall(self, runtime: ToolRuntime[Any, Any], **arguments: Any) -> ToolMessage:
        """Async twin of `call`."""
        origin = Origin.of(runtime, self.tool, self.box.agent)
        wanted, write = _wanted(arguments), None
        if not await self.box.amay(origin, self.entity.name, self.operation):
            await self._akeep(origin, wanted, "denied")
            return replies.refusal(runtime, self.tool, replies.denied(self.entity.entity, self.operation))
        mutation_id = origin.mutation_id(await self.box.akey(), self._payload(wanted))
        try:
            self._check_seen(wanted, self._looks and await self.box.arow(origin, self.entity, self._id(wanted)))
            async with self.box.log.awrite(origin.run.workspace_id, **origin.write_options(mutation_id)) as write:
                self._put(write, wanted, mutation_id)
        except replies.REFUSALS as error:
            if write is None:
                await self._akeep(origin, wanted, result_of(error))
            shown = isinstance(error, StaleWrite) and await self.box.amay(origin, self.entity.name, "read")
            found = await self.box.arow(origin, self.entity, self._id(wanted)) if shown else None
            return replies.refusal(runtime, self.tool, self._refused(error, wanted, found, origin))
        return self._done(runtime, write, mutation_id)

    def _keep(self, origin: Origin, wanted: Wanted, result: AttemptResult) -> None:
        """Write down a refusal that no block of writes has seen; those it has seen it writes down itself."""
        log = self.box.log
        keep(log.database, log.steps, refused_call(self, origin, result, wanted.entity_id, wanted.fields))

    async def _akeep(self, origin: Origin, wanted: Wanted, result: AttemptResult) -> None:
        """Async twin of `_keep`."""
        log = self.box.log
        await akeep(log.database, log.steps, refused_call(self, origin, result, wanted.entity_id, wanted.fields))

    @property
    def _looks(self) -> bool:
        """Whether a row has to be looked at first: not every viewer may see each one."""
        return self.operation != "create" and self.entity.entity.visible is not None

    def _check_seen(self, wanted: Wanted, row: Row | Literal[False] | None) -> None:
        if row is None:
            raise EntityNotFound("", self.entity.name, wanted.entity_id)

    def _id(self, wanted: Wanted) -> str:
        """Write the row's id as abreast does; what is no key of the entity is refused."""
        return self.entity.entity_id(self.entity.key_values(wanted.entity_id))

    def _payload(self, wanted: Wanted) -> list[Any]:
        return [self.operation, self.entity.name, wanted.entity_id, wanted.plain]

    def _put(self, write: Write | AsyncWrite, wanted: Wanted, mutation_id: str) -> None:
        name, key = self.entity.name, wanted.entity_id
        if self.operation == "create":
            write.insert(name, {**self._new_key(mutation_id), **wanted.fields})
        elif self.operation == "update":
            write.update(name, key, wanted.fields, expected_version=wanted.version, merge=self.box.merge)
        else:
            write.delete(name, key, expected_version=wanted.version)

    def _new_key(self, mutation_id: str) -> dict[str, Any]:
        """Make the key of a new row from the mutation, so that a repetition means the same row."""
        name = makes_key(self.entity)
        if name is None:
            return {}
        text = hashlib.sha256(mutation_id.encode()).hexdigest()[:32]
        return {name: UUID(text) if isinstance(self.entity.fields[name].type, Uuid) else text}

    def _refused(self, error: Exception, wanted: Wanted, row: Row | None, origin: Origin) -> str:
        entity = self.entity.entity
        if isinstance(error, StaleWrite) and row is not None:
            return replies.conflict(entity, error, row, origin, self.tool)
        if isinstance(error, EntityNotFound) and error.entity_type == self.entity.name:
            return replies.not_found(entity, wanted.entity_id, self.reader)
        return replies.refused(error, self.tool)

    def _done(self, runtime: ToolRuntime[Any, Any], write: Write | AsyncWrite, mutation_id: str) -> ToolMessage:
        (result,) = write.results
        text = replies.written(self.entity.entity, result)
        return replies.answer(runtime, self.tool, text, replies.receipt(result, mutation_id))


def _wanted(arguments: dict[str, Any]) -> Wanted:
    given = arguments.get("changes", arguments.get("values"))
    fields, plain = (given.given(), given.given(plain=True)) if isinstance(given, Fields) else ({}, {})
    return Wanted(arguments.get("id", ""), arguments.get("expected_version"), fields, plain)
