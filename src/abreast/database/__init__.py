"""Run operations in transactions, sync or async; the only place that knows the difference."""

from abreast.database.database import Database

__all__ = ["Database"]
