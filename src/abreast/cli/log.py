"""`abreast log`: the logs of workspaces."""

from typing import Annotated

import typer

from abreast.cli.options import DatabaseOption, PrefixOption, opened
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
