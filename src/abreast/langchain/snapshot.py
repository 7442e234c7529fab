"""Give an agent's model the current rows alone: no changes, no cursor, none of abreast's tables."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from langchain.agents.middleware import AgentMiddleware

from abreast.database import Database
from abreast.database.product import ProductDatabase
from abreast.errors import InvalidInput
from abreast.langchain.blocks import READ_ERRORS, check_options, render_options, told, unavailable
from abreast.langchain.requests import with_block
from abreast.langgraph.ambient import ambient
from abreast.langgraph.arguments import check_functions, check_kind, check_list, check_log
from abreast.langgraph.state import value_of
from abreast.model.entity import Entity
from abreast.operations.snapshots import Reader
from abreast.prompt import render_rows, render_snapshot, render_unavailable
from abreast.sql.mapping import Catalog

if TYPE_CHECKING:
    from langchain.agents.middleware import ModelRequest
    from sqlalchemy import Connection

    from abreast.langchain.blocks import BlockOptions, OnReadError
    from abreast.model.entity import EntityRows
    from abreast.prompt import Placement
    from abreast.workspace_log import WorkspaceLog

Loaded = str | Mapping[str, Sequence[Mapping[str, Any]]]
Load = Callable[[str, Any], "Loaded | Awaitable[Loaded]"]
Handler = Callable[["ModelRequest[Any]"], Any]
"""Calls the model, or gives what awaits its answer."""


class WorkspaceSnapshotMiddleware(AgentMiddleware[Any, Any, Any]):
    """
    Show an agent's model the current rows at each call, and nothing more.

    It needs none of abreast's tables and no `bind`. What changed, which conversation has been told, and whether an
    answer counts is known only to `WorkspaceSyncMiddleware`; with `log` the change from one to the other is the
    name of the class. The block is part of the request alone: no checkpoint, stream or store holds it.

    Put it last in the list, so that no other middleware trims or rewrites the block.

    Args:
        log: The log whose entities are read, from the product's own tables.
        database: Together with `entities`, in place of `log`.
        entities: The product's rows; with `log`, these are shown in place of all of the log's.
        load: `(workspace_id, viewer)` to the rows, sync or async, in place of `log`: lists of rows by their kind,
            each row a mapping, or a text.
        placement: As for `WorkspaceSyncMiddleware`, like `on_read_error`, `viewer` and the options.

    Raises:
        InvalidInput: An argument is of another type, unknown or out of range; or not exactly one source is named.
        InvalidEntity: An entity does not fit its table.

    Example:
        >>> middleware = [WorkspaceSnapshotMiddleware(log)]
        >>> agent = create_agent(model, middleware=middleware)
        >>> result = agent.invoke({"messages": [("user", "When do I move in?")]}, context=context)
    """

    def __init__(
        self,
        log: WorkspaceLog | None = None,
        *,
        database: Database | None = None,
        entities: Sequence[Entity] = (),
        load: Load | None = None,
        placement: Placement | None = None,
        on_read_error: OnReadError = "raise",
        viewer: Callable[[Any], object] | None = None,
        **options: Unpack[BlockOptions],
    ) -> None:
        super().__init__()
        check_options(placement, on_read_error, options)
        check_functions(viewer=viewer, load=load)
        _check_source(log, database, entities, load)
        self.tools = []
        self._load = load
        place = database if log is None else log.database
        self._database = place and ProductDatabase(place)
        self._entities = tuple(entities) if log is None or entities else log.entities
        self._catalog = Catalog(self._entities)
        self._placement: Placement | None = placement
        self._says_so = on_read_error == "say_so"
        self._viewer = viewer
        self._options = options

    def wrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> Any:
        """
        Call the model with the current rows.

        Raises:
            StateUnavailable: They could not be read.
            InvalidInput: No workspace is named, or `load` is async and the agent was called sync.
        """
        workspace_id, viewer = self._asked()
        try:
            block = self._block(workspace_id, viewer)
        except READ_ERRORS as error:
            block = self._unread(workspace_id, error)
        return handler(with_block(request, block, self._placement, None))

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> Any:
        """Async twin of `wrap_model_call`."""
        workspace_id, viewer = self._asked()
        try:
            block = await self._ablock(workspace_id, viewer)
        except READ_ERRORS as error:
            block = self._unread(workspace_id, error)
        return await handler(with_block(request, block, self._placement, None))

    def _asked(self) -> tuple[str, object]:
        around = ambient()
        found = value_of(around.context, "workspace_id") or around.workspace_id
        if not found:
            raise InvalidInput("workspace_id", "is missing", 'pass context={"workspace_id": …} to the agent')
        return str(found), self._viewer and self._viewer(around.context)

    def _block(self, workspace_id: str, viewer: object) -> str:
        if self._load is None:
            assert self._database is not None
            return self._of_rows(self._database.read(self._read, workspace_id, viewer))
        loaded = self._load(workspace_id, viewer)
        if inspect.isawaitable(loaded):
            if inspect.iscoroutine(loaded):
                loaded.close()
            raise InvalidInput("load", "is async, and the agent was called sync", "call ainvoke() or astream()")
        return self._of_loaded(loaded)

    async def _ablock(self, workspace_id: str, viewer: object) -> str:
        if self._load is None:
            assert self._database is not None
            return self._of_rows(await self._database.aread(self._read, workspace_id, viewer))
        loaded = self._load(workspace_id, viewer)
        return self._of_loaded(await loaded if inspect.isawaitable(loaded) else loaded)

    def _read(self, connection: Connection, workspace_id: str, viewer: object) -> tuple[EntityRows, ...]:
        reader = Reader(connection, None, workspace_id, viewer)
        return tuple(reader.listed(entity) for entity in self._catalog.by_name.values())

    def _of_rows(self, rows: tuple[EntityRows, ...]) -> str:
        return render_snapshot(rows, self._entities, **render_options(self._options))

    def _of_loaded(self, loaded: Loaded) -> str:
        return render_rows(loaded, **render_options(self._options))

    def _unread(self, workspace_id: str, error: BaseException) -> str:
        if not self._says_so:
            raise unavailable(workspace_id, error) from told(error)
        return render_unavailable(language=self._options.get("language", "en"))


def _check_source(log: object, database: object, entities: object, load: object) -> None:
    named = [name for name, source in (("log", log), ("database", database), ("load", load)) if source is not None]
    if len(named) != 1:
        came = " and ".join(named) or "none"
        raise InvalidInput("source", f"is {came}, not exactly one", "pass log, database and entities, or load")
    given = check_list("entities", entities, Entity, "Entity", "pass [Entity(…, expose=[…])]")
    if log is not None:
        check_log(log)
    elif database is not None:
        check_kind("database", database, Database, "Database", 'pass Database.open("sqlite:///app.db")')
        if not given:
            raise InvalidInput("entities", "is empty", "pass the entities whose rows are shown")
    elif given:
        raise InvalidInput("entities", "comes with load=, which alone says what is shown", "leave one of them out")
