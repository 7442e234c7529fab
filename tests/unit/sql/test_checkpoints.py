"""Statements of the checkpoint operations compile for every kind of database, also those that are not run here."""

import itertools

import pytest
from sqlalchemy import make_url

from abreast.operations import checkpoints, elements, heads, pending, publishing
from abreast.sql.dialects import dialect_named
from abreast.sql.tables import define_tables

URLS = ("sqlite://", "postgresql+psycopg://", "mysql+pymysql://", "mariadb+pymysql://", "oracle+oracledb://")
TABLES = define_tables()
FLAGS = ("root", "has_expected", "anywhere", "revives", "has_fence", "has_epoch", "watches")


def statements(kind):
    """Build every statement that is built once and kept."""
    dialect = dialect_named(kind)
    for values in itertools.product([False, True], repeat=len(FLAGS)):
        yield heads._advance(TABLES, dialect, **dict(zip(FLAGS, values, strict=True)))
    for root, named in itertools.product([False, True], repeat=2):
        yield checkpoints._find(TABLES, root=root, named=named)
    for looks, has_tail in itertools.product([False, True], {False, dialect.inserts_in_ctes}):
        yield publishing._insert_row(TABLES, dialect, looks=looks, has_tail=has_tail)
    yield from (heads._head(TABLES), heads._held(TABLES), heads._held_alone(TABLES), heads._raise_fence(TABLES))
    yield from (elements._select(TABLES), elements.insertion(TABLES), pending._select(TABLES), pending._count(TABLES))
    yield from (checkpoints._select_values(TABLES), publishing._insert_value(TABLES))


@pytest.mark.parametrize("url", URLS)
def test_statements_compile(url):
    """No driver is needed, and what a database does not have is not in them."""
    parsed = make_url(url)
    dialect = parsed.get_dialect()()
    compiled = [str(each.compile(dialect=dialect)) for each in statements(parsed.get_backend_name())]
    assert len(compiled) > 140
    assert not any("RETURNING" in each for each in compiled)
    without_from = [each for each in compiled if "SELECT" in each and " FROM " not in each.replace("\n", " ")]
    assert [] == without_from
    if parsed.get_backend_name() in ("oracle", "mysql"):
        assert any("FROM DUAL" in each for each in compiled)
