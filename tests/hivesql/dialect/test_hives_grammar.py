"""Statements that Hive 4.1's own parser takes: read here too, or refused by name.

They come from random derivations of Hive's grammar (rarer spellings, clauses in another place,
objects that are not known here), each asked of Hive's parser.
"""

from __future__ import annotations

import pytest

from hivesql.dialect.nodes.alter import RefusedBody
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.errors import NotSupported

READ = [
    "UPDATE t SET a == 1, b = 2",
    "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b == 1",
    "MERGE INTO t USING s ON t.a = s.a WHEN ! MATCHED THEN INSERT VALUES (1)",
    "INSERT OVERWRITE TABLE t PARTITION (p == 1) IF ! EXISTS SELECT 1",
    "CREATE TABLE IF ! EXISTS t (a INT NOT NULL ENABLED)",
    "CREATE TABLE t (a INT NOT NULL DISABLED NOVALIDATE) TBLPROPERTIES ('a' == 'b')",
    "CREATE VIEW IF ! EXISTS v AS SELECT 1",
    "CREATE DATABASE IF ! EXISTS d WITH DBPROPERTIES ('a' == 'b')",
    "ALTER DATABASE d SET DBPROPERTIES ('a' == 'b')",
    "CREATE MATERIALIZED VIEW v DISABLED REWRITE AS SELECT 1",
    "ALTER MATERIALIZED VIEW v ENABLED REWRITE",
    "ALTER TABLE t DROP PARTITION (p == 1)",
    "ALTER TABLE t ! SKEWED",
    "ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('a'='b', 'c'='d')",
    "ALTER TABLE t UNSET SERDEPROPERTIES ('a'='b')",
    "ALTER VIEW v AS RENAME TO w",
    "ALTER VIEW v AS SET TBLPROPERTIES ('a'='b')",
    "SHOW PARTITIONS t WHERE p == 1",
    "CREATE TABLE t (CHECK (a > 1), a INT)",
    "CREATE TABLE t (PRIMARY KEY (a) DISABLE NOVALIDATE, a INT)",
    "CREATE TEMPORARY MACRO m (x INT COMMENT 'c', y STRING) x",
    "SELECT TRANSFORM (a) ROW FORMAT DELIMITED MAP KEYS TERMINATED BY ':' USING 'cat' FROM t",
    "MAP a ROW FORMAT DELIMITED COLLECTION ITEMS TERMINATED BY '|' MAP KEYS TERMINATED BY ':' "
    "USING 'cat' AS b FROM t",
    "EXPLAIN LOCKS FORMATTED FORMATTED SELECT 1",
]
REFUSED = {
    "SHOW CONNECTORS": "SHOW CONNECTORS",
    "CREATE CONNECTOR c TYPE 'mysql' URL 'jdbc:x'": "CREATE CONNECTOR",
    "ALTER CONNECTOR c SET URL 'x'": "ALTER CONNECTOR",
    "DROP CONNECTOR IF EXISTS c": "DROP CONNECTOR",
    "DESC CONNECTOR EXTENDED c": "DESCRIBE CONNECTOR",
    "SHOW CATALOGS LIKE 'x'": "SHOW CATALOGS",
    "CREATE CATALOG c LOCATION '/x'": "CREATE CATALOG",
    "ALTER CATALOG c SET LOCATION '/x'": "ALTER CATALOG",
    "DROP CATALOG c": "DROP CATALOG",
    "DESCRIBE CATALOG c": "DESCRIBE CATALOG",
    "CREATE POOL p.a WITH PATH = b": "CREATE POOL",
    "ALTER POOL p.a SET PATH = b": "ALTER POOL",
    "DROP POOL p.a": "DROP POOL",
    "CREATE TRIGGER p.a WHEN b > 3 DO KILL": "CREATE TRIGGER",
    "ALTER TRIGGER p.a ADD TO POOL b": "ALTER TRIGGER",
    "DROP TRIGGER p.a": "DROP TRIGGER",
    "CREATE USER MAPPING 'u' IN p TO a": "CREATE USER MAPPING",
    "ALTER GROUP MAPPING 'g' IN p UNMANAGED": "ALTER GROUP MAPPING",
    "DROP APPLICATION MAPPING 'a' IN p": "DROP APPLICATION MAPPING",
    "ENABLE WORKLOAD MANAGEMENT": "ENABLE WORKLOAD MANAGEMENT",
    "DISABLED WORKLOAD MANAGEMENT": "DISABLE WORKLOAD MANAGEMENT",
    "REPLACE ACTIVE RESOURCE PLAN WITH p": "REPLACE ACTIVE RESOURCE PLAN",
    "REPLACE RESOURCE PLAN p WITH q": "REPLACE RESOURCE PLAN",
    "DROP TABLE t FOR REPLICATION ('x')": "DROP TABLE … FOR REPLICATION",
    "ALTER TABLE t DROP PARTITION (p = 1) FOR REPLICATION ('x')":
        "ALTER TABLE … DROP PARTITION … FOR REPLICATION",
    "CREATE TABLE t (a INT) WRITE LOCALLY ORDERED BY a DESC": "CREATE TABLE … WRITE ORDERED BY",
    "EXPLAIN DEBUG SELECT 1": "EXPLAIN DEBUG",
    "EXPLAIN FORMATTED CBO SELECT 1": "EXPLAIN CBO",
    "EXPLAIN FORMATTED EXTENDED SELECT 1": "EXPLAIN EXTENDED FORMATTED",
}  # fmt: skip


@pytest.mark.parametrize("sql", READ)
def test_is_read(sql: str) -> None:
    assert not isinstance(parse(StatementText(sql)).body, RefusedBody)


@pytest.mark.parametrize(("sql", "feature"), REFUSED.items())
def test_is_refused_by_name(sql: str, feature: str) -> None:
    with pytest.raises(NotSupported) as raised:
        body = parse(StatementText(sql)).body
        assert isinstance(body, RefusedBody)
        raise body.error
    assert (raised.value.feature, raised.value.line) == (feature, 1)


def test_words_of_such_objects_are_names_elsewhere() -> None:
    for sql in ("DESCRIBE catalog", "DESCRIBE pool.trigger", "SELECT enabled FROM replace",
                "DROP TABLE connector", "ALTER TABLE trigger RENAME TO pool"):  # fmt: skip
        parse(StatementText(sql))
