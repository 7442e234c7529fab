"""What an agent's state keeps of abreast: cursors, as JSON, out of input and result."""

from __future__ import annotations

from typing import Annotated, Any

from langchain.agents.middleware import AgentState
from langchain.agents.middleware.types import PrivateStateAttr

from abreast.langgraph.state import joined


class SyncState(AgentState[Any], total=False):
    """
    The part of an agent's state that `WorkspaceSyncMiddleware` needs, the same keys as `CursorState`.

    Holds by scope what the model was given and what was nominated. It is stored, forked and travels in time with
    the messages.
    """

    # LangGraph reads the reducer from the last annotation.
    _abreast_delivered: Annotated[dict[str, Any], PrivateStateAttr, joined]
    _abreast_cursor: Annotated[dict[str, Any], PrivateStateAttr, joined]
