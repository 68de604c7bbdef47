"""Insert-only tables that HiveSQL compacted, in real Hive: read, compacted there and here again."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop import hive
from interop.ours import OpenOurs

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow]

STORED = {
    "o": "STORED AS ORC",
    "p": "STORED AS PARQUET",
    "x": "ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE",
}
PROPERTIES = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"


def test_hive_reads_and_compacts_what_we_compacted(open_ours: OpenOurs, tmp_path: Path) -> None:
    ours, script = open_ours("ours"), []
    for table, stored in STORED.items():
        ddl = f"CREATE TABLE {table} (id INT, v STRING) {stored} {PROPERTIES};"
        ours.run(f"""
            {ddl}
            INSERT INTO {table} VALUES (1, 'a'), (2, 'é');
            INSERT INTO {table} VALUES (3, NULL);
            ALTER TABLE {table} COMPACT '{"minor" if table == "x" else "major"}';
            INSERT INTO {table} VALUES (9, 'taken back');
            RESTORE TABLE {table} TO VERSION AS OF 2;
            INSERT INTO {table} VALUES (4, 'd');
        """)
        script.append(f"""
            {ddl}
            !copy {ours.directory(table)} warehouse/{table};
            !adopt {table} 9;
            SELECT * FROM {table} ORDER BY id;
            INSERT INTO {table} VALUES (5, 'hive');
            ALTER TABLE {table} COMPACT 'major';
            !worker;
            !cleaner;
            SELECT * FROM {table} ORDER BY id;
        """)
    blocks = hive.run("".join(script), tmp_path / "hive")
    found = [block.lines for block in blocks if block.statement.startswith("SELECT")]
    before = ["1\ta", "2\té", "3\tNULL", "4\td"]
    assert found == [before, [*before, "5\thive"]] * len(STORED)
    for table in STORED:
        theirs = tmp_path / "hive" / "warehouse" / table
        (base,) = theirs.glob("base_*_v*")
        # Hive's files beside ours, whose columns have more attributes.
        ours.adopt(table, theirs)
        ours.run(f"INSERT INTO {table} VALUES (6, 'f'); ALTER TABLE {table} COMPACT 'major';")
        assert {one.name for one in ours.directory(table).glob("base_*_v*")} - {base.name}
        rows = ours.run(f"SELECT * FROM {table} ORDER BY id").rows
        assert [tuple(row) for row in rows[3:]] == [(4, "d"), (5, "hive"), (6, "f")]
