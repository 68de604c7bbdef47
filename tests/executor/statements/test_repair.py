"""MSCK of transactional tables: whose writes it takes; nothing here needs Spark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import hivesql
from end_to_end.answers import rows

KINDS = {
    "full ACID": "STORED AS ORC TBLPROPERTIES ('transactional'='true')",
    "insert-only": "STORED AS ORC TBLPROPERTIES ('transactional'='true', "
    "'transactional_properties'='insert_only')",
}
# How many writes a table has, the write that a directory bears, and whether it is taken.
WRITES = [(0, 1, True), (0, 3, True), (1, 1, True), (1, 3, False), (3, 1, True), (3, 3, True)]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    with hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "wh")) as session:
        yield session


@pytest.mark.parametrize("stored", KINDS.values(), ids=KINDS)
def test_directories_of_writes_that_others_did(
    session: hivesql.Session, tmp_path: Path, stored: str
) -> None:
    home = tmp_path / "wh"
    session.sql(f"CREATE TABLE source (a int) PARTITIONED BY (p int) {stored}")
    for p in (1, 2, 3):
        session.sql(f"INSERT INTO source PARTITION (p={p}) VALUES ({p})")
    for own, other, is_taken in WRITES:
        case = f"{own} writes, and a directory of write {other}"
        session.sql(f"CREATE TABLE t (a int) PARTITIONED BY (p int) {stored}")
        for _ in range(own):
            session.sql("INSERT INTO t PARTITION (p=0) VALUES (0)")
        shutil.copytree(home / "source" / f"p={other}", home / "t" / f"p={other}")
        expected = [(0, 0)] * own
        if is_taken:
            session.sql("MSCK REPAIR TABLE t")
            expected.append((other, other))
        else:
            with pytest.raises(hivesql.SemanticError, match="writes up to 1") as caught:
                session.sql("MSCK REPAIR TABLE t")
            assert caught.value.code == 40000
        assert sorted(rows(session, "SELECT * FROM t")) == expected, case
        # No later write makes rows visible, or takes the id of a directory.
        session.sql("INSERT INTO t PARTITION (p=9) VALUES (9)")
        session.sql(f"INSERT INTO t PARTITION (p={other}) VALUES (8)" if is_taken else "SELECT 1")
        expected += [(9, 9), (8, other)] if is_taken else [(9, 9)]
        assert sorted(rows(session, "SELECT * FROM t")) == sorted(expected), case
        session.sql("DROP TABLE t")


@pytest.mark.parametrize("stored", KINDS.values(), ids=KINDS)
def test_a_table_without_partitions(session: hivesql.Session, tmp_path: Path, stored: str) -> None:
    home = tmp_path / "wh"
    session.sql(f"CREATE TABLE source (a int) {stored}; CREATE TABLE t (a int) {stored}")
    for a in (1, 2):
        session.sql(f"INSERT INTO source VALUES ({a})")
    shutil.copytree(home / "source", home / "t", dirs_exist_ok=True)
    session.sql("MSCK TABLE t; MSCK REPAIR TABLE t DROP PARTITIONS")
    assert rows(session, "SELECT * FROM t") == []
    session.sql("MSCK REPAIR TABLE t")
    assert rows(session, "SELECT * FROM t ORDER BY a") == [(1,), (2,)]
    session.sql("INSERT INTO t VALUES (3); MSCK REPAIR TABLE t")
    assert rows(session, "SELECT * FROM t ORDER BY a") == [(1,), (2,), (3,)]


def test_a_compacted_partition_comes_back(session: hivesql.Session, tmp_path: Path) -> None:
    home = tmp_path / "wh" / "t"
    session.sql(f"CREATE TABLE t (a int) PARTITIONED BY (p int) {KINDS['full ACID']}")
    for a in (1, 2):
        session.sql(f"INSERT INTO t PARTITION (p=1) VALUES ({a})")
    session.sql("ALTER TABLE t PARTITION (p=1) COMPACT 'minor'")
    (compacted,) = (home / "p=1").glob("delta_*")
    assert compacted.name.startswith("delta_0000001_0000002_v")
    (home / "p=1").rename(tmp_path / "kept")
    session.sql("MSCK REPAIR TABLE t SYNC PARTITIONS")
    assert rows(session, "SHOW PARTITIONS t") == []
    (tmp_path / "kept").rename(home / "p=1")
    session.sql("MSCK REPAIR TABLE t")
    assert rows(session, "SELECT a FROM t ORDER BY a") == [(1,), (2,)]
    # One that is not known here stays out.
    shutil.copytree(home / "p=1", home / "p=2")
    (home / "p=2" / compacted.name).rename(home / "p=2" / "delta_0000001_0000002_v0009999")
    with pytest.raises(hivesql.NotSupported, match="transaction 9999"):
        session.sql("MSCK REPAIR TABLE t")
    assert rows(session, "SHOW PARTITIONS t") == [("p=1",)]
