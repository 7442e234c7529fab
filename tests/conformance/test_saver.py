"""The suite that LangGraph's authors have for checkpointers."""

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate

from abreast import Database
from abreast.langgraph.saver import SqlSaver

BASE = {"put": 17, "put_writes": 10, "get_tuple": 10, "list": 16, "delete_thread": 5}
EXTENDED = {"delete_for_runs": 7, "copy_thread": 8, "prune": 8}


def registered(url: str, **options: object):
    """Describe the saver to the suite."""

    @checkpointer_test(name="SqlSaver")
    async def make():
        async with Database.open(url) as database:
            yield SqlSaver(database, **options)

    return make


async def test_base_and_extended(database_url):
    """All tests pass, and none was left out because a method was not found. I10 I11"""
    report = await validate(registered(database_url, allow_new_roots=True))
    failures = {name: result.failures for name, result in report.results.items() if result.failures}
    assert {} == failures
    assert report.passed_all_base()
    assert report.passed_all()
    assert {**BASE, **EXTENDED} == {name: result.tests_passed for name, result in report.results.items()}


async def test_a_second_root_is_refused_without_the_switch(database_url):
    """Only those tests fail that put a checkpoint without parent into a thread that has some. I10"""
    report = await validate(registered(database_url))
    failures = [line for result in report.results.values() for line in result.failures or ()]
    assert all("expected None, found" in line for line in failures), failures
    names = {line.partition(":")[0] for line in failures}
    assert names == {
        "test_list_metadata_filter_multiple_keys",
        "test_list_metadata_custom_keys",
        "test_delete_for_runs_preserves_other_runs",
    }


@pytest.mark.parametrize("name", ["aput", "aput_writes", "aget_tuple", "alist", "adelete_thread"])
def test_the_suite_finds_the_methods(name):
    """A method that is only inherited would count as absent, and the suite would call that a pass."""
    assert name in vars(SqlSaver)
