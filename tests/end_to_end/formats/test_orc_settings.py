"""How ORC files are written: by a table's properties, else as the session sets."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import orc

import hivesql
from hivesql_planner.errors import SemanticError

pytestmark = pytest.mark.spark

ACID = "TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
KINDS = {"acid": ACID, "plain": "", "sized": "", "insert_only": INSERT_ONLY}
COLUMNS = {"sized": "(k int, v varchar(5))"}
SETTINGS = """
    SET hive.exec.orc.default.compress=SNAPPY;
    SET hivesql.orc.uncompressed.max=0;
    SET hive.exec.orc.default.row.index.stride=5000;
    SET hive.exec.orc.default.buffer.size=65536
"""


def written(warehouse: Path, table: str) -> set[tuple[str, int]]:
    """The codecs and strides of a table's files of rows."""
    paths = (warehouse / table).rglob("*0000*")
    files = (
        orc.ORCFile(path)
        for path in paths
        if path.is_file() and not path.name.startswith((".", "_"))
    )
    return {(file.compression, file.row_index_stride) for file in files}


@pytest.mark.parametrize("local_bytes", [0, 16_777_216])
def test_settings_of_a_session(session: hivesql.Session, tmp_path: Path, local_bytes: int) -> None:
    warehouse = tmp_path / "warehouse"
    session.sql(f"SET hivesql.local.max.bytes={local_bytes}; {SETTINGS}")
    for table, kind in KINDS.items():
        columns = COLUMNS.get(table, "(k int, v string)")
        session.sql(f"CREATE TABLE {table} {columns} STORED AS ORC {kind}")
        session.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
        session.sql(f"INSERT INTO {table} SELECT k + 2, v FROM {table}")
        assert written(warehouse, table) == {("SNAPPY", 5000)}
    session.sql("UPDATE acid SET v = 'c' WHERE k = 1; DELETE FROM acid WHERE k = 2")
    session.sql("MERGE INTO acid USING plain s ON acid.k = s.k WHEN MATCHED THEN DELETE")
    session.sql(f"CREATE TABLE made STORED AS ORC {ACID} AS SELECT * FROM plain")
    for table in ("acid", "made"):
        assert written(warehouse, table) == {("SNAPPY", 5000)}
    # Properties of a table come first, then ORC's own names.
    session.sql("SET orc.compress=ZSTD; INSERT INTO plain VALUES (9, 'z')")
    assert written(warehouse, "plain") == {("SNAPPY", 5000), ("ZSTD", 5000)}
    session.sql("""
        CREATE TABLE own (k int) STORED AS ORC TBLPROPERTIES ('orc.compress'='NONE');
        INSERT INTO own VALUES (1)
    """)
    assert written(warehouse, "own") == {("UNCOMPRESSED", 5000)}
    properties = dict(session.sql("SHOW TBLPROPERTIES plain").rows)
    assert not any(key.startswith("orc.") for key in properties)
    assert len(session.sql("SELECT * FROM plain").rows) == 5


def test_zstd_where_nobody_says_otherwise(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql("SET hivesql.orc.uncompressed.max=0")
    for table, kind in KINDS.items():
        columns = COLUMNS.get(table, "(k int, v string)")
        session.sql(f"CREATE TABLE {table} {columns} STORED AS ORC {kind}")
        session.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
        assert written(tmp_path / "warehouse", table) == {("ZSTD", 10_000)}
    session.sql("SET hive.exec.orc.default.compress=ZLIB; UPDATE acid SET v = 'c' WHERE k = 1")
    assert written(tmp_path / "warehouse", "acid") == {("ZSTD", 10_000), ("ZLIB", 10_000)}
    session.sql("RESET; DELETE FROM acid WHERE k = 2; INSERT INTO acid VALUES (2, 'b')")
    codecs = {"ZSTD", "ZLIB", "UNCOMPRESSED"}
    assert written(tmp_path / "warehouse", "acid") == {(codec, 10_000) for codec in codecs}
    session.sql("ALTER TABLE acid COMPACT 'major' AND WAIT")
    assert written(tmp_path / "warehouse", "acid") == {("ZSTD", 10_000)}
    assert sorted(session.sql("SELECT * FROM acid").rows) == [(1, "c"), (2, "b")]


def test_compactions_heed_them(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql(f"CREATE TABLE t (k int) STORED AS ORC {ACID}; INSERT INTO t VALUES (1), (2)")
    session.sql(f"INSERT INTO t VALUES (3); {SETTINGS}; ALTER TABLE t COMPACT 'major' AND WAIT")
    assert written(tmp_path / "warehouse", "t") == {("SNAPPY", 5000)}


WRONG = {
    "SET hive.exec.orc.default.compress=foo": "INSERT INTO t VALUES (1)",
    "SET orc.compress=foo": "UPDATE t SET k = 2",
    "SET orc.stripe.size=many": "DELETE FROM t WHERE k = 1",
    "ALTER TABLE t SET TBLPROPERTIES ('orc.compress'='foo')": "INSERT INTO t SELECT 1",
    f"ALTER TABLE t SET TBLPROPERTIES ('orc.stripe.size'='{'9' * 19}')": "UPDATE t SET k = 2",
    f"SET orc.row.index.stride={'9' * 30}": "INSERT INTO t SELECT 1",
    "SET orc.bloom.filter.fpp=nan": "INSERT INTO t SELECT 1",
    **{
        f"ALTER TABLE t SET TBLPROPERTIES ('orc.bloom.filter.fpp'='{rate}')": "DELETE FROM t"
        for rate in ("few", "nan", "inf", "2", "1", "0", "-1")
    },
}


@pytest.mark.parametrize("setting", WRONG)
def test_what_orc_does_not_know_is_refused(session: hivesql.Session, setting: str) -> None:
    blooms = ACID[:-1] + ", 'orc.bloom.filter.columns'='k')"
    session.sql(f"CREATE TABLE t (k int) STORED AS ORC {blooms}; INSERT INTO t VALUES (1)")
    session.sql(setting)
    with pytest.raises(SemanticError, match=r"ORC files of .* cannot be"):
        session.sql(WRONG[setting])
    assert session.sql("SELECT * FROM t").rows == [(1,)]
