"""What new partitions take over of their table, and how they are told; nothing here needs Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import hivesql

KEY = "hive.metastore.partition.inherit.table.properties"
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'a'='1', 'b'='2', 'c'='3')"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    with hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "wh")) as session:
        yield session


def taken(session: hivesql.Session, partition: str) -> dict[str, str]:
    """The parameters of a partition of t that a user may have chosen."""
    rows = session.sql(f"DESCRIBE FORMATTED t PARTITION ({partition})").rows
    return {row[1]: row[2] for row in rows if not row[0] and row[1] in ("a", "b", "c")}


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("", {}),
        ("a,b", {"a": "1", "b": "2"}),
        ("x,c", {"c": "3"}),
        ("x,*", {"a": "1", "b": "2", "c": "3"}),
        ('""', {}),
    ],
)
def test_partitions_take_over_properties_however_they_come(
    session: hivesql.Session, tmp_path: Path, setting: str, expected: dict[str, str]
) -> None:
    session.sql(f"CREATE TABLE t (i int) PARTITIONED BY (k string) {ACID}; SET {KEY}={setting}")
    session.sql("ALTER TABLE t ADD PARTITION (k='added')")
    session.sql("INSERT INTO t PARTITION (k='written') VALUES (1)")
    session.sql("INSERT INTO t PARTITION (k) VALUES (1, 'dynamic')")
    (tmp_path / "wh" / "t" / "k=found").mkdir()
    session.sql("MSCK REPAIR TABLE t")
    for name in ("added", "written", "dynamic", "found"):
        assert taken(session, f"k='{name}'") == expected, name
    # What is there already stays as it is, also under a new name.
    session.sql(f"SET {KEY}=*; INSERT INTO t PARTITION (k='added') VALUES (2)")
    assert taken(session, "k='added'") == expected
    session.sql("ALTER TABLE t PARTITION (k='added') RENAME TO PARTITION (k='renamed')")
    assert taken(session, "k='renamed'") == expected


def test_names_of_partitions_as_they_are(session: hivesql.Session) -> None:
    session.sql("CREATE TABLE t (i int) PARTITIONED BY (ts string, n int)")
    session.sql("ALTER TABLE t ADD PARTITION (ts='14:18', n=1) PARTITION (ts='a/b%', n=2)")
    for setting, names in (
        ("false", ["ts=14%3A18/n=1", "ts=a%2Fb%25/n=2"]),
        ("true", ["ts=14:18/n=1", "ts=a/b%/n=2"]),
    ):
        session.sql(f"SET hive.decode.partition.name={setting}")
        assert [row[0] for row in session.sql("SHOW PARTITIONS t").rows] == names
        told = session.sql("SHOW PARTITIONS t WHERE n > 0 ORDER BY n").rows
        assert [row[0] for row in told] == names
