"""Which terms an RDBMS understands."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from hivesql_executor.metastore.database.dialects.terms import Terms

if TYPE_CHECKING:
    from sqlalchemy import Connection


def terms_of(db: Connection) -> Terms:
    """Return the terms of the database that a connection leads to."""
    return terms_named(db.dialect.name)


@functools.cache
def terms_named(dialect: str) -> Terms:
    """Return the terms of a dialect of SQLAlchemy; KeyError for one where no metastore can live."""
    # Imported late: a program talks to one of them, and each knows its dialect of SQLAlchemy.
    if dialect == "sqlite":
        from hivesql_executor.metastore.database.dialects.sqlite import SqliteTerms

        return SqliteTerms()
    if dialect == "postgresql":
        from hivesql_executor.metastore.database.dialects.postgresql import PostgresTerms

        return PostgresTerms()
    if dialect in ("mysql", "mariadb"):
        from hivesql_executor.metastore.database.dialects.mysql import MySqlTerms

        return MySqlTerms()
    raise KeyError(dialect)
