"""
abreast for graphs made by hand with LangGraph.

`WorkspaceNodes` gives a graph's model the current state in each request; `CursorState` keeps in the graph's
state where the conversation stands.
"""

from abreast.langgraph.nodes import Request, WorkspaceNodes
from abreast.langgraph.state import CursorState

__all__ = ["CursorState", "Request", "WorkspaceNodes"]
