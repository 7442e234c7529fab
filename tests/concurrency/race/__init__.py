"""Many writers with slow commits against many readers: does anybody miss anything?"""

from tests.concurrency.race.race import Outcome, Race, run

__all__ = ["Outcome", "Race", "run"]
