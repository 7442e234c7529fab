"""Read an English block back: its frame, its rows and every value, to show that nothing is lost."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

VALUE = r'"[^"]*"(?: \(cut, [0-9]+ characters in all\))?|[^\s"\[{;]+'
ID = r'"[^"]*"|[^\s"]+'
ROW = re.compile(rf"- (?P<label>[a-z ]+?) (?P<id>{ID}) \(version (?P<version>[0-9]+)\)(?:: (?P<values>.*))?")
LABEL = re.compile(r"(?:; )?([a-z -]+): ")
FIELD_CHANGE = re.compile(
    rf"- (?P<who>A person|An agent) changed the (?P<field>[a-z -]+) of (?P<label>[a-z ]+?) (?P<id>{ID})"
    rf"(?: \((?P<title>{VALUE})\))? from (?P<before>{VALUE}) to (?P<after>{VALUE}) \(r[0-9]+\)\."
    rf" It is now (?P<now>{VALUE})\."
)
HEADINGS = ("CURRENT", "CHANGES SINCE LAST SUCCESS")


@dataclass
class ReadRow:
    """A row as the block tells it."""

    label: str
    id: str
    version: int
    values: dict[str, Any]


class Block:
    """The lines of a block, between one opening and one closing delimiter."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        assert self.lines == text.splitlines(), "another line break than the block's own"
        assert re.fullmatch(r'<workspace_state revision="[0-9]+">', self.lines[0])
        assert self.lines[-1] == "</workspace_state>"
        assert text.count("<") == text.count(">") == 2
        current, changes = map(self.lines.index, HEADINGS)
        assert [self.lines.count(heading) for heading in HEADINGS] == [1, 1]
        self.current = self.lines[current + 1 : changes]
        self.changes = self.lines[changes + 1 : -1]

    def rows(self) -> Iterator[ReadRow]:
        """Give the rows, each with the values it holds."""
        for line in self.current:
            if line.startswith("- "):
                found = ROW.fullmatch(line)
                assert found, line
                values = dict(read_fields(found["values"] or ""))
                yield ReadRow(found["label"], str(read_value(found["id"])), int(found["version"]), values)

    def field_changes(self) -> Iterator[Mapping[str, Any]]:
        """Give the changed fields, each with its old, new and present value."""
        for line in self.changes:
            if line.startswith("- "):
                found = FIELD_CHANGE.fullmatch(line)
                assert found, line
                yield {name: part and read_value(part) for name, part in found.groupdict().items()}


def current(block: str) -> list[str]:
    """Give the lines under the first heading."""
    return block.split("\nCURRENT\n")[1].partition("\nCHANGES SINCE LAST SUCCESS")[0].split("\n")


def changes(block: str) -> list[str]:
    """Give the lines under the second heading."""
    return block.split("\nCHANGES SINCE LAST SUCCESS\n")[1].removesuffix("\n</workspace_state>").split("\n")


def skeleton(text: str) -> str:
    """Give a block without what its quotes hold."""
    return re.sub(r'"[^"]*"', '""', text)


def read_fields(text: str) -> Iterator[tuple[str, Any]]:
    """Read `label: value; label: value`."""
    at = 0
    while at < len(text):
        label = LABEL.match(text, at)
        assert label, text[at:]
        value, at = read_part(text, label.end())
        yield label[1], value


def read_part(text: str, at: int) -> tuple[Any, int]:
    """Read the value that begins at a place, and say where it ends."""
    if text[at] in "[{":
        return json.JSONDecoder().raw_decode(text, at)
    found = re.compile(VALUE).match(text, at)
    assert found, text[at:]
    return read_value(found[0]), found.end()


def read_value(text: str) -> Any:
    """Read a value: a text in quotes, a word of the language, else what stands there."""
    if text[0] == '"':
        return json.JSONDecoder().raw_decode(text)[0]
    return {"yes": True, "no": False, "empty": None}.get(text, text)
