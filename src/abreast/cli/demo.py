"""`abreast demo`: the library at work, without a key and without a network."""

import json
import sys
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from abreast.cli.options import choices, one_of, sync_url
from abreast.errors import AbreastError

commands = typer.Typer(help="See the library at work.", no_args_is_help=True, rich_markup_mode=None)


class Language(StrEnum):
    """A language of the story."""

    en = "en"
    ko = "ko"


class ExtraMissing(AbreastError):
    """A package that a command needs is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'abreast[{extra}]'")
        self.package = package
        self.extra = extra


@commands.callback()
def group() -> None:
    """See the library at work."""


@commands.command()
def story(
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            callback=sync_url,
            help="Where the workspace is; a SQLite file that is removed afterwards when left out. Tables named "
            "demo_* are made there and stay.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="PROVIDER:NAME", help="A real model, as LangChain's init_chat_model takes it."),
    ] = None,
    language: Annotated[
        str,
        typer.Option(
            metavar=choices(Language), callback=one_of(Language), help="Language of the block and the questions."
        ),
    ] = Language.en.value,
    as_json: Annotated[bool, typer.Option("--json", help="Print the steps as JSON.")] = False,  # noqa: FBT002 - an option
    without_block: Annotated[  # noqa: FBT002 - an option
        bool,
        typer.Option(
            "--without-block", help="Give the model no block once the date has changed, to see what it says then."
        ),
    ] = False,
) -> None:
    """Tell how conversations stay abreast of one workspace. Exit code 1 if a check fails."""
    _need("langchain", "langchain")
    from abreast.demo.process_server import process_server  # noqa: PLC0415 - as below

    made_by = _maker(model)
    process_server()  # before the imports: it loads the frameworks while this process does
    from abreast.demo import report, story, words  # noqa: PLC0415 - the frameworks are extras

    steps = story.tell(words.LANGUAGES[language], url=database, blind=without_block, **made_by)
    if as_json:
        told = list(steps)
        told_as = [step.to_json() for step in told]
        print(json.dumps(told_as, ensure_ascii=not _takes_unicode(sys.stdout.encoding), indent=2))
        held = all(step.holds for step in told)
    else:
        held = report.report(steps)
    raise typer.Exit(0 if held else 1)


def _takes_unicode(encoding: str | None) -> bool:
    return (encoding or "").lower().replace("-", "") in ("utf8", "utf16", "utf32")


def _maker(name: str | None) -> dict[str, Any]:
    """Give what makes the named model, in other processes too; nothing where none is named."""
    if name is None:
        return {}
    from langchain.chat_models import init_chat_model  # noqa: PLC0415 - an extra

    make_model = partial(init_chat_model, name)
    try:
        make_model()
    except (ImportError, ValueError) as error:
        raise typer.BadParameter(str(error)) from None
    return {"make_model": make_model}


def _need(package: str, extra: str) -> None:
    if find_spec(package) is None:
        raise ExtraMissing(package, extra)
