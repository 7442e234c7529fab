"""What the processes of these tests need, loaded once for all of them."""

import aiosqlite
import asyncpg
import psycopg
import pytest
import sqlalchemy.ext.asyncio
import sqlalchemy.orm

import abreast.sql.migrator
import abreast.testing.saver_contract
import tests.concurrency.backends
import tests.concurrency.contract_savers
import tests.concurrency.race

__all__ = ["abreast", "aiosqlite", "asyncpg", "psycopg", "pytest", "sqlalchemy", "tests"]
