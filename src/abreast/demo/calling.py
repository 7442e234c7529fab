"""Find among serialized tools the one that carries out an instruction, and fill in what it asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from abreast.demo.reader import is_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from abreast.demo.reader import Target

Schema = dict[str, Any]

_IDS: Final = frozenset(("id", "entity_id", "key"))
_VERSIONS: Final = frozenset(("version", "expected_version"))


@dataclass(frozen=True, slots=True)
class Instruction:
    """
    What is to be changed, in words of the block.

    Attributes:
        target: A row, and one of its fields.
        value: What the field is to hold, as it is written.
        yes: The word by which the block writes a set mark.
    """

    target: Target
    value: str
    yes: str

    def call(self, tools: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
        """Build the call of a tool that can carry it out, first of those that name the kind of row; None without."""
        filled = [(tool["function"], self._arguments(tool["function"])) for tool in tools]
        fitting = [(function, arguments) for function, arguments in filled if arguments is not None]
        if not fitting:
            return None
        label = self.target.row.label
        function, arguments = min(fitting, key=lambda pair: not is_named(label, pair[0].get("description", "")))
        return {"name": function["name"], "args": arguments, "id": f"call_{uuid4().hex}"}

    def _arguments(self, function: Mapping[str, Any]) -> dict[str, Any] | None:
        """Fill in the arguments; None where something needed is unknown, or the value has no place."""
        parameters = function.get("parameters", {})
        known: dict[str, Any] = {}
        has_place = False
        for name, schema in parameters.get("properties", {}).items():
            if name in _IDS:
                known[name] = self.target.row.entity_id
            elif name in _VERSIONS:
                known[name] = self.target.row.version
            elif (found := self._value(name, schema)) is not None:
                known[name], has_place = found, True
        return known if has_place and set(parameters.get("required", ())) <= set(known) else None

    def _value(self, name: str, schema: Schema) -> Any:
        """Give the value as an argument takes it, or an object that holds it; None where it has no place there."""
        for inner, its_schema in schema.get("properties", {}).items():
            if self._is_field(inner, its_schema):
                return {inner: self._typed(its_schema)}
        return self._typed(schema) if self._is_field(name, schema) else None

    def _is_field(self, name: str, schema: Schema) -> bool:
        return self.target.field in (schema.get("description"), name)

    def _typed(self, schema: Schema) -> Any:
        types = {part.get("type") for part in schema.get("anyOf", [schema])}
        if "boolean" in types:
            return self.value.casefold() == self.yes.casefold()
        return int(self.value) if "integer" in types and self.value.lstrip("-").isdigit() else self.value
