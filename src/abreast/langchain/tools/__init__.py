"""Tools by which an agent reads and changes the rows of its workspace."""

from abreast.langchain.tools.origin import awrite_options, write_options
from abreast.langchain.tools.workspace import workspace_tools

__all__ = ["awrite_options", "workspace_tools", "write_options"]
