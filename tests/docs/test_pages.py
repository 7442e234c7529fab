import inspect
import re
from pathlib import Path

import pytest

from abreast import Entity, errors
from abreast.prompt import place, render
from tests.docs.pages import ROOT, Page

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The Python of a page runs in an empty folder and prints what the page shows."""
    if path.stem == "fastapi":
        pytest.importorskip("fastapi.testclient", reason="FastAPI is the user's, not a dependency")
    monkeypatch.chdir(tmp_path)
    Page(path).run()


def test_blocks_of_the_tutorial_can_be_pasted_into_a_prompt():
    """Python's plain prompt ends a block of code at the first blank line."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "tutorial.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert [] == [block for block in blocks if re.search(r"\n\n[ \t]", block)]


def test_blocks_of_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """So does that of the README, one block after the other."""
    monkeypatch.chdir(tmp_path)
    assert Page(ROOT / "README.md", shows_output=False).run() > 0


def anchors(path: Path) -> set[str]:
    """Give the anchors of a page's headings."""
    headings = HEADING.findall(re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md"], ids=lambda path: path.stem)
def test_links_lead_somewhere(path: Path):
    """Every link to another page or heading finds it."""
    broken = []
    for target, anchor in LINK.findall(path.read_text(encoding="utf-8")):
        found = (path.parent / target) if target else path
        if not found.exists() or (anchor and anchor not in anchors(found)):
            broken.append(f"{target}#{anchor}")
    assert [] == broken


def test_every_page_is_in_the_index():
    """Nobody has to guess that a page exists."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert [] == [path.name for path in PAGES if path.name != "index.md" and f"({path.name})" not in index]


def public_errors() -> list[str]:
    """Give the names of the error classes that a user can meet."""
    return [
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.AbreastError) and not name.startswith("_")
    ]


@pytest.mark.parametrize("name", public_errors())
def test_every_error_has_a_section(name: str):
    """Whoever meets an error finds it by its name."""
    assert f"## {name}\n" in (DOCS / "errors.md").read_text(encoding="utf-8")


def options(described: object) -> list[str]:
    """Give the names of keyword-only arguments."""
    parameters = inspect.signature(described).parameters.values()  # type: ignore[arg-type]
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


@pytest.mark.parametrize(
    ("page", "described"),
    [("entities.md", Entity), ("prompt.md", render), ("prompt.md", place)],
    ids=["Entity", "render", "place"],
)
def test_every_option_is_described(page: str, described: object):
    """A page that explains options leaves none out."""
    text = (DOCS / page).read_text(encoding="utf-8")
    assert [] == [name for name in options(described) if f"`{name}`" not in text]
