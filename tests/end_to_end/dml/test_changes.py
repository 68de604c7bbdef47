"""table_changes: inserts, both halves of updates, and deletes between two writes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest

import hivesql
from adoption import adopt
from golden_tables import golden_tables
from hivesql_executor.snapshot.versions import decided_writes, version_before_changes
from hivesql_planner.model.table import TableName

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


CAME = ("insert", "update_postimage")


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


@pytest.mark.parametrize("compacted", [False, True])
def test_several_statements_of_a_transaction_are_one_change(
    session: hivesql.Session, compacted: bool
) -> None:
    """Rows that nobody else ever saw are not told; each row changes once."""
    session.sql(f"""
        CREATE TABLE t (id int, v string) PARTITIONED BY (p int) {ACID};
        INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2);
        START TRANSACTION;
        UPDATE t SET v = 'once' WHERE id = 1;
        UPDATE t SET v = 'twice' WHERE id = 1;
        UPDATE t SET v = 'gone' WHERE id = 2;
        DELETE FROM t WHERE v = 'gone';
        UPDATE t SET p = 3 WHERE id = 3;
        UPDATE t SET p = 2, v = 'back' WHERE id = 3;
        INSERT INTO t VALUES (4, 'd', 4), (5, 'e', 4);
        DELETE FROM t WHERE id = 4;
        MERGE INTO t USING (SELECT 5 AS id UNION ALL SELECT 6) s ON t.id = s.id
          WHEN MATCHED THEN UPDATE SET v = 'merged'
          WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'f', 4);
        COMMIT;
        DELETE FROM t WHERE id = 6
    """)
    if compacted:
        for number in (1, 2, 4):
            session.sql(f"ALTER TABLE t PARTITION (p = {number}) COMPACT 'minor' AND WAIT")
    assert changes(session, "table_changes('t', 2, 2, 'id')") == [
        (1, "a", 1, "update_preimage", 2), (1, "twice", 1, "update_postimage", 2),
        (2, "b", 1, "delete", 2), (3, "back", 2, "update_postimage", 2),
        (3, "c", 2, "update_preimage", 2), (5, "merged", 4, "insert", 2), (6, "f", 4, "insert", 2),
    ]  # fmt: skip
    assert changes(session, "table_changes('t', 3)") == [(6, "f", 4, "delete", 3)]


def test_what_was_replaced_went_and_came(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id int, v string) PARTITIONED BY (p int) {ACID};
        INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2);
        UPDATE t SET v = 'A' WHERE id = 1;
        DELETE FROM t WHERE id = 2;
        INSERT OVERWRITE TABLE t PARTITION (p = 1) VALUES (4, 'd');
        INSERT OVERWRITE TABLE t PARTITION (p = 3) VALUES (5, 'e');
        UPDATE t SET v = 'D' WHERE id = 4;
        TRUNCATE TABLE t PARTITION (p = 2);
        RESTORE TABLE t TO VERSION AS OF 1;
    """)
    assert changes(session, "table_changes('t', 4, 7)") == [
        (1, "A", 1, "delete", 4), (3, "c", 2, "delete", 7), (4, "D", 1, "update_postimage", 6),
        (4, "d", 1, "insert", 4), (4, "d", 1, "update_preimage", 6), (5, "e", 3, "insert", 5),
    ]  # fmt: skip
    back = [
        (1, "a", 1, "insert", 8), (2, "b", 1, "insert", 8), (3, "c", 2, "insert", 8),
        (4, "D", 1, "delete", 8), (5, "e", 3, "delete", 8),
    ]  # fmt: skip
    assert changes(session, "table_changes('t', 8)") == back
    assert len(changes(session, "table_changes('t', 1)")) == 17
    # What a cleaner has removed cannot be told; of other partitions all can.
    session.sql("ALTER TABLE t PARTITION (p = 1) COMPACT 'minor' AND WAIT")
    assert changes(session, "table_changes('t', 5)", "WHERE p <> 1") == [
        (3, "c", 2, "delete", 7), back[2], (5, "e", 3, "delete", 8), (5, "e", 3, "insert", 5),
    ]  # fmt: skip
    with pytest.raises(hivesql.DataError, match=r"p=1 .*base_0000004 has replaced") as raised:
        changes(session, "table_changes('t', 1)")
    assert raised.value.code == 10327


@pytest.mark.parametrize("storage", ["ORC", "TEXTFILE", "AVRO"])
def test_changes_of_rows_without_ids(session: hivesql.Session, storage: str) -> None:
    only = "'transactional'='true', 'transactional_properties'='insert_only'"
    session.sql(f"""
        CREATE TABLE t (id int) PARTITIONED BY (`p q` string) STORED AS {storage}
          TBLPROPERTIES ({only});
        INSERT INTO t VALUES (1, 'a'), (2, 'b');
        INSERT INTO t SELECT 3, 'a' UNION ALL SELECT 4, 'delta_9_9/x';
        INSERT OVERWRITE TABLE t PARTITION (`p q` = 'a') SELECT id + 10 FROM t WHERE `p q` = 'a';
        INSERT INTO t VALUES (5, 'a');
        INSERT INTO t VALUES (6, 'a');
        TRUNCATE TABLE t PARTITION (`p q` = 'b');
    """)
    five, six = (5, "a", "insert", 4), (6, "a", "insert", 5)
    assert changes(session, "table_changes('t', 1)") == [
        (1, "a", "delete", 3), (1, "a", "insert", 1), (2, "b", "delete", 6),
        (2, "b", "insert", 1), (3, "a", "delete", 3), (3, "a", "insert", 2),
        (4, "delta_9_9/x", "insert", 2), five, six,
        (11, "a", "insert", 3), (13, "a", "insert", 3),
    ]  # fmt: skip
    assert changes(session, "table_changes('t', 4, 4)") == [five]
    if storage == "AVRO":
        return  # It is not compacted.
    # Merged rows tell no write: they count as the last of those that were merged.
    session.sql("ALTER TABLE t PARTITION (`p q` = 'a') COMPACT 'minor' AND WAIT")
    assert changes(session, "table_changes('t', 4, 6)", "WHERE `p q` = 'a'") == [
        (5, "a", "insert", 6), (6, "a", "insert", 6),
    ]  # fmt: skip
    for low, high in ((5, 6), (4, 5)):
        with pytest.raises(hivesql.DataError, match="compact") as raised:
            changes(session, f"table_changes('t', {low}, {high})")
        assert raised.value.code == 10327
    with pytest.raises(hivesql.DataError, match="merged the writes 4 to 6") as raised:
        session.sql("SELECT * FROM t FOR SYSTEM_VERSION AS OF 4")
    assert raised.value.code == 10327


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


ROWS = "SELECT * FROM {}"
OF_ROWS = (
    "INSERT INTO t VALUES ({n}, 'i', 1), ({n}, 'i', 2), ({n}, NULL, 2)",
    "INSERT INTO t SELECT id + 10, v, 3 FROM t WHERE id < 3",
    "UPDATE t SET v = 'u{n}' WHERE id >= {n} - 4",
    "UPDATE t SET p = 2 WHERE id = {n} - 1",
    "DELETE FROM t WHERE id < {n} - 3",
    "MERGE INTO t USING (SELECT {n} - 2 AS id) s ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'n', 1)",
    "START TRANSACTION; INSERT INTO t VALUES ({n}, 'x', 1);"
    " UPDATE t SET v = 'y' WHERE id > {n} - 2; DELETE FROM t WHERE p = 1 AND id = {n}; COMMIT",
    "START TRANSACTION; INSERT INTO t VALUES ({n}, 'x', 9); DELETE FROM t; ROLLBACK",
    "INSERT OVERWRITE TABLE t PARTITION (p = 1) VALUES ({n}, 'o')",
    "INSERT OVERWRITE TABLE t PARTITION (p = 4) VALUES ({n}, 'first')",
    "TRUNCATE TABLE t PARTITION (p = 2)",
    "ALTER TABLE t PARTITION (p = 1) COMPACT 'minor' AND WAIT",
    "ALTER TABLE t PARTITION (p = 2) COMPACT 'major' AND WAIT",
    "RESTORE TABLE t TO VERSION AS OF {version}",
)
OF_FILES = (
    "INSERT INTO m VALUES ({n}, 'i', 1), ({n}, 'i', 2)",
    "INSERT INTO m VALUES ({n}, NULL, 3)",
    "INSERT OVERWRITE TABLE m PARTITION (p = 2) VALUES ({n}, 'o')",
    "TRUNCATE TABLE m PARTITION (p = 1)",
    "ALTER TABLE m PARTITION (p = 2) COMPACT 'minor' AND WAIT",
    "ALTER TABLE m PARTITION (p = 1) COMPACT 'major' AND WAIT",
)
STEPS = int(os.environ.get("HIVESQL_CHANGE_STEPS", "10"))
States = dict[int, list[tuple[object, ...]]]


def walk(session: hivesql.Session, table: str, statements: Sequence[str], chance: Random) -> States:
    """Run random statements; the rows that each version has."""
    states: States = {0: []}
    for number in range(STEPS):
        version = chance.choice(sorted(states))
        sql = statements[0] if number == 0 else chance.choice(statements)
        try:
            session.sql(sql.format(n=number, version=version))
        except hivesql.HiveSqlError as error:
            # Cleaned states do not come back, not all partitions are there, and a retention
            # holds the next compaction back.
            assert error.code in (10327, 10006, 10432), (sql, error)
        last = decided_writes(TableName("default", table), session.runtime).high_watermark
        states[last] = [tuple(row) for row in session.sql(ROWS.format(table)).rows]
    return states


@pytest.mark.parametrize("seed", os.environ.get("HIVESQL_CHANGE_SEEDS", "1").split(","))
def test_changes_make_the_same_rows_again(session: hivesql.Session, seed: str) -> None:
    """Replayed onto an empty table, the feed leads through all states that were there."""
    only = "'transactional'='true', 'transactional_properties'='insert_only'"
    session.sql(f"""
        CREATE TABLE t (id int, v string) PARTITIONED BY (p int) {ACID};
        CREATE TABLE m (id int, v string) PARTITIONED BY (p int) STORED AS ORC
          TBLPROPERTIES ({only});
        SET hivesql.retention=1d
    """)
    for name, statements in (("t", OF_ROWS), ("m", OF_FILES)):
        states = walk(session, name, statements, Random(f"{seed}{name}"))
        table = session.runtime.metastore.table(TableName("default", name))
        begin = version_before_changes(table, session.runtime)
        feed = session.sql(f"SELECT * FROM table_changes('{name}', {begin + 1})").rows
        have = Counter(states[max(version for version in states if version <= begin)])
        for version in range(begin + 1, max(states) + 1):
            of_version = [tuple(row) for row in feed if row[-1] == version]
            have.update(row[:-2] for row in of_version if row[-2] in CAME)
            have.subtract(row[:-2] for row in of_version if row[-2] not in CAME)
            assert min(have.values(), default=0) >= 0, (name, version)
            merged = name == "m" and version < max(states)
            if version in states and not merged:
                assert +have == Counter(states[version]), (name, version)


REFUSED = {
    "table_changes()": (hivesql.SemanticError, "needs a table"),
    "table_changes('t')": (hivesql.SemanticError, "needs a table"),
    "table_changes('t', 'x')": (hivesql.SemanticError, "needs a table"),
    "table_changes('t', 1 + 1)": (hivesql.NotSupported, "arguments"),
    "table_changes('t', 1, 2, 'nosuch')": (hivesql.SemanticError, "no column nosuch"),
    "table_changes('t', 1, 99)": (hivesql.SemanticError, "from 1 to 2"),
    "table_changes('t', 2, 0)": (hivesql.SemanticError, "ends before it begins"),
    "table_changes('plain', 1)": (hivesql.SemanticError, "plain is not transactional"),
    "table_changes('nosuch', 1)": (hivesql.SemanticError, "nosuch"),
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
