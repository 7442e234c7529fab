"""The log as users hold it in their hands."""

from abreast.workspace_log.log import WorkspaceLog
from abreast.workspace_log.write import AsyncWrite, Write

__all__ = ["AsyncWrite", "WorkspaceLog", "Write"]
