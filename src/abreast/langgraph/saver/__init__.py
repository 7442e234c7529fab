"""Checkpoints of LangGraph in the database."""

from abreast.langgraph.saver.saver import SqlSaver

__all__ = ["SqlSaver"]
