"""Exports of HiveSQL in real Hive, and Hive's in HiveSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop import hive
from interop.ours import OpenOurs

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow]

ONLY = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
TABLES = {
    "orc": ("(a INT, b STRING) STORED AS ORC TBLPROPERTIES ('transactional'='false')", ""),
    "parquet": ("(a INT) PARTITIONED BY (p STRING, q INT) STORED AS PARQUET", ""),
    "lines": (
        "(a INT, b DATE) PARTITIONED BY (p DATE) ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' "
        "STORED AS TEXTFILE TBLPROPERTIES ('transactional'='false')", "",
    ),
    "acid": (
        "(a INT, b STRING) PARTITIONED BY (p INT) CLUSTERED BY (a) INTO 2 BUCKETS STORED AS ORC "
        "TBLPROPERTIES ('transactional'='true')",
        "UPDATE acid SET b = 'U' WHERE a = 2; DELETE FROM acid WHERE a = 1;",
    ),
    "mm": (
        f"(a INT) PARTITIONED BY (p INT) STORED AS TEXTFILE {ONLY}",
        "INSERT INTO mm PARTITION (p) VALUES (7, 1); "
        "INSERT OVERWRITE TABLE mm PARTITION (p = 2) VALUES (9);",
    ),
}  # fmt: skip
ROWS = {
    "orc": "(1, 'x'), (2, NULL)", "parquet": "(1, 'a', 1), (2, 'b b', 2)",
    "lines": "(1, '2024-02-29', '2020-01-01'), (2, NULL, '2020-01-02')",
    "acid": "(1, 'x', 1), (2, 'y', 1), (3, 'z', 2), (4, 'z', 2)", "mm": "(1, 1), (2, 2)",
}  # fmt: skip


def filled(name: str) -> str:
    """The statements that make a table, and its rows."""
    columns, changes = TABLES[name]
    kind = "EXTERNAL " if name == "parquet" else ""
    partition = {"parquet": "PARTITION (p, q)", "orc": ""}.get(name, "PARTITION (p)")
    return f"""
        CREATE {kind}TABLE {name} {columns};
        INSERT INTO {name} {partition} VALUES {ROWS[name]};
        {changes}
    """


def test_both_ways(open_ours: OpenOurs, tmp_path: Path) -> None:
    ours = open_ours("ours")
    theirs = []
    for name in TABLES:
        ours.run(f"{filled(name)} EXPORT TABLE {name} TO '{tmp_path}/ours/{name}'")
        theirs.append(f"""
            {filled(name)}
            EXPORT TABLE {name} TO '{tmp_path}/theirs/{name}';
            IMPORT TABLE i_{name} FROM '{tmp_path}/ours/{name}';
            SELECT * FROM i_{name} ORDER BY a;
        """)
    # What came from us can be changed there.
    theirs.append("UPDATE i_acid SET b = 'H' WHERE a = 3; SELECT b FROM i_acid WHERE a = 3")
    blocks = hive.run("".join(theirs), tmp_path / "hive")
    answers = [block.lines for block in blocks if block.statement.startswith("SELECT")]
    assert answers == [
        ["1\tx", "2\tNULL"],
        ["1\ta\t1", "2\tb b\t2"],
        ["1\t2024-02-29\t2020-01-01", "2\tNULL\t2020-01-02"],
        ["2\tU\t1", "3\tz\t2", "4\tz\t2"],
        ["1\t1", "7\t1", "9\t2"],
        ["H"],
    ]
    for name in TABLES:
        ours.run(f"IMPORT TABLE i_{name} FROM '{tmp_path}/theirs/{name}'")
        mine, imported = (
            sorted(map(repr, ours.run(f"SELECT * FROM {table}").rows))
            for table in (name, f"i_{name}")
        )
        assert imported == mine
    ours.run("UPDATE i_acid SET b = 'O' WHERE a = 4")
    assert [row.b for row in ours.run("SELECT b FROM i_acid WHERE a = 4").rows] == ["O"]
