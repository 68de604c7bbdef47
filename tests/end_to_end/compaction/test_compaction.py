"""ALTER TABLE … COMPACT: every kind of table, the directories it makes, and the same rows after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyorc
import pytest

import hivesql
from end_to_end.answers import rows
from hivesql_planner.model.table import TableName

pytestmark = pytest.mark.spark

GOLDEN = Path(__file__).parents[2] / "golden" / "f_compact"
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def directories(session: hivesql.Session, table: str) -> list[str]:
    """Paths of ACID directories below a table, relative to it."""
    home = Path(session.runtime.metastore.database("default").location) / table
    kinds = ("base_", "delta_", "delete_delta_")
    found = (path for path in home.rglob("*") if path.is_dir() and path.name.startswith(kinds))
    return sorted(str(path.relative_to(home)) for path in found)


def files(session: hivesql.Session, table: str) -> list[str]:
    home = Path(session.runtime.metastore.database("default").location) / table
    found = (path for path in home.rglob("*") if path.is_file() and path.suffix != ".crc")
    return sorted(str(path.relative_to(home)) for path in found)


def job_names(session: hivesql.Session) -> set[str]:
    """What Spark's web pages call the jobs that it has run."""
    jobs = session.runtime.spark()._jsc.sc().statusStore().jobsList(None)  # type: ignore[attr-defined]
    told = [jobs.apply(i).description() for i in range(jobs.size())]
    return {description.get() for description in told if description.isDefined()}


def ids(session: hivesql.Session, table: str) -> list[tuple[Any, ...]]:
    query = (
        f"SELECT row__id.writeid, row__id.bucketid, row__id.rowid, t.* FROM {table} t "
        "ORDER BY 1, 2, 3"
    )
    return [tuple(row) for row in session.sql(query).rows]


INSERT_ONLY = {
    "orc": "STORED AS ORC",
    "parquet": "STORED AS PARQUET",
    "text": "ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE",
}


def test_insert_only(session: hivesql.Session) -> None:
    for name, stored in INSERT_ONLY.items():
        table = f"m_{name}"
        session.sql(f"""
            CREATE TABLE {table} (id int, v string) {stored} TBLPROPERTIES
              ('transactional'='true', 'transactional_properties'='insert_only');
            INSERT INTO {table} VALUES (1, 'a'), (2, 'é');
            INSERT INTO {table} VALUES (3, NULL);
        """)
        before = rows(session, f"SELECT * FROM {table}")
        session.sql(f"ALTER TABLE {table} COMPACT 'minor'")
        (minor,) = directories(session, table)
        assert minor.startswith("delta_0000001_0000002_v"), name
        assert files(session, table) == [f"{minor}/000000_0"], name
        assert rows(session, f"SELECT * FROM {table}") == before, name
        session.sql(f"INSERT INTO {table} VALUES (4, '')")
        after = rows(session, f"SELECT * FROM {table}")
        session.sql(f"ALTER TABLE {table} COMPACT 'major'")
        (major,) = directories(session, table)
        assert major.startswith("base_0000003_v"), name
        assert files(session, table) == [f"{major}/000000_0"], name
        assert rows(session, f"SELECT * FROM {table}") == after, name


def test_partitions_that_need_it_are_compacted(session: hivesql.Session) -> None:
    session.sql(f"CREATE TABLE p (id int) PARTITIONED BY (k int) {ACID}")
    for i in range(3):
        session.sql(f"INSERT INTO p PARTITION (k) VALUES ({i}, 1), ({i}, 2)")
    session.sql("ALTER TABLE p SET TBLPROPERTIES "
                "('compactorthreshold.hive.compactor.delta.num.threshold'='3')")  # fmt: skip
    session.sql("INSERT INTO p PARTITION (k = 2) VALUES (3)")
    told = session.sql("ALTER TABLE p COMPACT 'minor'").message or ""
    assert "Not enough deltas to initiate compaction for table=p partition=k=1" in told
    assert "Compaction enqueued with id 1" in told
    left = directories(session, "p")
    assert [one for one in left if one.startswith("k=1")] == [
        f"k=1/delta_000000{i}_000000{i}_0000" for i in (1, 2, 3)
    ]
    # Without a base the initiator's choice is a major one, whatever was asked for.
    (compacted,) = (one for one in left if one.startswith("k=2"))
    assert compacted.startswith("k=2/base_0000004_v")
    assert len(rows(session, "SELECT * FROM p")) == 7
    session.sql("ALTER TABLE p PARTITION (k = 1) COMPACT 'MAJOR'")
    assert len(directories(session, "p")) == 2
    assert len(rows(session, "SELECT * FROM p")) == 7


def test_rebalance(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE r (id int, v string) {ACID};
        INSERT INTO r VALUES (5, 'e'), (3, 'c'), (1, 'a');
        INSERT INTO r VALUES (4, 'd'), (2, 'b');
        UPDATE r SET v = 'B' WHERE id = 2;
        DELETE FROM r WHERE id = 3;
        ALTER TABLE r COMPACT 'rebalance' CLUSTERED INTO 2 BUCKETS;
    """)
    # These are the ids that real Hive 4.1 gives.
    first, second, third = 536870912, 536936448, 537001984
    assert ids(session, "r") == [
        (1, first, 0, 5, "e"), (1, first, 1, 1, "a"), (2, second, 2, 4, "d"), (3, second, 3, 2, "B")
    ]  # fmt: skip
    (base,) = directories(session, "r")
    assert base.startswith("base_0000004_v")
    session.sql("""
        INSERT INTO r VALUES (9, 'z');
        ALTER TABLE r COMPACT 'rebalance' CLUSTERED INTO 3 BUCKETS ORDER BY v DESC;
    """)
    assert ids(session, "r") == [
        (5, first, 0, 9, "z"), (5, first, 1, 5, "e"), (5, second, 2, 4, "d"),
        (5, second, 3, 1, "a"), (5, third, 4, 2, "B"),
    ]  # fmt: skip
    session.sql("UPDATE r SET v = 'x' WHERE id = 1; DELETE FROM r WHERE id = 9")
    assert rows(session, "SELECT * FROM r") == [(1, "x"), (2, "B"), (4, "d"), (5, "e")]
    session.sql("ALTER TABLE r COMPACT 'rebalance'")
    assert rows(session, "SELECT * FROM r") == [(1, "x"), (2, "B"), (4, "d"), (5, "e")]
    assert {one[1] for one in ids(session, "r")} == {first, second}


def test_what_is_shown_refused_and_aborted(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id int) {ACID};
        CREATE TABLE b (id int) CLUSTERED BY (id) INTO 2 BUCKETS {ACID};
        INSERT INTO t VALUES (1); INSERT INTO t VALUES (2);
        INSERT INTO b VALUES (1), (2);
        SET hivesql.compactor.inline=false;
        ALTER TABLE t COMPACT 'major' POOL 'etl'
          WITH OVERWRITE TBLPROPERTIES ('tblprops.orc.compress'='NONE');
    """)
    with pytest.raises(hivesql.HiveSqlError, match="state='initiated' and id=1") as raised:
        session.sql("ALTER TABLE t COMPACT 'minor'")
    assert raised.value.code == 10432
    # What is meant for Hive's own jobs has no effect.
    session.sql("ALTER TABLE b COMPACT 'minor' WITH OVERWRITE TBLPROPERTIES "
                "('compactor.mapreduce.map.memory.mb'='3072')")  # fmt: skip
    shown = session.sql("SHOW COMPACTIONS t POOL 'etl' TYPE 'major' STATUS 'initiated'")
    assert shown.columns[0] == "compactionid"
    assert shown.columns[-1] == "hightestwriteid"
    (row,) = shown.rows
    assert (row[0], row[4], row[5], row[9], row[14:18]) == (
        "1", "MAJOR", "initiated", " --- ", ("manual", "etl", "0", "0")
    )  # fmt: skip
    by_name = session.sql("SHOW COMPACTIONS DATABASE default ORDER BY tabname, type DESC LIMIT 1")
    assert [row[2] for row in by_name.rows] == ["b"]
    assert session.sql("SHOW COMPACTIONS COMPACTIONID = 7").rows == []
    answer = session.sql("ABORT COMPACTIONS 2 2 9")
    assert answer.rows == [
        ("2", "Success", "Successfully aborted compaction"),
        ("9", "Error", "No Such Compaction Id Available"),
    ]
    session.sql("SET hivesql.compactor.inline=true")
    told = session.sql("ALTER TABLE b COMPACT 'rebalance'").message or ""
    assert "Cannot execute rebalancing compaction on bucketed tables." in told
    states = {row[0]: row[5] for row in session.sql("SHOW COMPACTIONS").rows}
    assert states == {"1": "initiated", "2": "aborted", "3": "refused"}


def events(path: Path) -> list[Any]:
    """Every event of an ACID file, as in the golden warehouses' listings."""
    with path.open("rb") as file:
        return [[*row[:5], row[5] and list(row[5])] for row in pyorc.Reader(file)]


def without_txn(name: str) -> str:
    return name.partition("_v")[0]


def test_the_same_directories_and_events_as_hive_s(session: hivesql.Session) -> None:
    """The golden script of two compactions; Hive writes the same row ids into the same names."""

    def check(stage: str) -> None:
        golden = json.loads((GOLDEN / f"{stage}.files.json").read_text(encoding="utf-8"))
        expected = {
            without_txn(path.split("/")[1]): entry["data"]
            for path, entry in golden.items()
            if "_v" in path and "data" in entry
        }
        home = Path(session.runtime.metastore.database("default").location) / "f"
        found = {
            without_txn(path.parent.name): events(path) for path in home.glob("*_v*/bucket_00000")
        }
        assert found == expected, stage

    session.sql(f"""
        CREATE TABLE f (id int, v string) {ACID};
        INSERT INTO f VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
        INSERT INTO f VALUES (5, 'e');
        UPDATE f SET v = 'B' WHERE id = 2;
        DELETE FROM f WHERE id = 3;
        ALTER TABLE f COMPACT 'minor';
    """)
    check("stage2_minor_cleaned")
    session.sql("""
        INSERT INTO f VALUES (6, 'f');
        DELETE FROM f WHERE id = 1;
        ALTER TABLE f COMPACT 'major';
    """)
    check("final")


HANG = "java_method('java.lang.Thread', 'sleep', 300000L)"


def test_a_hanging_compaction_is_stopped(
    session: hivesql.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its Spark job ends, nothing is left of it, and the next one may begin."""
    session.sql(f"CREATE TABLE t (id int) {ACID}")
    session.sql("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
    before = directories(session, "t")

    def hang(*given: Any, **_: Any) -> None:
        runtime = given[-1]
        runtime.spark().range(1).selectExpr(HANG).collect()

    with monkeypatch.context() as patched:
        patched.setattr("hivesql_executor.compaction.rewriting.merge", hang)
        session.sql("SET hive.compactor.worker.timeout=1s")
        with pytest.raises(hivesql.HiveSqlError, match="took longer than hive"):
            session.sql("ALTER TABLE t COMPACT 'major'")
    (row,) = session.sql("SHOW COMPACTIONS").rows
    assert (row[5], "took longer than" in row[12]) == ("failed", True)
    tracker = session.runtime.spark().sparkContext.statusTracker()
    assert tracker.getActiveStageIds() == []
    assert any(name.endswith("-compactor-default.t") for name in job_names(session))
    asked = "SELECT  count(*) FROM t WHERE\n abs(id) > 0"
    session.sql(asked)
    assert " ".join(asked.split()) in job_names(session)
    assert directories(session, "t") == before
    assert session.runtime.metastore.valid_txns().open == frozenset()
    session.sql("SET hive.compactor.worker.timeout=600s; ALTER TABLE t COMPACT 'major'")
    assert len(directories(session, "t")) == 1


def test_statistics_are_gathered_again(session: hivesql.Session) -> None:
    """Of the columns that had some, after a major compaction; what INSERT measures set aside."""

    def known() -> dict[str, tuple[int | None, str | None]]:
        store = session.runtime.metastore
        found = store.statistics(store.table(TableName("default", "t")).name, None)
        return {one.name: (found.rows, one.high) for one in found.columns}

    session.sql(f"""
        SET hive.stats.column.autogather=false;
        CREATE TABLE t (id int, v int) {ACID};
        INSERT INTO t VALUES (1, 1);
        ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS id;
        INSERT INTO t VALUES (2, 2);
        ALTER TABLE t COMPACT 'minor';
    """)
    assert known() == {"id": (2, "1")}
    session.sql("INSERT INTO t VALUES (3, 3); SET hive.compactor.gather.stats=false; "
                "ALTER TABLE t COMPACT 'major'")  # fmt: skip
    assert known() == {"id": (3, "1")}
    session.sql("INSERT INTO t VALUES (4, 4); SET hive.compactor.gather.stats=true; "
                "ALTER TABLE t COMPACT 'major'")  # fmt: skip
    assert known() == {"id": (4, "4")}


def test_deletes_that_reach_back_over_files_of_single_rows_stay_in_order(
    session: hivesql.Session,
) -> None:
    session.sql(f"""
        CREATE TABLE t (id int) {ACID};
        INSERT INTO t VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
        INSERT INTO t VALUES (10), (11), (12);
        DELETE FROM t WHERE id = 5;
        DELETE FROM t WHERE id = 6 OR id = 7;
        DELETE FROM t WHERE id = 1 OR id = 9 OR id = 12;
        ALTER TABLE t COMPACT 'minor';
    """)
    assert session.check("t") == ()
    assert [*session.sql("SELECT id FROM t ORDER BY id").rows] == [
        (0,), (2,), (3,), (4,), (8,), (10,), (11,)
    ]  # fmt: skip


def test_a_list_of_compactions_shows_no_trace(session: hivesql.Session) -> None:
    session.sql("SET hivesql.local.max.bytes=0")
    session.sql(f"CREATE TABLE broken (k INT, s STRING) {ACID}")
    for k in (1, 2):
        session.sql(f"INSERT INTO broken VALUES ({k}, '{'x' * 50}')")
    home = Path(session.runtime.metastore.database("default").location) / "broken"
    file = min(home.glob("delta_*/bucket_*"))
    data = file.read_bytes()
    # Rows and their index; the footer stays as it is.
    damaged = len(data) // 2
    file.write_bytes(data[:3] + b"\xff" * damaged + data[3 + damaged :])
    with pytest.raises(hivesql.HiveSqlError) as raised:
        session.sql("ALTER TABLE broken COMPACT 'major' AND WAIT")
    listed = " ".join(str(row) for row in session.sql("SHOW COMPACTIONS").rows)
    assert "failed" in listed
    for text in (str(raised.value), listed):
        for word in ("Traceback", "Py4J", "An error occurred while", "\tat "):
            assert word not in text
