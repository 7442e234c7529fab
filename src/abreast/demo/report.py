"""Print the story for a person: what happened, what the model was given, what it said, what was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

from abreast.prompt.languages import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from abreast.demo.steps import Check, Step
    from abreast.demo.story import Telling

_NARROWEST, _WIDEST = 100, 120
_LIST, _BEGINNING = 5, 3
_FRAME_SHOWN, _EXPECTED_SHOWN = 80, 30
_MARGIN: Final = 12
_FRAMES: Final = frozenset(words.frame for words in LANGUAGES.values())
_HEADINGS: Final = frozenset(
    heading for words in LANGUAGES.values() for heading in (words.current_heading, words.changes_heading)
)


def report(steps: Telling) -> bool:
    """Print what comes before the steps, then the steps as they come; says whether all checks held."""
    console = Console(highlight=False)
    console = Console(highlight=False, width=min(max(console.width, _NARROWEST), _WIDEST))
    for line in steps.introduction:
        console.print(Text(line, style="italic"))
    console.print()
    held, failed, before = 0, 0, None
    for step in steps:
        _print(console, step, before)
        held += sum(check.holds for check in step.checks)
        failed += sum(not check.holds for check in step.checks)
        before = step
    style = "bold red" if failed else "bold green"
    console.print(Text(f"{held} checks held, {failed} failed", style=style))
    return not failed


def _print(console: Console, step: Step, before: Step | None) -> None:
    console.print(Text.assemble((f"{step.step:>2}  ", "bold cyan"), (step.title, "bold")))
    console.print(Text(f"    {_position(step, before)}", style="cyan"))
    for label, text in _told(step, before):
        for place, line in enumerate(text.wrap(console, console.width - _MARGIN)):
            console.print(Text.assemble((f"{'' if place else label:>{_MARGIN - 1}} ", "dim"), line))
    console.print()


def _position(step: Step, before: Step | None) -> str:
    """Say what was written, and where everybody stands now."""
    told = [] if step.revision is None else [f"r{step.revision}"]
    told.append(f"HEAD {step.head}")
    for name, revision in step.cursor.items():
        was = revision if before is None else before.cursor.get(name, revision)
        told.append(f"cursor {name} {revision}" if was == revision else f"cursor {name} {was} → {revision}")
    return " · ".join(told)


def _told(step: Step, before: Step | None) -> Iterator[tuple[str, Text]]:
    if step.asked:
        yield "asked", Text(step.asked)
    for place, line in enumerate(_given(step, before)):
        yield "" if place else "given", line
    for call in step.called:
        yield "called", Text(call, style="yellow")
    for label, said in (("answer", step.answer), ("error", step.error)):
        if said:
            yield label, Text(said, style="bold yellow")
    yield from _checked(step.checks)


def _checked(checks: list[Check]) -> Iterator[tuple[str, Text]]:
    for check in checks:
        if not check.holds:
            yield "✗", Text(f"{check.what}: expected {check.expected!r}, found {check.actual!r}", style="red")
    held = ", ".join(_held(check) for check in checks if check.holds)
    if held:
        yield "✓", Text(held, style="green")


def _given(step: Step, before: Step | None) -> Iterator[Text]:
    if step.given and before is not None and step.given == before.given:
        yield Text("the same block, byte for byte", style="dim")
    elif step.given:
        yield from _shortened(step.given)


def _held(check: Check) -> str:
    expected = str(check.expected)
    return f"{check.what}: {expected}" if len(expected) <= _EXPECTED_SHOWN else check.what


def _shortened(block: str) -> Iterator[Text]:
    """Give a block's lines: the frame cut, of long lists the beginning."""
    listed: list[str] = []
    for line in [*block.splitlines(), ""]:
        if line.startswith("- "):
            listed.append(line)
            continue
        shown = len(listed) if len(listed) <= _LIST else _BEGINNING
        yield from map(Text, listed[:shown])
        if len(listed) > shown:
            yield Text(f"  … {len(listed) - shown} more lines", style="dim")
        listed = []
        if line:
            yield _styled(line)


def _styled(line: str) -> Text:
    if line in _FRAMES:
        frame = Text(line, style="dim")
        frame.truncate(_FRAME_SHOWN, overflow="ellipsis")
        return frame
    return Text(line, style="bold magenta" if line in _HEADINGS else "dim")
