"""Delays between attempts."""

from abreast.model.backoff import backoff


def test_delays_double_up_to_the_longest():
    """Without chance a delay is twice the one before, until the longest."""
    assert [0.1, 0.2, 0.4, 0.5, 0.5] == list(backoff(6, first=0.1, most=0.5, jitter=lambda: 1.0))


def test_each_delay_has_its_own_chance():
    """The factor is drawn anew for every delay."""
    factors = iter([0.5, 0.0, 1.0])
    assert [0.05, 0.0, 0.4] == list(backoff(4, first=0.1, most=9, jitter=lambda: next(factors)))


def test_one_attempt_has_no_delay():
    """Whoever tries once never waits."""
    assert [] == list(backoff(1, first=0.1, most=1, jitter=lambda: 1.0))
