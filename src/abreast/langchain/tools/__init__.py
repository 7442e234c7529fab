"""Tools by which an agent reads and changes the rows of its workspace."""

from abreast.langchain.tools.origin import write_options
from abreast.langchain.tools.workspace import workspace_tools

__all__ = ["workspace_tools", "write_options"]
