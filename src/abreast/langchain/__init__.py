"""
abreast for agents made with LangChain's `create_agent`.

`create_synced_agent` makes an agent that is kept abreast of its workspace and has its tools. Who assembles an agent
takes `WorkspaceSnapshotMiddleware` (current rows) or `WorkspaceSyncMiddleware` (with changes and cursor),
`workspace_tools`, and `bind`.
"""

from importlib.util import find_spec

if find_spec("langchain") is None:
    raise ImportError("abreast.langchain needs LangChain, which is not installed; pip install 'abreast[langchain]'")

from abreast.langchain.agent import WorkspaceContext, create_synced_agent
from abreast.langchain.snapshot import WorkspaceSnapshotMiddleware
from abreast.langchain.sync import WorkspaceSyncMiddleware
from abreast.langchain.tools import awrite_options, workspace_tools, write_options
from abreast.langgraph.graph import bind

__all__ = [
    "WorkspaceContext",
    "WorkspaceSnapshotMiddleware",
    "WorkspaceSyncMiddleware",
    "awrite_options",
    "bind",
    "create_synced_agent",
    "workspace_tools",
    "write_options",
]
