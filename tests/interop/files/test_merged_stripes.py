"""Stripes that a compaction copied: real Hive prunes, deletes and compacts with them."""

from __future__ import annotations

from pathlib import Path

import pyorc
import pytest

from interop import hive
from interop.ours import OpenOurs, highest_ids

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow]

DDL = "CREATE TABLE {} (id INT, v STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true');"
INSERT = (
    "INSERT INTO {} SELECT pos + {}, md5(cast(pos + {} AS string)) "
    "FROM (SELECT posexplode(split(space(99999), ' ')) AS (pos, blank)) x;"
)
QUERIES = (
    "SELECT count(*), sum(id), min(v), max(v) FROM {}",
    "SELECT count(*), sum(id) FROM {} WHERE id BETWEEN 99990 AND 100020",
    "SELECT id, v FROM {} WHERE id = 150000",
    "SELECT count(*) FROM {} WHERE id = 100003",
)


def test_hive_works_on_copied_stripes(open_ours: OpenOurs, tmp_path: Path) -> None:
    ours, script = open_ours("ours"), []
    expected: list[list[str]] = []
    for table, kind in (("mi", "minor"), ("ma", "major")):
        ours.run(DDL.format(table))
        for start in (0, 100_000):
            ours.run(INSERT.format(table, start, start))
        ours.run(f"ALTER TABLE {table} COMPACT '{kind}'")
        (path,) = ours.directory(table).glob("*_v*/bucket_00000")
        with path.open("rb") as file:
            reader = pyorc.Reader(file)
            assert reader.num_of_stripes == 2
            index = reader.user_metadata["hive.acid.key.index"].decode()
        assert index == "1,536870912,99999;2,536870912,99999;"
        # Deletes at the ends of the stripes, where a wrong key index would lose them.
        ours.run(f"DELETE FROM {table} WHERE id IN (0, 99999, 100000, 199999) OR id = 100003")
        answers = [ours.run(query.format(table)).rows for query in QUERIES]
        lines = [["\t".join(map(str, row)) for row in rows] for rows in answers]
        expected += lines * 4
        selects = "".join(f"{query.format(table)};\n" for query in QUERIES)
        script.append(f"""
            {DDL.format(table)}
            !copy {ours.directory(table)} warehouse/{table};
            !adopt {table} {max(highest_ids(ours.directory(table)))};
            SET hive.fetch.task.conversion=none;
            SET hive.optimize.index.filter=true;
            SET hive.vectorized.execution.enabled=true;
            {selects}
            SET hive.vectorized.execution.enabled=false;
            {selects}
            SET hive.vectorized.execution.enabled=true;
            ALTER TABLE {table} COMPACT 'minor';
            !worker;
            {selects}
            ALTER TABLE {table} COMPACT 'major';
            !worker;
            !cleaner;
            {selects}
        """)
    blocks = hive.run("".join(script), tmp_path / "hive")
    found = [block.lines for block in blocks if block.statement.startswith("SELECT")]
    assert found == expected
