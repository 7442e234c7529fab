"""How a product row is described to abreast: what is shown, what is hidden, where its workspace is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from abreast.errors import InvalidEntity

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

Format = str | Callable[[Any], str]
Condition = Callable[[Any, Any], Any]
EventValues = Literal["all", "names"]
AUTO = "auto"
"""Find the version column by the mapper or by its name."""


class Entity:
    """
    Describe one kind of product row: a mapped class or a `Table`.

    Constructing it checks only what can be seen without the table; `WorkspaceLog` checks the rest.

    Args:
        source: A SQLAlchemy mapped class or `Table`.
        expose: Fields the model may see. Their values are stored in events.
        hidden: Fields whose change is named but whose value is never copied.
        secret: Fields that are not even named.
        name: The entity's type in events and tools; the table's name when left out.
        workspace: The column that holds the workspace id, or a path of foreign keys that ends in it:
            `"move_id.workspace_id"` follows `move_id` to its table and reads `workspace_id` there.
        key: Fields that identify a row; the primary key without the workspace column when left out.
        version: The version column. Left out: the mapper's `version_id_col`, else a column `version`, else
            abreast keeps the versions itself. None: abreast keeps them itself.
        label: What one row is called in sentences; the name with spaces when left out.
        title: Field whose value names a row in sentences beside its id.
        labels: What fields are called in sentences, by field name.
        formats: How values are written, by field name: a format string as in `"{} EUR"` or a function of the
            JSON value (a date arrives as `"2026-09-30"`). A format is applied before quoting.
        order_by: Fields, `-field` for descending, by which rows are listed; the key decides ties.
        limit: Most rows listed at once. Rows that a batch changed are read besides.
        where: `(columns, viewer) -> condition` for the rows that belong into CURRENT; `columns` has the
            table's columns by field name.
        visible: `(columns, viewer) -> condition` for the rows the viewer may see at all, in CURRENT and in
            CHANGES. Of such an entity CHANGES tells that a row the viewer sees now was added or changed, and the
            values it has now: whether the viewer was entitled to old values, or to a row that is deleted, cannot
            be checked. Deletions are not listed, also where a row of the same id exists again.
        event_values: `"names"` stores no values in events at all.

    Raises:
        InvalidEntity: Fields are named twice, a key is to be hidden, `limit` is below 1, or an argument is of another
            kind.

    Example:
        >>> Entity(move_table, expose=["move_in_date", "stage"], labels={"move_in_date": "move-in date"}).limit
        100
    """

    def __init__(  # noqa: PLR0913 - a description has as many parts as it has
        self,
        source: Any,
        *,
        expose: Sequence[str],
        hidden: Sequence[str] = (),
        secret: Sequence[str] = (),
        name: str | None = None,
        workspace: str = "workspace_id",
        key: Sequence[str] = (),
        version: str | None = AUTO,
        label: str | None = None,
        title: str | None = None,
        labels: Mapping[str, str] | None = None,
        formats: Mapping[str, Format] | None = None,
        order_by: Sequence[str] = (),
        limit: int = 100,
        where: Condition | None = None,
        visible: Condition | None = None,
        event_values: EventValues = "all",
    ) -> None:
        self.source = source
        self.name = _source_name(source) if name is None or name == "" else name
        self._kind("name", self.name, str, "text")
        self.expose = self._names("expose", expose)
        self.hidden = self._names("hidden", hidden)
        self.secret = self._names("secret", secret)
        self.workspace = workspace
        self.key = self._names("key", key)
        self.version = version
        self.label = label or self.name.replace("_", " ")
        self.title = title
        self.labels = dict(self._kind("labels", labels or {}, Mapping, "mapping by field name"))
        self.formats = dict(self._kind("formats", formats or {}, Mapping, "mapping by field name"))
        self.order_by = self._names("order_by", order_by)
        self.limit = limit
        self.where = where
        self.visible = visible
        self.event_values = event_values
        self._check()

    def _names(self, argument: str, fields: object) -> tuple[str, ...]:
        listed = isinstance(fields, Iterable) and not isinstance(fields, (str, bytes))
        names = tuple(cast("Iterable[str]", fields)) if listed else ()
        if not listed or not all(isinstance(name, str) for name in names):
            raise InvalidEntity(self.name, f"{argument} is no list of field names", 'pass ["…", "…"]')
        return names

    def _kind(self, argument: str, value: T, kinds: type[Any] | tuple[type[Any], ...], what: str) -> T:
        if not isinstance(value, kinds):
            raise InvalidEntity(str(self.name), f"{argument} is {type(value).__name__}, no {what}", f"pass {what}")
        return value

    def _check_kinds(self) -> None:
        self._kind("workspace", self.workspace, str, "text")
        self._kind("label", self.label, str, "text")
        self._kind("version", self.version, (str, type(None)), "field name")
        self._kind("title", self.title, (str, type(None)), "field name")
        self._kind("limit", self.limit, int, "whole number")
        for argument, condition in (("where", self.where), ("visible", self.visible)):
            self._kind(argument, condition, (Callable, type(None)), "function of columns and viewer")  # type: ignore[arg-type]
        for field, label in self.labels.items():
            self._kind(f"the label of {field!r}", label, str, "text")
        for field, form in self.formats.items():
            self._kind(f"the format of {field!r}", form, (str, Callable), "format string or function")  # type: ignore[arg-type]

    def _check(self) -> None:
        self._check_kinds()
        named = self.expose + self.hidden + self.secret
        twice = sorted({field for field in named if named.count(field) > 1})
        if twice:
            raise InvalidEntity(
                self.name,
                f"{', '.join(twice)} is named twice in expose, hidden and secret",
                "name each field in one of them",
            )
        check_shown(self, self.key, "is part of the key")
        if self.title is not None and self.title not in self.expose:
            raise InvalidEntity(self.name, f"title {self.title!r} is not exposed", "add it to expose")
        if self.limit < 1:
            raise InvalidEntity(self.name, "limit is below 1", "pass a limit of at least 1")
        if self.event_values not in ("all", "names"):
            raise InvalidEntity(self.name, "event_values is unknown", 'use "all" or "names"')

    def __repr__(self) -> str:
        return f"Entity({self.name!r}, expose={list(self.expose)})"


def check_shown(entity: Entity, fields: Iterable[str], reason: str) -> None:
    """
    Make sure that fields which blocks and events always show are not to be kept from them.

    Raises:
        InvalidEntity: One is named in `hidden` or `secret`.
    """
    for argument, kept in (("hidden", entity.hidden), ("secret", entity.secret)):
        for field in fields:
            if field in kept:
                raise InvalidEntity(
                    entity.name,
                    f"{field!r} is named in {argument}, but it {reason}, which every block and event shows",
                    f"take it out of {argument}, or choose another field by key= or version=",
                )


def _source_name(source: Any) -> str:
    table = getattr(source, "__table__", source)
    name = getattr(table, "name", None)
    if not isinstance(name, str):
        raise InvalidEntity(repr(source), "is neither a mapped class nor a Table", "pass one of these")
    return name


@dataclass(frozen=True, slots=True)
class Row:
    """
    One current row as a viewer may see it.

    Attributes:
        version: 0 where nobody keeps versions.
        values: Exposed fields as JSON values, in the order of `expose`.
    """

    entity_type: str
    entity_id: str
    version: int
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EntityRows:
    """
    The current rows of one entity.

    Attributes:
        rows: In the entity's order, at most its limit.
        total: How many rows there are, listed or not.
    """

    entity_type: str
    rows: tuple[Row, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """
    The current rows of a workspace at one moment, with the HEAD of that moment.

    Attributes:
        entities: In the order in which the log was given them.
    """

    workspace_id: str
    epoch: str
    head: int
    entities: tuple[EntityRows, ...]
