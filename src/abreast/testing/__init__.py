"""Tests for other projects to run on what they have made or chosen."""

from abreast.testing import saver_contract

__all__ = ["saver_contract"]
