"""SqlSaver keeps the contract of savers, and LangGraph's own savers show that the contract can be broken."""

import contextlib
from functools import partial

import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from sqlalchemy import make_url

from abreast.testing.saver_contract import SaverContract, cases
from tests.concurrency import children
from tests.concurrency.backends import ON_POSTGRESQL
from tests.concurrency.contract_savers import BOUND, Apart, async_saver, bound, corrupt, fault, saver_apart, sync_saver
from tests.concurrency.product import add_items
from tests.concurrency.proxy import proxy_to

FEW = 4
RACES = ("no_message_is_lost", "one_resume_counts", "one_resume_of_changes_counts", "one_resume_of_siblings_counts")

# Both ways on SQLite, and each once on PostgreSQL.
BOTH_WAYS = pytest.mark.parametrize(
    ("backend", "open_saver"),
    [
        ("sqlite", sync_saver),
        ("sqlite", async_saver),
        pytest.param("postgresql-embedded", sync_saver, marks=pytest.mark.external),
        pytest.param("postgresql-installed", async_saver, marks=pytest.mark.external),
    ],
    indirect=["backend"],
)


def check(contract, chosen):
    """Run cases, and show those that did not pass."""
    report = contract.report(chosen)
    assert [] == [str(result) for result in report.results if result.outcome != "passed"]
    assert len(chosen) == len(report.passed)
    return report


def contract_of(url, open_saver=sync_saver, **options):
    """Describe SqlSaver on a database."""
    return SaverContract("SqlSaver", partial(contextlib.nullcontext, url), open_saver, **options)


def named(*names):
    """Give cases by their names."""
    return [case for case in cases() if case.name in names]


@BOTH_WAYS
def test_c02_c06_c08_c09_c13_c25_c36_races(product_url, open_saver):
    """C02 C06 C08 C09 C13 C25 C36: turns, answers, clocks, deletions and prunes of two savers. I10"""
    check(contract_of(product_url, open_saver, rounds=8 if open_saver is sync_saver else FEW), cases("races"))


@BOTH_WAYS
def test_c16_c17_c37_values(product_url, open_saver):
    """C16 C17 C37: values that a database could refuse, change or lose. I11"""
    check(contract_of(product_url, open_saver), cases("values"))


@BOTH_WAYS
def test_s12_c04_c27_graphs(product_url, open_saver):
    """S12 C04 C27: branches, nested graphs, siblings and states that are stored as changes. I10 I11"""
    check(contract_of(product_url, open_saver, rounds=FEW), cases("graphs"))


def test_c04_c30_faults(product_url):
    """C04 C30: processes that are killed at any statement or crowd, bytes that change or go missing. I10 I11"""
    assert children.CONTEXT
    contract = contract_of(product_url, processes=True, fault=fault, corrupt=corrupt)
    report = check(contract, cases("faults"))
    points = next(result.detail for result in report.results if result.case == "killed_at_any_statement")
    assert "stored was nothing, put, put and writes" in points
    assert int(points.split()[2]) > 10


@ON_POSTGRESQL
def test_c02_races_and_values_of_another_driver(product_url):
    """The same with asyncpg. I10 I11"""
    url = make_url(product_url).set(drivername="postgresql+asyncpg").render_as_string(hide_password=False)
    check(contract_of(url, async_saver, rounds=FEW), cases("races", "values"))


def test_c02_c13_bound_graphs(product_url, log):
    """C02 C13: with a lease the refused run does nothing at all. I8"""
    add_items(log, "i1")
    contract = contract_of(product_url, prepare=bound, configurable=BOUND, rounds=FEW, exclusive=True)
    check(contract, cases("races"))


def test_leases_in_another_database(product_url, log, empty_copy):
    """The same where the checkpoints have a database of their own. I8"""
    add_items(log, "i1")
    contract = contract_of(
        Apart(product_url, empty_copy), saver_apart, prepare=bound, configurable=BOUND, rounds=FEW, exclusive=True
    )
    check(contract, named(*RACES, "a_deleted_thread_stays_deleted"))


@ON_POSTGRESQL
def test_c02_races_over_a_slow_line(product_url):
    """C02 C13: with 5 ms more for each message to the server the same holds. I10"""
    with proxy_to(product_url, delay=0.005) as proxy:
        check(contract_of(proxy.url(product_url), rounds=2), named(*RACES))


@contextlib.contextmanager
def official_saver(url):
    """Open LangGraph's saver on a database."""
    if url.startswith("sqlite"):
        with SqliteSaver.from_conn_string(make_url(url).database) as saver:
            yield saver
        return
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with PostgresSaver.from_conn_string(plain) as saver:
        saver.setup()
        yield saver


def test_the_contract_can_be_broken(empty_database_url):
    """LangGraph's savers lose a message of every race, without an error, and take both answers to a question."""
    contract = contract_of(empty_database_url, official_saver, rounds=FEW)
    lost, resumed = (contract.run(case) for case in named("no_message_is_lost", "one_resume_counts"))
    assert lost.detail.endswith("of 10 messages lost, 0 stored twice; 0 runs got an error")
    assert int(lost.detail.split()[0]) >= FEW - 1
    assert resumed.detail.startswith("8 answers accepted and 8 effects for 4 questions")
    with pytest.raises(AssertionError, match="no_message_is_lost"):
        lost.check()
