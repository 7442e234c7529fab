"""
What a model is shown of a batch: the block, and its place among the messages.

Knows no framework. `render` writes the block, `place` puts it into a list of messages, `prompt_text` writes
it behind instructions.
"""

from abreast.prompt.actors import Names
from abreast.prompt.languages import LanguageName
from abreast.prompt.placement import PLACEMENTS, Placement, place
from abreast.prompt.render import RenderOptions, prompt_text, render, render_unavailable
from abreast.prompt.snapshot import render_rows, render_snapshot

__all__ = [
    "PLACEMENTS",
    "LanguageName",
    "Names",
    "Placement",
    "RenderOptions",
    "place",
    "prompt_text",
    "render",
    "render_rows",
    "render_snapshot",
    "render_unavailable",
]
