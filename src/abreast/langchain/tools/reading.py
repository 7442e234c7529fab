"""Tools that read current rows and look changes up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from langchain.tools import ToolRuntime  # noqa: TC002 - LangChain reads the annotations
from langchain_core.messages import ToolMessage  # noqa: TC002 - as above
from pydantic import BaseModel, Field, create_model

from abreast.errors import InvalidInput
from abreast.langchain.tools import replies
from abreast.langchain.tools.origin import Origin
from abreast.langchain.tools.schemas import Arguments, EntityId
from abreast.operations.changes import Search, search_changes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from abreast.langchain.tools.box import Box
    from abreast.model.event import Event
    from abreast.sql.mapping import EntityTable

MOST_ROWS = 50
MOST_CHANGES = 50


class ReadArguments(Arguments):
    """Which rows are read."""

    ids: list[EntityId] = Field(default=[], max_length=MOST_ROWS, description="Only these rows; all when empty.")
    limit: int = Field(default=20, ge=1, le=MOST_ROWS, description="Most rows to list.")


@dataclass(frozen=True)
class Reading:
    """The tool that reads rows of one entity."""

    box: Box
    entity: EntityTable
    tool: str

    def call(self, runtime: ToolRuntime[Any, Any], ids: list[str], limit: int) -> ToolMessage:
        """Read rows."""
        origin = Origin.of(runtime, self.tool, self.box.agent)
        if not self.box.may(origin, self.entity.name, "read"):
            return self._denied(runtime)
        try:
            text = self.box.log.database.read(self._read, origin, ids, limit)
        except InvalidInput as error:
            return replies.refusal(runtime, self.tool, str(error))
        return replies.answer(runtime, self.tool, text)

    async def acall(self, runtime: ToolRuntime[Any, Any], ids: list[str], limit: int) -> ToolMessage:
        """Async twin of `call`."""
        origin = Origin.of(runtime, self.tool, self.box.agent)
        if not await self.box.amay(origin, self.entity.name, "read"):
            return self._denied(runtime)
        try:
            text = await self.box.log.database.aread(self._read, origin, ids, limit)
        except InvalidInput as error:
            return replies.refusal(runtime, self.tool, str(error))
        return replies.answer(runtime, self.tool, text)

    def _denied(self, runtime: ToolRuntime[Any, Any]) -> ToolMessage:
        return replies.refusal(runtime, self.tool, replies.denied(self.entity.entity, "read"))

    def _read(self, connection: Connection, origin: Origin, ids: list[str], limit: int) -> str:
        entity = self.entity
        if ids:
            known = [entity.entity_id(entity.key_values(entity_id)) for entity_id in dict.fromkeys(ids)]
            found = self.box.named(connection, origin, entity, known)
            rows = [found[entity_id] for entity_id in known if entity_id in found]
            length = replies.LONG if len(known) == 1 else replies.SHORT
            return replies.rows(entity.entity, rows, len(known), length)
        listed = self.box.listed(connection, origin, entity)
        return replies.rows(entity.entity, listed.rows[:limit], listed.total, replies.SHORT)


def history_arguments(entities: Mapping[str, EntityTable]) -> type[BaseModel]:
    """Make the arguments of `list_changes`."""
    name: Any = Literal[tuple(entities)]
    names: Any = name | None
    return create_model(
        "list_changes",
        __base__=Arguments,
        entity=(names, Field(default=None, description="Only rows of this kind.")),
        id=(EntityId | None, Field(default=None, description="Only this row; needs entity.")),
        field=(str | None, Field(default=None, description="Only changes of this field, and rows added or deleted.")),
        since=(datetime | None, Field(default=None, description="Begin of the period, UTC where no zone is given.")),
        until=(datetime | None, Field(default=None, description="End of the period, exclusive.")),
        before_revision=(int | None, Field(default=None, description="Only older changes, to page back.")),
        limit=(int, Field(default=20, ge=1, le=MOST_CHANGES, description="Most changes to list.")),
    )


@dataclass(frozen=True)
class History:
    """The tool that looks changes up."""

    box: Box
    entities: Mapping[str, EntityTable]
    tool: str

    def call(self, runtime: ToolRuntime[Any, Any], **wanted: Any) -> ToolMessage:
        """Look changes up."""
        origin = Origin.of(runtime, self.tool, self.box.agent)
        allowed = [name for name in self._asked(wanted) if self.box.may(origin, name, "read")]
        try:
            search = self._search(origin, allowed, wanted)
        except InvalidInput as error:
            return replies.refusal(runtime, self.tool, str(error))
        self.box.log.number(origin.run.workspace_id)
        text = self.box.log.database.read(self._told, origin, search)
        return replies.answer(runtime, self.tool, text)

    async def acall(self, runtime: ToolRuntime[Any, Any], **wanted: Any) -> ToolMessage:
        """Async twin of `call`."""
        origin = Origin.of(runtime, self.tool, self.box.agent)
        allowed = [name for name in self._asked(wanted) if await self.box.amay(origin, name, "read")]
        try:
            search = self._search(origin, allowed, wanted)
        except InvalidInput as error:
            return replies.refusal(runtime, self.tool, str(error))
        await self.box.log.anumber(origin.run.workspace_id)
        text = await self.box.log.database.aread(self._told, origin, search)
        return replies.answer(runtime, self.tool, text)

    def _asked(self, wanted: Mapping[str, Any]) -> list[str]:
        return [wanted["entity"]] if wanted["entity"] else list(self.entities)

    def _search(self, origin: Origin, allowed: list[str], wanted: Mapping[str, Any]) -> Search:
        entity_id = wanted["id"]
        if entity_id is not None:
            if wanted["entity"] is None:
                raise InvalidInput("id", "comes without its entity", "pass entity too")
            entity = self.entities[wanted["entity"]]
            entity_id = entity.entity_id(entity.key_values(entity_id))
        field = wanted["field"]
        if field is not None and not any(field in _named(self.entities[name]) for name in allowed):
            raise InvalidInput("field", "is unknown", "name a field as it stands in the results")
        return Search(
            workspace_id=origin.run.workspace_id,
            entity_types=tuple(allowed),
            entity_id=entity_id,
            fields=frozenset([field] if field else []),
            since=_micros(wanted["since"]),
            until=_micros(wanted["until"]),
            before=wanted["before_revision"],
            limit=wanted["limit"],
        )

    def _told(self, connection: Connection, origin: Origin, search: Search) -> str:
        log = self.box.log
        events = search_changes(connection, log.database.tables, log.steps.catalog, search)
        visible = {name: self._visible(connection, origin, name, events) for name in search.entity_types}
        told = [event for event in events if _may_tell(self.entities[event.entity_type], event, visible)]
        return replies.history({name: table.entity for name, table in self.entities.items()}, told, origin)

    def _visible(self, connection: Connection, origin: Origin, name: str, events: list[Event]) -> set[str] | None:
        """Give the rows the viewer may see; None where everybody may see all."""
        entity = self.entities[name]
        if entity.entity.visible is None:
            return None
        ids = list(dict.fromkeys(event.entity_id for event in events if event.entity_type == name))
        return set(self.box.named(connection, origin, entity, ids))


def _named(entity: EntityTable) -> tuple[str, ...]:
    return (*entity.entity.expose, *entity.entity.hidden)


def _may_tell(entity: EntityTable, event: Event, visible: Mapping[str, set[str] | None]) -> bool:
    seen = visible[event.entity_type]
    if seen is not None and event.entity_id not in seen:
        return False
    return event.operation != "update" or bool(replies.shown_fields(entity.entity, event))


def _micros(moment: datetime | None) -> int | None:
    if moment is None:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1_000_000)
