"""Make an agent's tools from the entities of a log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from langchain_core.tools import BaseTool, StructuredTool

from abreast.errors import InvalidEntity, InvalidInput
from abreast.langchain.tools.box import Box
from abreast.langchain.tools.reading import History, ReadArguments, Reading, history_arguments
from abreast.langchain.tools.refusing import WritingTool, told
from abreast.langchain.tools.replies import invalid
from abreast.langchain.tools.schemas import Row, create_arguments, is_writable, update_arguments
from abreast.langchain.tools.writing import Writing
from abreast.langgraph.arguments import (
    came,
    check_choice,
    check_functions,
    check_list,
    check_log,
    check_mapping,
    check_text,
)
from abreast.prompt.values import entity_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pydantic import BaseModel

    from abreast.langchain.tools.box import Rights
    from abreast.langchain.tools.writing import WriteOperation
    from abreast.model.write import Merge
    from abreast.sql.mapping import EntityTable
    from abreast.workspace_log import WorkspaceLog

ToolOperation = Literal["read", "update", "create", "delete"]
OPERATIONS: Final[tuple[ToolOperation, ...]] = get_args(ToolOperation)
DEFAULT_OPERATIONS: Final[tuple[ToolOperation, ...]] = ("read", "update")
_LONGEST_NAME = 64


def workspace_tools(
    log: WorkspaceLog,
    *,
    allow: Mapping[Any, Sequence[ToolOperation]] | None = None,
    fields: Mapping[Any, Sequence[str]] | None = None,
    rights: Rights | None = None,
    viewer: Callable[[Any], object] | None = None,
    agent: str | None = None,
    merge: Merge = None,
) -> list[BaseTool]:
    """
    Make the tools by which an agent reads and changes the rows of its workspace, and looks changes up.

    Each write takes effect once, however often its call is repeated, and only while its run holds the thread; row
    and event are stored together, and the event names the agent, the person it acts for (`user_id` in the runtime
    context), the thread and the run. A row that changed since the expected version, a missing right, a refused
    value or an unknown id is answered with a message of status `error` that says what to do next, and recorded for
    `WorkspaceLog.attempts`; a lost lease and an unreachable database end the run. The tools work in agents whose
    graph was made by `bind`.

    Args:
        allow: Operations by entity (its name, mapped class or table): `"read"`, `"update"`, `"create"`,
            `"delete"`. Entities left out get no tool. Left out as a whole, every entity can be read and updated.
        fields: Fields that are written instead of the exposed ones, by entity. Hidden and secret ones are written
            only if they are named here; they are never read.
        rights: `(context, entity, operation)` to whether the run's user may, sync or async, asked at each call.
        viewer: Gives the viewer, whom the entities' `where` and `visible` see, from the runtime context.
        agent: Name of the agent in the log; the name of `create_agent` when left out.
        merge: `"fields"` lets an update of other fields than those changed meanwhile pass.

    Raises:
        UnknownEntity: The log was not given an entity.
        InvalidEntity: An entity cannot be created by a tool, a field cannot be written, or two tools have one name.
        InvalidInput: An operation is unknown, or an argument of another type.

    Example:
        >>> tools = workspace_tools(log, allow={"move": ["read", "update"]})
        >>> [tool.name for tool in tools]
        ['read_move', 'update_move', 'list_changes']
    """
    check_log(log)
    check_functions(rights=rights, viewer=viewer)
    check_choice("merge", merge, ("fields",), optional=True)
    if agent is not None:
        check_text("agent", agent)
    box = Box(log, rights, viewer, agent, merge)
    catalog = log.steps.catalog
    allowed = {catalog.find(entity).name: _checked(operations) for entity, operations in _by_entity("allow", allow)}
    if allow is None:
        allowed = dict.fromkeys(catalog.by_name, DEFAULT_OPERATIONS)
    named = {catalog.find(entity).name: _names("fields", names) for entity, names in _by_entity("fields", fields)}
    tools = [
        tool
        for name, operations in allowed.items()
        for tool in _of_entity(box, catalog.by_name[name], operations, named.get(name))
    ]
    readable = {name: catalog.by_name[name] for name, operations in allowed.items() if "read" in operations}
    if readable:
        tools.append(_history(box, readable))
    _check_names(tools)
    return tools


def _by_entity(name: str, given: object) -> Iterable[tuple[Any, Any]]:
    way_out = 'pass lists by entity, as {"move": ["…"]}'
    return () if given is None else check_mapping(name, given, "lists by entity", way_out).items()


def _names(name: str, given: object) -> tuple[str, ...]:
    return tuple(check_list(name, given, str, "texts", 'pass lists by entity, as {"move": ["…"]}'))


def _checked(operations: object) -> tuple[ToolOperation, ...]:
    named = _names("allow", operations)
    unknown = [operation for operation in named if operation not in OPERATIONS]
    if unknown:
        raise InvalidInput("allow", f"has an unknown operation {came(unknown[0])}", f"use {', '.join(OPERATIONS)}")
    return tuple(operation for operation in OPERATIONS if operation in named)


def _of_entity(
    box: Box, entity: EntityTable, operations: Sequence[ToolOperation], named: tuple[str, ...] | None
) -> Iterator[BaseTool]:
    label, reader = entity_label(entity.entity), ""
    for operation in operations:
        if operation == "read":
            reader = _tool_name("read", entity)
            reading = Reading(box, entity, reader)
            told = f"Read current rows of {label}: all, or those with the ids."
            yield _tool(reader, told, ReadArguments, reading)
            continue
        name = _tool_name(operation, entity)
        writing = Writing(box, entity, operation, name, reader)
        yield _tool(name, _DESCRIPTIONS[operation].format(label=label), _arguments(entity, operation, named), writing)


_DESCRIPTIONS: Final[Mapping[WriteOperation, str]] = {
    "update": "Change fields of one {label}. Pass the version you last read.",
    "create": "Add one {label}.",
    "delete": "Delete one {label}. Pass the version you last read.",
}


def _arguments(entity: EntityTable, operation: WriteOperation, named: tuple[str, ...] | None) -> type[BaseModel]:
    if operation == "delete":
        return Row
    writable = [name for name in entity.entity.expose if is_writable(entity, name)] if named is None else list(named)
    for name in writable:
        entity.column(name)
        if not is_writable(entity, name):
            raise InvalidEntity(entity.name, f"a tool cannot write {name!r}", "leave it out of fields=")
    return update_arguments(entity, writable) if operation == "update" else create_arguments(entity, writable)


def _history(box: Box, entities: Mapping[str, EntityTable]) -> BaseTool:
    told = "Look up who changed what and when, by kind of row, row, field and period; newest first."
    return _tool("list_changes", told, history_arguments(entities), History(box, entities, "list_changes"))


def _tool(name: str, description: str, arguments: type[BaseModel], deed: Reading | Writing | History) -> BaseTool:
    shared: dict[str, Any] = {
        "func": deed.call,
        "coroutine": deed.acall,
        "name": name,
        "description": description,
        "args_schema": arguments,
    }
    if isinstance(deed, Writing):
        return WritingTool.from_function(**shared, handle_validation_error=told, deed=deed)
    return StructuredTool.from_function(**shared, handle_validation_error=invalid)


def _tool_name(operation: ToolOperation, entity: EntityTable) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", f"{operation}_{entity.name}")[:_LONGEST_NAME]


def _check_names(tools: Sequence[BaseTool]) -> None:
    names = [tool.name for tool in tools]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidEntity(twice, "two tools have this name", "give the entities names that differ in letters")
