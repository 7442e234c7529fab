"""
abreast for graphs made by hand with LangGraph.

`WorkspaceNodes` gives a graph's model the current state in each request; `CursorState` keeps in the graph's
state where the conversation stands; `bind` lets one run at a time have a thread, and confirms what it was given;
`SqlSaver` keeps the graph's checkpoints in the database.
"""

from importlib.util import find_spec

if find_spec("langgraph") is None:
    raise ImportError("abreast.langgraph needs LangGraph, which is not installed; pip install 'abreast[langgraph]'")

from abreast.langgraph.graph import BoundGraph, bind
from abreast.langgraph.nodes import Request, WorkspaceNodes
from abreast.langgraph.saver import SqlSaver
from abreast.langgraph.state import CursorState

__all__ = ["BoundGraph", "CursorState", "Request", "SqlSaver", "WorkspaceNodes", "bind"]
