"""ANALYZE TABLE: what is counted, and where it is told."""

from __future__ import annotations

from typing import Any

import pytest

import hivesql
from hivesql_planner.errors import HiveSqlError

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def told(session: hivesql.Session, sql: str) -> dict[str, str]:
    """Keys of DESCRIBE FORMATTED with their values, parameters included."""
    rows: list[Any] = [tuple(row) for row in session.sql(sql).rows]
    return {(row[0] or row[1]).rstrip(":"): row[-1] if not row[0] else row[1] for row in rows}


def test_statistics_of_tables_partitions_and_columns(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (a int, s string, b boolean, d date, n array<int>) {ACID};
        INSERT INTO t VALUES (1, 'xy', true, DATE '2024-01-02', array(1)),
                             (7, null, false, null, null), (null, 'xyz', true, null, null);
        DELETE FROM t WHERE a = 7;
        ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS;
    """)
    table = told(session, "DESCRIBE FORMATTED t")
    assert (table["numRows"], table["numFiles"]) == ("2", "2")
    assert int(table["totalSize"]) > 0
    assert table["COLUMN_STATS_ACCURATE"] == '{"BASIC_STATS":"true"}'
    assert "hivesql" not in str(session.sql("SHOW TBLPROPERTIES t").rows)
    column = told(session, "DESCRIBE FORMATTED t a")
    assert [column[key] for key in ("min", "max", "num_nulls", "distinct_count")] == [
        "1", "1", "1", "1",
    ]  # fmt: skip
    text = told(session, "DESCRIBE FORMATTED t s")
    assert [text[key] for key in ("min", "num_nulls", "avg_col_len", "max_col_len")] == [
        "", "0", "2.5", "3",
    ]  # fmt: skip
    truth = told(session, "DESCRIBE FORMATTED t b")
    assert (truth["num_trues"], truth["num_falses"]) == ("2", "0")
    assert told(session, "DESCRIBE FORMATTED t d")["min"] == "2024-01-02"
    assert "numRows" not in str(session.sql("SHOW CREATE TABLE t").rows)
    session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert "COLUMN_STATS_ACCURATE" not in told(session, "DESCRIBE FORMATTED t")
    session.sql("ANALYZE TABLE t COMPUTE STATISTICS")
    assert "COLUMN_STATS_ACCURATE" in told(session, "DESCRIBE FORMATTED t")
    session.sql("INSERT INTO t (a) VALUES (8)")
    after = told(session, "DESCRIBE FORMATTED t")
    assert ("COLUMN_STATS_ACCURATE" in after, after["numRows"]) == (False, "2")

    session.sql("""
        CREATE TABLE p (a int) PARTITIONED BY (ds string, hr int) STORED AS ORC
            TBLPROPERTIES ('transactional'='false');
        INSERT INTO p PARTITION (ds, hr) VALUES (1, 'x', 1), (2, 'x', 1), (3, 'y', 2);
        ALTER TABLE p ADD PARTITION (ds='empty', hr=0);
        ANALYZE TABLE p PARTITION (ds='x', hr) COMPUTE STATISTICS FOR COLUMNS a;
        ANALYZE TABLE p PARTITION (ds='y', hr=2) COMPUTE STATISTICS NOSCAN;
    """)
    first = told(session, "DESCRIBE FORMATTED p PARTITION (ds='x', hr=1)")
    assert (first["numRows"], first["numFiles"]) == ("2", "1")
    assert told(session, "DESCRIBE FORMATTED p PARTITION (ds='x', hr=1) a")["max"] == "2"
    second = told(session, "DESCRIBE FORMATTED p PARTITION (ds='y', hr=2)")
    assert ("numRows" in second, second["numFiles"]) == (False, "1")
    session.sql("ANALYZE TABLE p COMPUTE STATISTICS")
    empty = told(session, "DESCRIBE FORMATTED p PARTITION (ds='empty', hr=0)")
    assert empty["numRows"] == "0"
    session.sql("ALTER TABLE t UPDATE STATISTICS SET ('numRows'='100')")
    assert told(session, "DESCRIBE FORMATTED t")["numRows"] == "100"
    names = [row[0] for row in session.sql("SHOW FUNCTIONS LIKE 'concat*|upper'").rows]
    assert names == ["concat", "concat_ws", "upper"]
    assert "concat(" in str(session.sql("DESCRIBE FUNCTION concat").rows)
    session.sql("ALTER TABLE p CHANGE a z int; ALTER TABLE p DROP PARTITION (ds='x')")
    for sql, code in (
        ("ANALYZE TABLE t PARTITION (ds='1') COMPUTE STATISTICS", 10006),
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS zz", 10002),
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS n", 10002),
        ("DESCRIBE FUNCTION EXTENDED nosuch", 10011),
        ("CREATE VIEW v AS SELECT 1 AS x; ANALYZE TABLE v COMPUTE STATISTICS", 10091),
    ):
        with pytest.raises(HiveSqlError) as caught:
            session.sql(sql)
        assert caught.value.code == code
