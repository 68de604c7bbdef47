"""Copies into other formats where Spark has no catalog of theirs: nothing is left of them."""

from __future__ import annotations

import pytest

import hivesql
from hivesql import migrate_from, migrate_to
from hivesql_planner.errors import HiveSqlError, SemanticError

pytestmark = pytest.mark.spark


def test_without_a_catalog(session: hivesql.Session) -> None:
    session.sql("CREATE TRANSACTIONAL TABLE t (a INT) STORED AS ORC; INSERT INTO t VALUES (1)")
    with pytest.raises(HiveSqlError, match="nosuch"):
        migrate_to(session, "t", "iceberg", "nosuch.db.t")
    with pytest.raises(HiveSqlError, match=r"spark\.sql\.catalog\.nosuch is not set"):
        migrate_from(session, "nosuch.db.t", "back")
    with pytest.raises(HiveSqlError, match="Table not found"):
        migrate_to(session, "absent", "delta", "spark_catalog.default.absent")
    session.sql("CREATE TEMPORARY TABLE T AS SELECT 2 AS b")
    for migrate in (
        lambda: migrate_to(session, "default.t", "iceberg", "nosuch.db.t"),
        lambda: migrate_from(session, "nosuch.db.t", "T"),
    ):
        with pytest.raises(SemanticError, match=r"default\.t is a temporary table"):
            migrate()
    session.sql("DROP TABLE t")
    assert [row[0] for row in session.sql("SHOW TABLES").rows] == ["t"]
    assert session.sql("SHOW LOCKS").rows == []
