"""What is on the disk when a statement has ended: all that its commit says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import hivesql
from hivesql.streaming import HiveStreamingConnection, StrictDelimitedInputWriter

_ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
_TABLES = f"""
CREATE TABLE flat (k INT, v STRING) {_ACID};
CREATE TABLE parted (k INT, v STRING) PARTITIONED BY (p STRING, q INT) {_ACID};
CREATE TABLE bucketed (k INT, v STRING) CLUSTERED BY (k) INTO 3 BUCKETS {_ACID};
CREATE EXTERNAL TABLE plain (k INT, v STRING) PARTITIONED BY (p STRING) STORED AS TEXTFILE;
INSERT INTO flat VALUES (1, 'a'), (2, 'b'), (3, 'c');
INSERT INTO parted VALUES (1, 'a', 'x', 1), (2, 'b', 'y', 2);
INSERT INTO bucketed VALUES (1, 'a'), (2, 'b'), (3, 'c')
"""
_WITHOUT_SPARK = {
    "INSERT": "INSERT INTO flat VALUES (4, 'd')",
    "INSERT of new partitions": "INSERT INTO parted VALUES (4, 'd', 'z', 1), (5, 'e', 'z', 2)",
    "INSERT into buckets": "INSERT INTO bucketed VALUES (4, 'd'), (5, 'e'), (6, 'f')",
    "UPDATE": "UPDATE flat SET v = 'u' WHERE k < 3",
    "DELETE": "DELETE FROM parted WHERE k = 1",
    "MERGE": "MERGE INTO flat t USING (SELECT 1 AS k, 'm' AS v UNION ALL SELECT 9, 'n') s"
    " ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.k,"
    " s.v)",
    "transaction": "START TRANSACTION; INSERT INTO flat VALUES (7, 'g'); DELETE FROM flat; COMMIT",
    "LOAD DATA": "LOAD DATA LOCAL INPATH '{home}/lines' INTO TABLE plain PARTITION (p='new')",
    "RENAME": "ALTER TABLE flat RENAME TO renamed",
    "RENAME of a partition": "ALTER TABLE parted PARTITION (p='x', q=1) RENAME TO"
    " PARTITION (p='xx', q=1)",
    "EXPORT": "EXPORT TABLE flat TO '{home}/warehouse/exported'",
}
_BY_SPARK = {
    "INSERT": "INSERT INTO flat SELECT k + 10, v FROM parted",
    "INSERT of new partitions": "INSERT INTO parted SELECT k, v, concat('n', k), k FROM flat",
    "INSERT OVERWRITE": "INSERT OVERWRITE TABLE bucketed SELECT k, v FROM flat",
    "INSERT into plain": "INSERT INTO plain SELECT k, v, concat('n', k) FROM flat",
    "UPDATE": "UPDATE flat SET v = upper(v) WHERE k < 3",
    "CREATE TABLE AS": f"CREATE TABLE made {_ACID} AS SELECT * FROM flat",
    "insert-only": "CREATE TABLE made STORED AS PARQUET TBLPROPERTIES ('transactional'='true',"
    " 'transactional_properties'='insert_only') AS SELECT * FROM flat",
    "major compaction": "ALTER TABLE flat COMPACT 'major' AND WAIT",
    "minor compaction": "INSERT INTO flat VALUES (4, 'd'); ALTER TABLE flat COMPACT 'minor' AND"
    " WAIT",
}


class _Disk:
    """What fsync has brought to the disk: names in directories, and contents."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.names: dict[int, set[str]] = {}
        self.contents: dict[int, bytes] = {}
        sync = os.fsync

        def note(opened: int) -> None:
            sync(opened)
            self.note(Path(f"/proc/self/fd/{opened}").readlink())

        monkeypatch.setattr(os, "fsync", note)

    def note(self, path: Path) -> None:
        """Take a file or directory to be on the disk as it is now."""
        if path.is_dir():
            self.names[path.stat().st_ino] = {entry.name for entry in path.iterdir()}
        elif path.is_relative_to(self.home):
            self.contents[path.stat().st_ino] = path.read_bytes()

    def missing(self) -> list[str]:
        """Name the files and directories below that a power failure would take."""
        lost = []
        for directory, folders, files in os.walk(self.home):
            folders[:] = [name for name in folders if not name.startswith(".")]
            names = self.names.get(Path(directory).stat().st_ino, set())
            for name in [*folders, *(name for name in files if not name.startswith("."))]:
                path = Path(directory, name)
                durable = name in names
                if path.is_file() and self.contents.get(path.stat().st_ino) != path.read_bytes():
                    durable = False
                if not durable:
                    lost.append(str(path.relative_to(self.home)))
        return lost


def _prepare(session: hivesql.Session, home: Path, monkeypatch: pytest.MonkeyPatch) -> _Disk:
    (home / "lines").write_text("1\x01a\n", encoding="utf-8")
    session.sql(_TABLES)
    disk = _Disk(home / "warehouse", monkeypatch)
    for directory, _, files in os.walk(home / "warehouse"):
        disk.note(Path(directory))
        for name in files:
            disk.note(Path(directory, name))
    return disk


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="names of open files are in /proc")
@pytest.mark.parametrize("statement", _WITHOUT_SPARK)
def test_commits_without_spark_outlast_a_power_failure(
    statement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "warehouse")) as session:
        disk = _prepare(session, tmp_path, monkeypatch)
        session.sql(_WITHOUT_SPARK[statement].format(home=tmp_path))
        assert disk.missing() == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="names of open files are in /proc")
def test_streams_outlast_a_power_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "warehouse")) as session:
        disk = _prepare(session, tmp_path, monkeypatch)
        writer = StrictDelimitedInputWriter(field_delimiter=",")
        builder = HiveStreamingConnection.builder().with_session(session).with_table("parted")
        with builder.with_record_writer(writer).with_transaction_batch_size(3).connect() as stream:
            for rows in ("8,h,new,1\n9,i,x,1", "10,j,new,1"):
                stream.begin_transaction()
                stream.write(rows)
                stream.commit_transaction()
                assert disk.missing() == []


@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="names of open files are in /proc")
@pytest.mark.parametrize("statement", _BY_SPARK)
def test_commits_by_spark_outlast_a_power_failure(
    statement: str, spark: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db", str(tmp_path / "warehouse"), spark=spark
    ) as session:
        disk = _prepare(session, tmp_path, monkeypatch)
        session.sql("SET hivesql.local.max.bytes=0")
        session.sql(_BY_SPARK[statement])
        assert disk.missing() == []
