"""Tables that are not ACID, in real Hive: the same files from the same rows, read both ways."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from interop import hive
from interop.compare import agrees, plain
from interop.ours import Warehouse

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow]

COLUMNS = (
    "i INT, s STRING, a ARRAY<STRING>, m MAP<STRING,INT>, st STRUCT<x:INT,y:STRING>, "
    "d DECIMAL(10,2), t TIMESTAMP, dt DATE, b BOOLEAN, bin BINARY, f DOUBLE, fl FLOAT, c CHAR(4), "
    "v VARCHAR(4), bi BIGINT, aa ARRAY<ARRAY<INT>>, ms MAP<STRING,STRUCT<p:INT,q:ARRAY<STRING>>>"
)
ALL = "i, s, a, m, st, d, t, dt, b, hex(bin), f, cast(fl AS STRING), c, v, bi, aa, ms"
ROWS: list[dict[str, Any]] = [
    {
        "i": 1, "s": 'a|b\\c:d=e"f,g', "a": ["x:y", "z"], "m": {"k=1": 1},
        "st": {"x": 1, "y": "q|r"}, "d": 1.5, "t": "2020-01-02 03:04:05.120", "dt": "2020-01-02",
        "b": True, "bin": "AP98", "f": 1e10, "fl": 1.1, "c": "ab", "v": "ab",
        "bi": 9223372036854775807, "aa": [[1, 2], [3]], "ms": {"u": {"p": 1, "q": ["w"]}},
    },
    {
        "i": 2, "s": "l1 l3/é", "a": ["", None], "m": {"": None}, "st": {"x": None, "y": None},
        "d": -0.01, "t": "2020-01-02 03:04:05.123456", "dt": "1900-01-02", "b": False,
        "bin": "aGVsbG8=", "f": 1.5, "fl": 1e-7, "c": "é", "v": "é ", "bi": -1,
        "aa": [[], None], "ms": {},
    },
    {
        "i": 3, "s": "", "a": [], "m": {}, "st": None, "d": 0, "t": "2020-01-02 00:00:00",
        "bin": "", "f": 1e-5, "fl": 123456789, "c": "", "v": "", "bi": 0,
    },
    {"i": 4},
    {
        "i": 5, "t": "1500-01-02 03:04:05.5", "dt": "1500-01-02", "s": "\\N", "v": "\\N",
        "a": ["\\N"], "f": 100, "fl": 0.1, "d": 12345678, "ms": {"u": None, "w": {"p": None}},
    },
]  # fmt: skip
CSV = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde'"
OWN = "ROW FORMAT DELIMITED FIELDS TERMINATED BY '|'"
NESTED = "COLLECTION ITEMS TERMINATED BY ':' MAP KEYS TERMINATED BY '='"


@dataclass(frozen=True)
class Form:
    """How a table is stored, its columns, and what is inserted into it."""

    stored: str
    columns: str = COLUMNS
    query: str = "SELECT * FROM src"
    select: str = ALL
    lines: bool = True


TEXTS = "a STRING, b STRING, c STRING"
CSV_QUERY = "SELECT s, cast(d AS STRING), cast(dt AS STRING) FROM src"
SCHEMA = json.dumps({
    "type": "record", "name": "r", "fields": [
        {"name": "a", "type": "int"},
        {"name": "B", "type": ["null", "string"], "default": None},
        {"name": "e", "type": {"type": "enum", "name": "en", "symbols": ["X", "Y"]}},
        {"name": "fx", "type": "bytes"},
        {"name": "de", "type": {
            "type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}},
        {"name": "tm", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
})  # fmt: skip
# RCFile's times before the calendar changed are refused. Its binary SerDe cannot write empty bytes.
LATER = "SELECT * FROM src WHERE coalesce(dt >= '1582-10-15', true)"
FILLED = f"{LATER} AND coalesce(length(bin) > 0, true)"
BUCKETED = ("ORC", "PARQUET", "TEXTFILE", "AVRO")
INSERT_ONLY = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
FORMS = {
    "plain": Form("STORED AS TEXTFILE"),
    "own": Form(f"{OWN} {NESTED} STORED AS TEXTFILE"),
    "escaped": Form(rf"{OWN} ESCAPED BY '\\' {NESTED} NULL DEFINED AS '~' STORED AS TEXTFILE"),
    "json": Form("STORED AS JSONFILE"),
    "avro": Form("STORED AS AVRO", lines=False),
    "sequence": Form("STORED AS SEQUENCEFILE", lines=False),
    "rc": Form("STORED AS RCFILE", query=FILLED, lines=False),
    "rctext": Form(
        "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe' STORED AS RCFILE",
        query=LATER, lines=False,
    ),
    "lazybinary": Form(
        "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.lazybinary.LazyBinarySerDe' "
        "STORED AS SEQUENCEFILE", query=LATER, lines=False,
    ),
    "described": Form(
        f"STORED AS AVRO TBLPROPERTIES ('avro.schema.literal'='{SCHEMA}')", "",
        "SELECT i, v, 'X', bin, cast(d % 1000 AS DECIMAL(6,2)), t FROM src WHERE b IS NOT NULL",
        "a, b, e, hex(fx), de, tm", lines=False,
    ),
    "latin": Form(
        "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe' WITH "
        "SERDEPROPERTIES ('field.delim'='|','serialization.encoding'='windows-1252') "
        "STORED AS TEXTFILE", TEXTS, "SELECT i, v, 'é € 日' FROM src", "a, b, c",
    ),
    "csv": Form(CSV, TEXTS, CSV_QUERY, "a, b, c"),
    "csv2": Form(
        f"""{CSV} WITH SERDEPROPERTIES ('separatorChar'=';','quoteChar'="'",'escapeChar'='#')""",
        TEXTS, CSV_QUERY, "a, b, c",
    ),
}  # fmt: skip


def ddl(name: str, form: Form, location: str = "") -> str:
    external = "EXTERNAL" if location else ""
    stored, _, properties = form.stored.partition(" TBLPROPERTIES ")
    at = f"LOCATION '{location}'" if location else ""
    columns = f"({form.columns})" if form.columns else ""
    properties = properties or "('transactional'='false')"
    return f"CREATE {external} TABLE {name} {columns} {stored} {at} TBLPROPERTIES {properties};"


def contents(directory: Path) -> list[Any]:
    """Every line of a table's files; JSON as what it means."""
    lines = []
    for path in directory.iterdir():
        if not path.name.startswith((".", "_")):
            lines += path.read_bytes().split(b"\n")[:-1]
    if any(line.startswith(b"{") for line in lines):
        return sorted((json.loads(line) for line in lines), key=lambda row: int(row["i"]))
    return sorted(lines)


def test_same_files_and_rows(open_ours: Callable[[str], Warehouse], tmp_path: Path) -> None:
    ours, theirs = open_ours("ours"), tmp_path / "hive"
    source = tmp_path / "src"
    source.mkdir()
    (source / "rows").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    fill = [ddl("src", Form("STORED AS JSONFILE"), str(source))]
    fill += [f"{ddl(name, form)} INSERT INTO {name} {form.query};" for name, form in FORMS.items()]
    for kind in BUCKETED:
        name = f"b_{kind.lower()}"
        fill.append(
            f"CREATE TABLE {name} (id INT, v STRING) CLUSTERED BY (id) SORTED BY (v DESC) "
            f"INTO 3 BUCKETS STORED AS {kind} {INSERT_ONLY};"
            f"INSERT INTO {name} VALUES (1,'a'),(2,'b'),(3,'c'),(4,'d'),(5,'e'),(6,null);"
            f"INSERT INTO {name} VALUES (1,'z');"
            f"INSERT OVERWRITE TABLE {name} SELECT * FROM {name};"
            f"INSERT INTO {name} VALUES (7,'y');"
        )
    ours.run("\n".join(fill))
    read = [f"SELECT {form.select} FROM {name};" for name, form in FORMS.items()]
    for name, form in FORMS.items():
        read.append(ddl(f"from_{name}", form, str(ours.directory(name))))
        read.append(f"SELECT {form.select} FROM from_{name};")
    for kind in BUCKETED:
        name = f"b_{kind.lower()}"
        where = "INPUT__FILE__NAME"
        read.append(f"SELECT id, v, {where} FROM {name};")
        read.append(f"!copy {ours.directory(name)} warehouse/o_{name};")
        read.append(
            f"CREATE TABLE o_{name} (id INT, v STRING) CLUSTERED BY (id) SORTED BY (v DESC) "
            f"INTO 3 BUCKETS STORED AS {kind} {INSERT_ONLY};"
        )
        read.append(f"!adopt o_{name} 4;")
        read.append(f"SELECT id, v, {where} FROM o_{name};")
    blocks = hive.run("\n".join([*fill, *read]), theirs)
    told = [sorted(block.lines) for block in blocks if block.statement.startswith("SELECT")]
    own, of_ours = told[: len(FORMS)], told[len(FORMS) : 2 * len(FORMS)]
    buckets = told[2 * len(FORMS) :]
    for theirs_in_files, ours_in_files in zip(buckets[::2], buckets[1::2], strict=True):
        # The same rows in files of the same names.
        assert [line.replace("/o_b_", "/b_") for line in ours_in_files] == theirs_in_files
    for (name, form), expected, found in zip(FORMS.items(), own, of_ours, strict=True):
        # Hive reads from our files what it reads from its own, and so do we from Hive's.
        assert found == expected, name
        if form.lines:
            assert contents(ours.directory(name)) == contents(theirs / "warehouse" / name), name
        ours.run(ddl(f"from_{name}", form, str(theirs / "warehouse" / name)))
        rows = ours.run(f"SELECT {form.select} FROM from_{name}").rows
        assert len(rows) == len(expected)
        for line in expected:
            assert any(_same(row, line.split("\t")) for row in rows), (name, line, rows)


def _same(row: Any, texts: list[str]) -> bool:
    return len(row) == len(texts) and all(
        agrees(plain(value), text) for value, text in zip(row, texts, strict=True)
    )
