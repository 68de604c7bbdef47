"""Partitions of text whose columns are older than the table's: their values become of its types."""

from __future__ import annotations

from pathlib import Path

import pytest

import hivesql
from hivesql.rendering.hive_text import hive_text
from hivesql_planner.errors import ExecutionError

pytestmark = pytest.mark.spark

VALUES = {
    # type and text of the partition, type of the table: what real Hive 4.1 shows
    ("int", "-2147483648", "varchar(5)"): "-2147",
    ("int", "23", "char(5)"): "23   ",
    ("string", "dynamic reptile", "varchar(7)"): "dynamic",
    ("boolean", "false", "string"): "FALSE",
    ("boolean", "true", "varchar(3)"): "TRU",
    ("timestamp", "2024-02-29 12:34:56.789", "boolean"): "true",
    ("timestamp", "2024-02-29 12:34:56.789012345", "string"): "2024-02-29 12:34:56.789012345",
    ("timestamp", "2024-02-29 12:34:56", "date"): "2024-02-29",
    ("float", "1e20", "decimal(10,2)"): "NULL",
    ("float", "0.1", "decimal(10,2)"): "0.10",
    ("string", "x", "int"): "NULL",
    ("string", "12.7", "int"): "12",
    ("int", "300", "tinyint"): "44",
    ("bigint", "5000000000", "int"): "705032704",
    ("double", "-1e30", "int"): "-2147483648",
    ("decimal(20,3)", "12345678901.5", "int"): "NULL",
    ("timestamp", "2011-02-25 17:58:12", "tinyint"): "-76",
    ("bigint", "1700000000000", "timestamp"): "2023-11-14 22:13:20",
    ("boolean", "true", "timestamp"): "1970-01-01 00:00:00.001",
    ("decimal(38,18)", "-99999999999999999999.999999999999999999", "varchar(7)"): "-999999",
    ("struct<a:int,b:boolean>", "7;true", "struct<a:string,b:string,c:date>"):
        '{"a":"7","b":"TRUE","c":null}',
    ("array<int>", "1234;5", "array<varchar(2)>"): '["12","5"]',
    ("map<string,int>", "k=12", "map<string,string>"): '{"k":"12"}',
    ("struct<a:int>", "\\N", "struct<a:string>"): "NULL",
    ("array<int>", "1;2", "string"): "[1,2]",
    ("array<int>", "\\N", "string"): "NULL",
    ("struct<a:int,b:string>", "7;x", "string"): '{"a":7,"b":"x"}',
    ("map<string,int>", "k=12", "string"): '{"k":12}',
}  # fmt: skip


def test_values_become_of_the_tables_types(session: hivesql.Session, tmp_path: Path) -> None:
    home = tmp_path / "t"
    columns = ", ".join(f"c{i} {own}" for i, (own, _, _) in enumerate(VALUES))
    wanted = ", ".join(f"c{i} {kind}" for i, (_, _, kind) in enumerate(VALUES))
    session.sql(f"""
        SET hive.metastore.disallow.incompatible.col.type.changes=false;
        CREATE EXTERNAL TABLE t ({columns}) PARTITIONED BY (p int) ROW FORMAT DELIMITED
          FIELDS TERMINATED BY ',' COLLECTION ITEMS TERMINATED BY '\\;' MAP KEYS TERMINATED BY '='
          STORED AS TEXTFILE LOCATION '{home}';
        ALTER TABLE t ADD PARTITION (p=1);
        ALTER TABLE t REPLACE COLUMNS ({wanted})
    """)
    (home / "p=1" / "file").write_text(",".join(text for _, text, _ in VALUES) + "\n")
    result = session.sql("SELECT * FROM t")
    (row,) = result.rows
    shown = [hive_text(value) for value in row][:-1]
    assert dict(zip(VALUES, shown, strict=True)) == VALUES


NOT_READ = (
    *(("date", kind) for kind in ("boolean", "bigint", "decimal(10,2)")),
    *((kind, "date") for kind in ("int", "binary")),
    *((kind, "binary") for kind in ("boolean", "timestamp")),
    *(("binary", kind) for kind in ("int", "timestamp")),
    ("array<int>", "int"),
)
"""Types of a partition, and of the table, between which real Hive 4.1 fails to convert."""


@pytest.mark.parametrize("stored", ["TEXTFILE", "JSONFILE"])
def test_of_what_is_not_converted_the_column_alone_is_an_error(
    session: hivesql.Session, stored: str
) -> None:
    columns = ", ".join(f"c{i} {own}" for i, (own, _) in enumerate(NOT_READ))
    values = ", ".join("array(1)" if "<" in own else "NULL" for own, _ in NOT_READ)
    session.sql(f"""
        SET hive.metastore.disallow.incompatible.col.type.changes=false;
        CREATE EXTERNAL TABLE t (k int, {columns}) PARTITIONED BY (p int) STORED AS {stored};
        INSERT INTO t PARTITION (p=1) SELECT 5, {values}
    """)
    for i, (_, wanted) in enumerate(NOT_READ):
        session.sql(f"ALTER TABLE t CHANGE c{i} c{i} {wanted}")
    assert session.sql("SELECT k, p FROM t").rows == [(5, 1)]
    for i, (own, wanted) in enumerate(NOT_READ):
        with pytest.raises(ExecutionError) as error:
            session.sql(f"SELECT k, c{i} FROM t")
        assert f"is {wanted} in the table has {own} in a partition" in str(error.value)
