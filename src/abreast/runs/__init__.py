"""One run of one thread: its lease, what it was given, what it may confirm. Knows no framework."""

from abreast.runs.run import RUN_KEY, Run, current_run
from abreast.runs.runs import OnBusy, Runs

__all__ = ["RUN_KEY", "OnBusy", "Run", "Runs", "current_run"]
