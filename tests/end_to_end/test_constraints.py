"""Constraints enforced where rows are written, as real Hive 4.1 does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hivesql
from end_to_end.answers import table_of
from hivesql_planner.errors import ConstraintViolation, HiveSqlError

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def rows(session: hivesql.Session, sql: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in session.sql(sql).rows), key=str)


@pytest.mark.spark
def test_not_null_check_and_default_hold_for_every_write(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE cn (a int NOT NULL, b string DEFAULT 'zz', c int CHECK (c > 0), d int) {ACID};
        INSERT INTO cn (a) VALUES (1);
        INSERT INTO cn VALUES (2, DEFAULT, 5, DEFAULT);
        INSERT INTO cn (c, a, b) SELECT NULL, 4, 'q';
    """)
    assert rows(session, "SELECT * FROM cn") == [
        (1, "zz", None, None), (2, "zz", 5, None), (4, "q", None, None),
    ]  # fmt: skip
    for sql in (
        "INSERT INTO cn VALUES (null, 'x', 1, 1)",
        "INSERT INTO cn VALUES ('no number', 'x', 1, 1)",
        "INSERT INTO cn VALUES (3, 'x', -1, 1)",
        "UPDATE cn SET c = -5 WHERE a = 1",
        "UPDATE cn SET a = null WHERE a = 1",
        "MERGE INTO cn USING (SELECT 9 AS k) s ON cn.a = s.k "
        "WHEN NOT MATCHED THEN INSERT VALUES (s.k, 'x', 0, 1)",
    ):
        with pytest.raises(ConstraintViolation, match="Either CHECK or NOT NULL"):
            session.sql(sql)
    session.sql("""
        UPDATE cn SET b = DEFAULT, d = 7 WHERE a = 4;
        MERGE INTO cn USING (SELECT 1 AS k UNION ALL SELECT 8) s ON cn.a = s.k
            WHEN MATCHED THEN UPDATE SET b = DEFAULT
            WHEN NOT MATCHED THEN INSERT (a, c) VALUES (s.k, 1);
        ALTER TABLE cn ADD CONSTRAINT ck CHECK (d < 100) ENABLE;
    """)
    assert rows(session, "SELECT * FROM cn") == [
        (1, "zz", None, None), (2, "zz", 5, None), (4, "zz", None, 7), (8, "zz", 1, None),
    ]  # fmt: skip
    with pytest.raises(ConstraintViolation):
        session.sql("INSERT INTO cn VALUES (5, 'x', 1, 500)")
    session.sql("ALTER TABLE cn DROP CONSTRAINT ck; INSERT INTO cn VALUES (5, 'x', 1, 500)")
    session.sql("ALTER TABLE cn CHANGE d d int CONSTRAINT nn NOT NULL ENABLE")
    with pytest.raises(ConstraintViolation):
        session.sql("INSERT INTO cn VALUES (6, 'x', 1, null)")
    session.set("hive.constraint.notnull.enforce", "false")
    assert session.sql("INSERT INTO cn (b) VALUES ('null a allowed')").affected == 1


KEYS = """
    CREATE TABLE pk (id int COMMENT 'key', v int, w string DEFAULT 'it\\'s' COMMENT 'text',
        CONSTRAINT pk1 PRIMARY KEY (id) DISABLE NOVALIDATE RELY,
        CONSTRAINT u1 UNIQUE (v) DISABLE NOVALIDATE NORELY, CHECK (id > v));
    CREATE TABLE fk (id int, fid int,
        CONSTRAINT fk1 FOREIGN KEY (fid) REFERENCES pk(id) DISABLE NOVALIDATE RELY);
"""


def test_keys_are_told_and_not_checked(tmp_path: Path) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh")) as session:
        session.sql(KEYS)
        told = [tuple(row)[:2] for row in session.sql("DESCRIBE FORMATTED pk").rows]
        for line in (
            ("# Constraints", ""), ("# Primary Key", ""), ("Constraint Name:", "pk1"),
            ("Column Name:", "id"), ("# Unique Constraints", ""), ("Check Value:", "id > v"),
            ("Default Value:", "'it\\'s'"),
        ):  # fmt: skip
            assert line in told
        assert ("Parent Column Name:default.pk.id", "Column Name:fid") in [
            tuple(row)[:2] for row in session.sql("DESCRIBE FORMATTED fk").rows
        ]
        for name in ("pk", "fk"):
            before = table_of(session, name)
            text = "\n".join(row[0] for row in session.sql(f"SHOW CREATE TABLE {name}").rows)
            session.sql(f"DROP TABLE {name}")
            session.sql(text)
            after = table_of(session, name)
            same = replace(after, id=before.id, created_at=before.created_at)
            assert set(same.constraints) == set(before.constraints)
            assert replace(same, constraints=()) == replace(before, constraints=())


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("CREATE TABLE bad (id int, PRIMARY KEY (id) ENABLE)", 10326),
        ("CREATE TABLE bad (id int, PRIMARY KEY (id))", 10326),
        ("CREATE TABLE bad (id int PRIMARY KEY)", 10326),
        ("CREATE TABLE bad (id int UNIQUE ENFORCED)", 10326),
        ("CREATE TABLE bad (id int, PRIMARY KEY (zz) DISABLE NOVALIDATE)", 10002),
        ("CREATE TABLE bad (id int DEFAULT zz)", 10326),
        ("CREATE TABLE bad (id int DEFAULT 'x')", 10326),
        ("CREATE TABLE bad (v string DEFAULT 5)", 10326),
        ("CREATE EXTERNAL TABLE bad (id int NOT NULL ENABLE)", 10326),
        ("CREATE EXTERNAL TABLE bad (id int DEFAULT 5)", 10326),
        ("CREATE TABLE bad (id int CHECK (zz > 0))", 10326),
        ("CREATE TABLE bad (id int, PRIMARY KEY (id) DISABLE NOVALIDATE, "
         "PRIMARY KEY (id) DISABLE NOVALIDATE)", 10332),
        ("ALTER TABLE pk DROP CONSTRAINT nosuch", None),
        ("ALTER TABLE pk ADD CONSTRAINT pk1 UNIQUE (v) DISABLE NOVALIDATE", None),
        ("ALTER TABLE pk ADD CONSTRAINT c CHECK (zz > 1)", 10326),
        ("ALTER TABLE pk CHANGE v v2 int", 10326),
        ("CREATE TABLE bad (id int NOT NULL NOT NULL)", None),
        ("CREATE TABLE bad (id int NOT NULL ENABLE VALIDATE)", None),
    ],
)  # fmt: skip
def test_constraints_that_hive_refuses(tmp_path: Path, sql: str, code: int | None) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh")) as session:
        session.sql(KEYS)
        with pytest.raises(HiveSqlError) as caught:
            session.sql(sql)
        assert (caught.value.code, caught.value.line) == (code, 1)
