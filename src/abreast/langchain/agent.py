"""Make an agent that is kept abreast of its workspace and has its tools."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from langchain import agents
from langchain.agents.middleware import AgentMiddleware
from langchain_core.runnables import Runnable
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from abreast.errors import InvalidInput
from abreast.langchain.sync import WorkspaceSyncMiddleware
from abreast.langchain.tools import workspace_tools
from abreast.langgraph.arguments import check_kind, check_list, check_log
from abreast.langgraph.graph import bind
from abreast.langgraph.saver import SqlSaver
from abreast.model.batch import LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool

    from abreast.langchain.blocks import BlockOptions, OnReadError
    from abreast.langchain.sync import Accept, Refresh
    from abreast.langchain.tools.box import Rights
    from abreast.langchain.tools.workspace import ToolOperation
    from abreast.langgraph.graph import BoundGraph
    from abreast.langgraph.questions import OnInterrupted
    from abreast.model.batch import Extras
    from abreast.prompt import Placement
    from abreast.runs import OnBusy
    from abreast.workspace_log import WorkspaceLog


class WorkspaceContext(TypedDict, total=False):
    """
    The runtime context of an agent that was given no other.

    Attributes:
        workspace_id: The workspace; on resume it may be left out.
        user_id: The person the agent acts for.
    """

    workspace_id: str
    user_id: str


def create_synced_agent(  # noqa: PLR0913 - an agent has as many parts
    model: str | BaseChatModel,
    tools: Sequence[BaseTool | Callable[..., Any] | dict[str, Any]] = (),
    *,
    log: WorkspaceLog,
    checkpointer: BaseCheckpointSaver[Any] | Literal["same"] | bool | None = None,
    store: BaseStore | None = None,
    middleware: Sequence[AgentMiddleware[Any, Any, Any]] = (),
    context_schema: type[Any] = WorkspaceContext,
    accept: Accept | None = None,
    refresh: Refresh = "run",
    extras: Extras | None = None,
    on_read_error: OnReadError = "raise",
    placement: Placement | None = None,
    limit: int = LIMIT,
    block: BlockOptions | None = None,
    viewer: Callable[[Any], object] | None = None,
    entity_tools: bool | Mapping[Any, Sequence[ToolOperation]] = True,
    rights: Rights | None = None,
    on_busy: OnBusy = "reject",
    on_interrupted: OnInterrupted = "reject",
    busy_timeout: float = 60.0,
    lease_seconds: float = 30.0,
    **options: Any,
) -> BoundGraph:
    """
    Make an agent whose every run knows the current rows and what changed since its conversation last succeeded.

    It is `create_agent` with `WorkspaceSyncMiddleware` as the last middleware and `workspace_tools`, bound by
    `bind`: one run of a thread at a time, its cursor confirmed after success.

    Args:
        checkpointer: `"same"` keeps the threads in the log's database, by a `SqlSaver` with its defaults.
        middleware: The application's own, outside of abreast's.
        context_schema: Type of the runtime context; it needs `workspace_id`, and `user_id` where tools write.
        accept: As for `WorkspaceSyncMiddleware`, like `refresh`, `extras`, `on_read_error`, `placement`,
            `limit` and `viewer`.
        block: How the block is written: `language`, `names`, `now`, `time_zone`, `max_bytes`, `value_limit`.
        entity_tools: Operations by entity, as `allow` of `workspace_tools`; True for the default, False for none.
        rights: As for `workspace_tools`.
        on_busy: As for `bind`, like `on_interrupted`, `busy_timeout` and `lease_seconds`.
        options: Everything else that `create_agent` takes: `system_prompt`, `response_format`, `name` …

    Raises:
        InvalidInput: An argument is of the wrong kind, unknown or out of range.
        UnknownEntity: The log was not given an entity that `entity_tools` names.
        InvalidEntity: A tool cannot be made from an entity.

    Example:
        >>> agent = create_synced_agent(model, log=log, checkpointer="same")
        >>> result = agent.invoke({"messages": [("user", "When do I move in?")]}, config, context=context)
    """
    check_log(log)
    check_kind("model", model, (str, Runnable), "model", 'pass a chat model, or a name as "anthropic:…"')
    check_list("tools", tools, object, "tools", "pass [tool, …]")
    check_list("middleware", middleware, AgentMiddleware, "middleware", "pass objects of AgentMiddleware")
    check_kind("store", store, (BaseStore, NoneType), "store", "pass a store of LangGraph, or None")
    if checkpointer == "same":
        checkpointer = SqlSaver(log.database)
    kept = (BaseCheckpointSaver, bool, NoneType)
    check_kind("checkpointer", checkpointer, kept, "saver", 'pass a saver, or "same" for one on the log\'s database')
    check_kind("context_schema", context_schema, type, "class", "pass the class of the runtime context")
    check_kind("block", block, (Mapping, NoneType), "mapping of options", 'pass block={"language": "ko"}')
    made: list[BaseTool] = []
    if entity_tools is not False:
        check_kind(
            "entity_tools", entity_tools, (bool, Mapping), "bool or mapping", 'use True, False or {"move": ["read"]}'
        )
        allow = None if entity_tools is True else entity_tools
        made = _tools(log, allow, rights, viewer)
    sync = WorkspaceSyncMiddleware(
        log,
        placement=placement,
        refresh=refresh,
        extras=extras,
        on_read_error=on_read_error,
        accept=accept,
        viewer=viewer,
        limit=limit,
        **(block or {}),
    )
    # Typed by its overloads only; which of them is meant is in `options`.
    agent = cast("Any", agents).create_agent(
        model,
        [*tools, *made],
        middleware=[*middleware, sync],
        context_schema=context_schema,
        checkpointer=checkpointer,
        store=store,
        **options,
    )
    return bind(
        agent,
        log,
        on_busy=on_busy,
        on_interrupted=on_interrupted,
        busy_timeout=busy_timeout,
        lease_seconds=lease_seconds,
    )


def _tools(
    log: WorkspaceLog,
    allow: Mapping[Any, Sequence[ToolOperation]] | None,
    rights: Rights | None,
    viewer: Callable[[Any], object] | None,
) -> list[BaseTool]:
    try:
        return workspace_tools(log, allow=allow, rights=rights, viewer=viewer)
    except InvalidInput as error:
        if error.name != "allow":
            raise
        told = error
    raise InvalidInput("entity_tools", told.problem, told.way_out)
