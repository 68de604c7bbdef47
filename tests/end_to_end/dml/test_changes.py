"""table_changes: inserts, both halves of updates, and deletes between two writes."""

from __future__ import annotations

import pytest

import hivesql
from adoption import adopt
from golden_tables import golden_tables

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def changes(session: hivesql.Session, call: str, where: str = "") -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in session.sql(f"SELECT * FROM {call} {where}").rows)


def test_what_happened_between_two_writes(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id int, v string) PARTITIONED BY (p int) {ACID};
        INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2);
        UPDATE t SET v = upper(v) WHERE id IN (1, 3);
        DELETE FROM t WHERE id = 2;
        INSERT INTO t VALUES (4, 'd', 2);
        DELETE FROM t WHERE id = 4;
    """)
    update = [
        (1, "A", 1, "update_postimage", 2), (1, "a", 1, "update_preimage", 2),
        (3, "C", 2, "update_postimage", 2), (3, "c", 2, "update_preimage", 2),
    ]  # fmt: skip
    assert changes(session, "table_changes('t', 2, 2)") == update
    assert changes(session, "table_changes('default.T', 2)") == [
        *update[:2], (2, "b", 1, "delete", 3), *update[2:],
        (4, "d", 2, "delete", 5), (4, "d", 2, "insert", 4),
    ]  # fmt: skip
    first = [(1, "a", 1, "insert", 1), (2, "b", 1, "insert", 1), (3, "c", 2, "insert", 1)]
    assert changes(session, "table_changes('t', 1, 1) c", "WHERE c.p < 9") == first
    assert changes(session, "table_changes('t', 1, 1, 'id')", "WHERE p = 2") == first[2:]
    assert session.sql("""
        SELECT c._write_id, count(*) FROM table_changes('t', 1, 4) AS c JOIN t ON c.id = t.id
        WHERE c._change_type LIKE 'update%' GROUP BY c._write_id
    """).rows == [(2, 4)]  # fmt: skip
    (line,) = [
        row[0] for row in session.sql("EXPLAIN SELECT * FROM table_changes('t', 3)").rows
        if "scan" in row[0]
    ]  # fmt: skip
    assert "changes of writes 3 to the last" in line

    # A minor compaction keeps every event, a major one does not.
    session.sql("ALTER TABLE t PARTITION (p = 1) COMPACT 'minor' AND WAIT")
    assert changes(session, "table_changes('t', 2, 2)") == update
    session.sql("ALTER TABLE t PARTITION (p = 2) COMPACT 'major' AND WAIT")
    with pytest.raises(hivesql.DataError, match=r"p=2.*from write 6 on") as raised:
        changes(session, "table_changes('t', 2)")
    assert raised.value.code == 10327
    assert changes(session, "table_changes('t', 2, 2)", "WHERE p = 1") == update[:2]


def test_a_key_tells_updates_from_other_rows_of_a_merge(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id int, v string) {ACID};
        CREATE TABLE s (id int, v string) {ACID};
        INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');
        INSERT INTO s VALUES (1, 'one'), (2, NULL), (9, 'nine');
        MERGE INTO t USING s ON t.id = s.id
          WHEN MATCHED AND s.v IS NULL THEN DELETE
          WHEN MATCHED THEN UPDATE SET v = s.v
          WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v);
    """)
    assert changes(session, "table_changes('t', 2, 2, 'id')") == [
        (1, "a", "update_preimage", 2), (1, "one", "update_postimage", 2),
        (2, "b", "delete", 2), (9, "nine", "insert", 2),
    ]  # fmt: skip


def test_changes_in_files_of_hive(session: hivesql.Session) -> None:
    known = {str(one): one for one in golden_tables()}
    adopt(session, known["a_example/final/t"].table, "t")
    found = session.sql(
        "SELECT _write_id, _change_type, count(*) FROM table_changes('t', 3) "
        "GROUP BY _write_id, _change_type"
    )
    kinds = {(row[0], row[1]) for row in found.rows}
    assert (3, "update_preimage") in kinds
    assert (3, "update_postimage") in kinds
    assert (4, "delete") in kinds


REFUSED = {
    "table_changes()": (hivesql.SemanticError, "needs a table"),
    "table_changes('t')": (hivesql.SemanticError, "needs a table"),
    "table_changes('t', 'x')": (hivesql.SemanticError, "needs a table"),
    "table_changes('t', 1 + 1)": (hivesql.NotSupported, "arguments"),
    "table_changes('t', 1, 2, 'nosuch')": (hivesql.SemanticError, "no column nosuch"),
    "table_changes('t', 1, 99)": (hivesql.SemanticError, "from 1 to 2"),
    "table_changes('plain', 1)": (hivesql.SemanticError, "no full ACID table"),
    "table_changes('nosuch', 1)": (hivesql.SemanticError, "nosuch"),
    "table_changes('t', 1, 2)": (hivesql.NotSupported, "overwrite .*base_0000002.* write 3 on"),
    "other_function('t', 1)": (hivesql.NotSupported, "table functions in FROM"),
}


def test_what_has_no_changes(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id int) {ACID}; INSERT INTO t VALUES (1);
        CREATE TABLE plain (id int) STORED AS ORC;
        INSERT OVERWRITE TABLE t VALUES (2);
    """)
    for call, (kind, text) in REFUSED.items():
        with pytest.raises(kind, match=text):
            session.sql(f"SELECT * FROM {call}")
