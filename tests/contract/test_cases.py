"""Every case is covered or named as pending."""

from tests.cases import ALL, covered, pending


def test_every_case_is_covered_or_pending():
    """A case has a test with its id in the name, or a line that says what it waits for; no id is made up."""
    tests, reasons = covered(), pending()
    assert [] == [case for case in ALL if case not in tests and case not in reasons]
    assert set() == (set(tests) | set(reasons)) - set(ALL)
