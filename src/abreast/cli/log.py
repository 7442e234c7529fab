"""`abreast log`: the logs of workspaces."""

import re
import sys
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from abreast.cli.options import DatabaseOption, PrefixOption, opened
from abreast.model import Actor, Attempt
from abreast.model.event import ACTOR_TYPES
from abreast.sql.tables import DEFAULT_PREFIX
from abreast.workspace_log import WorkspaceLog

commands = typer.Typer(help="Look after the logs of workspaces.", no_args_is_help=True, rich_markup_mode=None)


@commands.callback()
def group() -> None:
    """Look after the logs of workspaces."""


@commands.command()
def renew_epoch(
    workspace: Annotated[str, typer.Argument(metavar="WORKSPACE", help="Id of the workspace.")],
    database: DatabaseOption,
    prefix: PrefixOption = DEFAULT_PREFIX,
) -> None:
    """Begin a new epoch after a restore from a backup. Each thread is given the current rows anew."""
    with opened(database, prefix) as target:
        WorkspaceLog(target, entities=[]).renew_epoch(workspace)
        print(f"{workspace}: a new epoch has begun")


def _actor(text: str | None) -> Actor | None:
    """Read `TYPE/ID`."""
    if text is None:
        return None
    kind, _, id_ = text.partition("/")
    for known in ACTOR_TYPES:
        if known == kind and id_:
            return Actor(known, id_)
    raise typer.BadParameter(f"{text!r} is no actor; write it like agent/assistant ({', '.join(ACTOR_TYPES)})")


def _since(text: str | None) -> datetime | None:
    """Read a period that ends now, or a moment."""
    if text is None:
        return None
    period = re.fullmatch(r"(\d{1,6})([mhd])", text)
    if period is not None:
        unit = {"m": "minutes", "h": "hours", "d": "days"}[period[2]]
        return datetime.now(UTC) - timedelta(**{unit: int(period[1])})
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no time; write it like 24h, 7d or 2026-09-28T10:00Z") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


@commands.command()
def attempts(
    workspace: Annotated[str, typer.Argument(metavar="WORKSPACE", help="Id of the workspace.")],
    database: DatabaseOption,
    actor: Annotated[
        str | None,
        typer.Option("--actor", metavar="TYPE/ID", help="Only of this one, as in agent/assistant or user/u1."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Only from then on: 24h, 7d, or a time, UTC without a zone."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Most of them, the newest.")] = 100,
    prefix: PrefixOption = DEFAULT_PREFIX,
) -> None:
    """List what was written and what was refused. One a line, newest first, without values."""
    whose, start = _actor(actor), _since(since)
    with opened(database, prefix) as target:
        found = WorkspaceLog(target, entities=[]).attempts(workspace, actor=whose, since=start, limit=limit)
        for attempt in found:
            print(_line(attempt))
        if not found:
            print(f"{workspace}: nothing of this is recorded", file=sys.stderr)


def _line(attempt: Attempt) -> str:
    moment = datetime.fromtimestamp(attempt.created_at / 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    person = attempt.actor.on_behalf_of
    who = f"{attempt.actor.type}/{attempt.actor.id}{f' for {person}' if person else ''}"
    named = (attempt.operation, attempt.entity_type, attempt.entity_id)
    what = " ".join(part for part in named if part) or "several changes"
    fields = f" ({', '.join(attempt.changed_fields)})" if attempt.changed_fields else ""
    thread = f", thread {attempt.source_thread_id}" if attempt.source_thread_id else ""
    return f"{moment} {attempt.result} {who}: {what}{fields}{thread}"
