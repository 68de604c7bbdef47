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


@pytest.mark.spark
def test_surrogate_keys_are_those_of_hive(session: hivesql.Session) -> None:
    first = 1 << 40
    session.sql(f"""
        CREATE TABLE sk (id bigint DEFAULT surrogate_key(), a int) {ACID};
        INSERT INTO sk(a) VALUES (1), (2), (3);
        INSERT INTO sk VALUES (DEFAULT, 4), (DEFAULT, 5);
        INSERT INTO sk SELECT surrogate_key(), a FROM sk WHERE a = 1;
        CREATE TABLE narrow (id bigint DEFAULT surrogate_key(8, 8), a int) {ACID};
        INSERT INTO narrow(a) VALUES (1), (2);
    """)
    assert rows(session, "SELECT * FROM sk") == [
        (first, 1), (first + 1, 2), (first + 2, 3), (2 * first, 4), (2 * first + 1, 5),
        (3 * first, 1),
    ]  # fmt: skip
    assert rows(session, "SELECT * FROM narrow") == [(1 << 56, 1), ((1 << 56) + 1, 2)]
    # Other branches and other statements of a transaction have other numbers.
    session.sql("""
        START TRANSACTION;
        INSERT INTO sk
            SELECT * FROM (SELECT surrogate_key(), 6 UNION ALL SELECT surrogate_key(), 7) q;
        INSERT INTO sk(a) VALUES (8);
        INSERT INTO sk VALUES (surrogate_key(), 9), (surrogate_key(), CAST(rand() AS INT));
        COMMIT
    """)
    assert rows(session, "SELECT count(DISTINCT id) FROM sk") == [(11,)]
    for refused, code in (
        ("SELECT surrogate_key()", 40000),
        ("CREATE TABLE no STORED AS ORC AS SELECT surrogate_key() AS k", 40000),
        ("CREATE TABLE no (id string DEFAULT surrogate_key())", 10326),
        ("CREATE TABLE no (id bigint DEFAULT surrogate_key(40, 40))", 10326),
        ("INSERT INTO sk SELECT surrogate_key(1), 1", 10015),
        ("MERGE INTO sk USING (SELECT 1 n) s ON a = n + 99 WHEN NOT MATCHED THEN INSERT (a) "
         "VALUES (n)", None),
    ):  # fmt: skip
        with pytest.raises(HiveSqlError) as caught:
            session.sql(refused)
        assert caught.value.code == code


@pytest.mark.spark
def test_a_check_may_call_what_is_a_class_of_hive(session: hivesql.Session) -> None:
    session.set("hivesql.local.max.bytes", "0")
    session.sql(f"""
        CREATE TABLE js (j string CHECK (get_json_object(j, '$.a') IS NOT NULL)) {ACID};
        INSERT INTO js SELECT concat('{{"a":', id, '}}') FROM (SELECT 1 AS id) x;
    """)
    with pytest.raises(ConstraintViolation):
        session.sql("INSERT INTO js SELECT concat('b', id) FROM (SELECT 1 AS id) x")
    assert rows(session, "SELECT * FROM js") == [('{"a":1}',)]


KEYS = """
    CREATE TABLE pk (id int COMMENT 'key', v int CHECK (v < 9),
        w string DEFAULT 'it\\'s' COMMENT 'text',
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
            ("Column Name:", "id"), ("Column Name:v", "Key Sequence:1"),
            ("Column Name:w", "Default Value:'it\\'s'"),
            ("Column Name:null", "Check Value:`id` > `v`"),
            ("Column Name:v", "Check Value:`v` < 9"),
        ):  # fmt: skip
            assert line in told
        titles = [one for one, _ in told if " Constraints" in one]
        assert titles[1:] == [
            "# Unique Constraints",
            "# Default Constraints",
            "# Check Constraints",
        ]
        assert ("Parent Column Name:default.pk.id", "Column Name:fid", "Key Sequence:1") in [
            tuple(row) for row in session.sql("DESCRIBE FORMATTED fk").rows
        ]
        extended = [tuple(row)[:2] for row in session.sql("DESCRIBE EXTENDED pk").rows][-4:]
        assert extended[:2] == [
            ("Constraints", "Primary Key for default.pk:[id], Constraint Name: pk1"),
            ("Unique Constraints for default.pk:[ {Constraint Name: u1, "
             "(Column Name: v, Key Sequence: 1)}]", ""),
        ]  # fmt: skip
        for name in ("pk", "fk"):
            before = table_of(session, name)
            text = "\n".join(row[0] for row in session.sql(f"SHOW CREATE TABLE {name}").rows)
            session.sql(f"DROP TABLE {name}")
            session.sql(text)
            after = table_of(session, name)
            same = replace(after, id=before.id, created_at=before.created_at)
            # As in Hive, a CHECK forgets which column it was written at.
            checks = [replace(one, columns=()) for one in before.constraints if one.kind == "check"]
            # As in Hive, keys that nobody may rely on are not written.
            others = [one for one in before.constraints if one.kind != "check" and one.rely]
            assert set(same.constraints) == {*checks, *others}
            assert replace(same, constraints=()) == replace(before, constraints=())


FK = "FOREIGN KEY"
REFUSED: list[tuple[str, int | None]] = [
        ("CREATE TABLE bad (id int, PRIMARY KEY (id) ENABLE)", 10326),
        ("CREATE TABLE bad (id int, PRIMARY KEY (id))", 10326),
        ("CREATE TABLE bad (id int PRIMARY KEY)", 10326),
        *((f"CREATE TABLE bad (id int DEFAULT {value})", None)
          for value in ("-1", "+1", "(1)", "1 + 1", "- cast(1 AS int)", "NOT true")),
        ("CREATE TABLE bad (id int UNIQUE ENFORCED)", 10326),
        ("CREATE TABLE bad (id int, PRIMARY KEY (zz) DISABLE NOVALIDATE)", 40000),
        ("CREATE TABLE bad (id int, UNIQUE (zz) DISABLE NOVALIDATE)", 40000),
        ("CREATE TABLE bad (id int, CONSTRAINT c UNIQUE (id) DISABLE, "
         "CONSTRAINT c UNIQUE (id) DISABLE)", 40000),
        (f"CREATE TABLE bad (id int, {FK} (id) REFERENCES nosuch(id) DISABLE NOVALIDATE)", 40000),
        (f"CREATE TABLE bad (id int, {FK} (id) REFERENCES pk(zz) DISABLE NOVALIDATE)", 40000),
        (f"CREATE TABLE bad (id int, {FK} (zz) REFERENCES pk(id) DISABLE NOVALIDATE)", 40000),
        (f"CREATE TABLE bad (id int, {FK} (id) REFERENCES fk(fid) DISABLE NOVALIDATE)", 40000),
        (f"CREATE TABLE bad (w string, {FK} (w) REFERENCES pk(w) DISABLE NOVALIDATE)", 40000),
        (f"CREATE TABLE bad (id bigint, {FK} (id) REFERENCES pk(id) DISABLE NOVALIDATE)", 40000),
        (f"CREATE TABLE bad (id int, v int, {FK} (id, v) REFERENCES pk(id) DISABLE)", 10325),
        (f"CREATE TABLE bad (id int, {FK} (id) REFERENCES pk(id) ENABLE)", 10325),
        ("CREATE TABLE bad (id int REFERENCES nosuch(id) DISABLE NOVALIDATE)", 40000),
        (f"CREATE TABLE bad (id int, {FK} (id) REFERENCES bad(id) DISABLE)", 40000),
        (f"CREATE TABLE bad (id int, PRIMARY KEY (id) DISABLE, {FK} (id) REFERENCES bad(id) "
         "DISABLE)", 40000),
        (f"ALTER TABLE fk ADD CONSTRAINT f2 {FK} (fid) REFERENCES nosuch(id) DISABLE", 40000),
        (f"ALTER TABLE fk ADD CONSTRAINT f2 {FK} (id, fid) REFERENCES pk(id) DISABLE", 10325),
        ("ALTER TABLE pk ADD CONSTRAINT p2 PRIMARY KEY (v) DISABLE NOVALIDATE", 40000),
        ("CREATE TABLE bad (a bigint DEFAULT 1)", 10326),
        ("CREATE TABLE bad (a int DEFAULT 1L)", 10326),
        ("CREATE TABLE bad (a double DEFAULT 1.0)", 10326),
        ("CREATE TABLE bad (a decimal(5,2) DEFAULT 1.5)", 10326),
        ("CREATE TABLE bad (a decimal(3,2) DEFAULT 1.50)", 10326),
        ("CREATE TABLE bad (a boolean DEFAULT 1)", 10326),
        ("CREATE TABLE bad (a char(3) DEFAULT 'abc')", 10326),
        ("CREATE TABLE bad (a varchar(5) DEFAULT concat('a', 'b'))", 10326),
        ("CREATE TABLE bad (a timestamp DEFAULT current_date())", 10326),
        ("CREATE TABLE bad (a string DEFAULT current_date())", 10326),
        ("CREATE TABLE bad (a int DEFAULT null)", 10326),
        ("CREATE TABLE bad (a date DEFAULT '2020-01-01')", 10326),
        (f"CREATE TABLE bad (a string DEFAULT '{'x' * 254}')", 10326),
        ("ALTER TABLE pk CHANGE v v int DEFAULT 'x'", 10326),
        ("CREATE EXTERNAL TABLE bad (a int DEFAULT 1 DISABLE)", 10326),
        ("CREATE EXTERNAL TABLE bad (a int CHECK (a > 1) DISABLE NOVALIDATE)", 10326),
        ("CREATE TABLE bad (a int) STORED AS INPUTFORMAT 'nosuch' OUTPUTFORMAT 'nosuch'", None),
        ("CREATE TABLE bad (a int) STORED AS INPUTFORMAT "
         "'org.apache.hadoop.hive.ql.io.orc.OrcInputFormat' OUTPUTFORMAT 'nosuch'", None),
        ("CREATE TABLE bad (a int) STORED AS INPUTFORMAT "
         "'org.apache.hadoop.mapred.TextInputFormat'", None),
        ("CREATE TABLE bad (a int) ROW FORMAT SERDE 'nosuch'", None),
        ("ALTER TABLE pk SET TBLPROPERTIES ('external'='true')", 10326),
        ("CREATE TABLE bad (a datetime)", 10099),
        ("CREATE TABLE bad (a char(256))", None),
        ("SELECT cast('x' AS char(100000))", None),
        ("SELECT cast('x' AS varchar(0))", None),
        ("TRUNCATE TABLE pk PARTITION (id=1)", 10148),
        ("CREATE OR REPLACE VIEW pk AS SELECT 1", 10218),
        ("CREATE TABLE bad (id int DEFAULT zz)", 10326),
        ("CREATE TABLE bad (id int DEFAULT 'x')", 10326),
        ("CREATE TABLE bad (v string DEFAULT 5)", 10326),
        ("CREATE EXTERNAL TABLE bad (id int NOT NULL ENABLE)", 10326),
        ("CREATE EXTERNAL TABLE bad (id int DEFAULT 5)", 10326),
        ("CREATE TABLE bad (id int CHECK (zz > 0))", 10326),
        ("CREATE TABLE bad (id int, PRIMARY KEY (id) DISABLE NOVALIDATE, "
         "PRIMARY KEY (id) DISABLE NOVALIDATE)", 10332),
        ("ALTER TABLE pk DROP CONSTRAINT nosuch", 40000),
        ("ALTER TABLE pk ADD CONSTRAINT pk1 UNIQUE (v) DISABLE NOVALIDATE", 40000),
        ("ALTER TABLE pk ADD CONSTRAINT c CHECK (zz > 1)", 10326),
        ("ALTER TABLE pk CHANGE v v2 int", 10326),
        ("CREATE TABLE bad (id int NOT NULL NOT NULL)", None),
        ("CREATE TABLE bad (id int NOT NULL ENABLE VALIDATE)", 10326),
]  # fmt: skip
TAKEN = [
    "id int REFERENCES pk(id) DISABLE NOVALIDATE",
    f"id int, {FK} (id) REFERENCES other.pk(a) DISABLE",
    f"id int, v string, {FK} (id, v) REFERENCES other.pk(b, c) DISABLE",
    f"id int, PRIMARY KEY (id) DISABLE, {FK} (id) REFERENCES pk(id) DISABLE",
    f"id int, b int, PRIMARY KEY (id) DISABLE, {FK} (b) REFERENCES good(id) DISABLE",
    "a date DEFAULT current_date()", "a boolean DEFAULT true", "a tinyint DEFAULT 1Y",
    "a string DEFAULT concat('a', 'b')", "a int DEFAULT cast(1.5 AS int)", "a bigint DEFAULT 1L",
    "a double DEFAULT cast(1 AS double)", "a string DEFAULT current_user()",
    "a decimal(2,1) DEFAULT 1.5", "a varchar(3) DEFAULT cast('a' AS varchar(3))",
    "a date DEFAULT date '2020-01-01'", "a timestamp DEFAULT current_timestamp()",
    "a timestamp DEFAULT timestamp '2020-01-01 00:00:00'", "a string DEFAULT cast(null AS string)",
    "a double DEFAULT 1.0D", "a float DEFAULT cast(1.5 AS float)", "a double DEFAULT 1.0e0",
    "a decimal(5,2) DEFAULT cast(1 AS decimal(5,2))", "a string DEFAULT upper('a')",
    "a int DEFAULT length('abc')", "a array<int> DEFAULT array(1)", "a int DEFAULT cast(-1 AS int)",
    f"a string DEFAULT '{'x' * 253}'", "a string DEFAULT 'a' DISABLE",
]  # fmt: skip


def test_constraints_that_hive_refuses(tmp_path: Path) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh")) as session:
        session.sql(KEYS)
        for sql, code in REFUSED:
            with pytest.raises(HiveSqlError) as caught:
                session.sql(sql)
            assert (sql, caught.value.code, caught.value.line) == (sql, code, 1)
        session.sql("""
            CREATE DATABASE other;
            CREATE TABLE other.pk (a int, b int, c string, PRIMARY KEY (a) DISABLE,
                                   UNIQUE (b, c) DISABLE)
        """)
        for columns in TAKEN:
            session.sql(f"CREATE TABLE good ({columns}); DROP TABLE good")
        assert rows(session, "SHOW TABLES") == [("fk",), ("pk",)]


def test_keys_of_several_columns_are_told_as_hive_tells_them(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/m.db"
    with hivesql.connect(url, str(tmp_path / "wh")) as session:
        session.sql("""
            CREATE TABLE p (a int, b int, c int, CONSTRAINT k PRIMARY KEY (a, b)
                DISABLE NOVALIDATE RELY, CONSTRAINT u UNIQUE (b, c) DISABLE NOVALIDATE RELY);
            CREATE TABLE f (a int, b int,
                CONSTRAINT r FOREIGN KEY (a, b) REFERENCES p (a, b) DISABLE NOVALIDATE RELY);
        """)
        told = [row[0] for name in "pf" for row in session.sql(f"SHOW CREATE TABLE {name}").rows]
    keys = [line.partition(" ADD CONSTRAINT ")[2] for line in told if "CONSTRAINT" in line]
    assert [key.partition(" DISABLE")[0] for key in keys] == [
        "`k` PRIMARY KEY (`a`,`b`)",
        "`u` UNIQUE (`b`,`c`)",
        "`r` FOREIGN KEY (`a`, `b`) REFERENCES `default`.`p`(`a`, `b`)",
    ]


def test_names_with_commas_and_blanks(tmp_path: Path) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh")) as session:
        session.sql(
            "CREATE TABLE odd (`b,c` int CHECK (`b,c` > 1), `g,h` int NOT NULL, "
            "`i\\,j` int DEFAULT 3, "
            '` "k` int CHECK (` "k` > 2) ENABLE NOVALIDATE RELY, '
            "UNIQUE (`g,h`) DISABLE NOVALIDATE)"
        )
        shown = [tuple(row)[:2] for row in session.sql("DESCRIBE FORMATTED odd").rows]
        for line in (
            ("Column Name:g,h", "Key Sequence:1"), ("Column Name:", "g,h"),
            ("Column Name:i\\,j", "Default Value:3"), ("Column Name:b,c", "Check Value:`b,c` > 1"),
            ("Column Name:null", 'Check Value:` "k` > 2'),
        ):  # fmt: skip
            assert line in shown
        session.sql('INSERT INTO odd (`b,c`, `g,h`, ` "k`) VALUES (2, 1, 3)')
        assert session.sql("SELECT * FROM odd").rows == [(2, 1, 3, 3)]
        for values in ("(1, 1, 3)", "(2, NULL, 3)", "(2, 1, 2)"):
            with pytest.raises(hivesql.HiveSqlError):
                session.sql(f'INSERT INTO odd (`b,c`, `g,h`, ` "k`) VALUES {values}')
