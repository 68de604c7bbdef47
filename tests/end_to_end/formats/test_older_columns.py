"""Partitions of text whose columns are older than the table's: their values become of its types."""

from __future__ import annotations

from pathlib import Path

import pytest

import hivesql
from hivesql.rendering.hive_text import hive_text

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
