"""The log as users hold it in their hands."""

from abreast.model.write import WriteResult
from abreast.workspace_log.log import WorkspaceLog
from abreast.workspace_log.write import AsyncWrite, Numbering, Transaction, Write

__all__ = ["AsyncWrite", "Numbering", "Transaction", "WorkspaceLog", "Write", "WriteResult"]
