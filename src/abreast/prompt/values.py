"""Write the values of rows: formatted, cut to a length, quoted, and only those that are exposed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import TYPE_CHECKING, Any, cast

from abreast.errors import InvalidInput
from abreast.prompt.quoting import quote, write_id, write_label, write_text
from abreast.prompt.sentences import Subject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from abreast.model.entity import Entity
    from abreast.prompt.sentences import Sentences

TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Writer:
    """
    Writes values in one language.

    Attributes:
        limit: Most characters of one value; a longer one is cut, with its full length beside it.
    """

    words: Sentences
    limit: int
    _labelled: dict[str, tuple[tuple[str, str], ...]] = dataclass_field(
        default_factory=dict[str, tuple[tuple[str, str], ...]]
    )

    def value(self, entity: Entity, field: str, value: Any) -> str:
        """
        Write one value.

        Raises:
            InvalidInput: The field's format failed.
        """
        shown = _formatted(entity, field, value) if field in entity.formats else value
        return self._written(shown, self.limit)

    def plain(self, value: Any) -> str:
        """Write a JSON value that belongs to no field."""
        return self._written(value, self.limit)

    def values(self, entity: Entity, values: Mapping[str, Any]) -> str:
        """Write the exposed ones of a row's values with their labels."""
        labelled = self._labelled.get(entity.name)
        if labelled is None:
            labelled = tuple((field, f"{field_label(entity, field)}: ") for field in entity.expose)
            self._labelled[entity.name] = labelled
        told: list[str] = []
        for field, label in labelled:
            if field in values:
                value = values[field] if field not in entity.formats else _formatted(entity, field, values[field])
                told.append(label + self._written(value, self.limit))
        return "; ".join(told)

    def subject(self, entity: Entity, entity_id: str, values: Mapping[str, Any]) -> Subject:
        """Name a row by label, id and title."""
        return Subject(entity_label(entity), write_id(entity_id), self._title(entity, values) if values else None)

    def _title(self, entity: Entity, values: Mapping[str, Any]) -> str | None:
        value = None if entity.title is None else values.get(entity.title)
        if entity.title is None or value is None or entity.title not in entity.expose:
            return None
        return self._written(_formatted(entity, entity.title, value), min(self.limit, TITLE_LENGTH))

    def _written(self, value: Any, limit: int) -> str:
        if isinstance(value, str):
            return write_text(value) if len(value) <= limit else self._cut(value, limit)
        if value is None:
            return self.words.empty
        if isinstance(value, bool):
            return self.words.yes if value else self.words.no
        text = _json(value)
        return quoted(value) if len(text) <= limit else self._cut(text, limit)

    def _cut(self, text: str, limit: int) -> str:
        return self.words.cut(quote(text[:limit]), len(text))


def entity_label(entity: Entity) -> str:
    """Give what a row of an entity is called, as text of one line."""
    return write_label(entity.label)


def field_label(entity: Entity, field: str) -> str:
    """Give what a field is called, as text of one line."""
    return write_label(entity.labels.get(field) or field.replace("_", " "))


def _formatted(entity: Entity, field: str, value: Any) -> Any:
    form = entity.formats.get(field)
    if form is None or value is None:
        return value
    try:
        text: Any = form.format(value) if isinstance(form, str) else form(value)
    except Exception as error:  # noqa: BLE001 - a format is the application's; whatever it raises is told
        # Not chained: the text of the error can hold the value.
        raise _bad_format(entity, field, f"its format failed with {type(error).__name__}") from None
    if not isinstance(text, str):
        raise _bad_format(entity, field, f"its format gave {type(text).__name__}, not text")
    return text


def _bad_format(entity: Entity, field: str, problem: str) -> InvalidInput:
    return InvalidInput(
        f"{entity.name}.{field}",
        problem,
        "mend it in Entity(formats=...): it is given the field's JSON value",
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


def quoted(value: Any) -> str:
    """Write JSON whose every text is quoted like any other, so that it can be copied into a tool call."""
    if isinstance(value, dict):
        pairs = sorted(cast("dict[str, Any]", value).items())
        return f"{{{','.join(f'{quote(key)}:{quoted(item)}' for key, item in pairs)}}}"
    if isinstance(value, list):
        items = cast("list[object]", value)
        return f"[{','.join(map(quoted, items))}]"
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    return write_text(str(value))
