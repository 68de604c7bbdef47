"""A day that only the Julian calendar has, bytes that are no text, CHAR in arrays: as in Hive."""

from __future__ import annotations

from pathlib import Path

import pyorc
import pytest

from acid_files import EVENT, ExactTimes
from interop import hive
from interop.ours import OpenOurs

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow]

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
EXPLODED = (
    "SELECT p, x, k, y FROM c LATERAL VIEW posexplode(a) q AS p, x "
    "LATERAL VIEW explode(m) r AS k, y WHERE x IS NOT NULL"
)
LEAP = -171_596
"""1500-02-29 in the Julian calendar's count of days."""


def test_what_hive_reads(open_ours: OpenOurs, tmp_path: Path) -> None:
    ours = open_ours("ours")
    ours.run(f"""
        CREATE TABLE j (id INT, d DATE, t TIMESTAMP) {ACID};
        INSERT INTO j VALUES (0, NULL, NULL);
        CREATE TABLE x (s STRING, n INT) ROW FORMAT DELIMITED FIELDS TERMINATED BY '|'
          STORED AS TEXTFILE;
    """)
    (path,) = ours.directory("j").rglob("delta_*/bucket_*")
    kinds = {pyorc.TypeKind.TIMESTAMP: ExactTimes, pyorc.TypeKind.DATE: ExactTimes}
    schema = EVENT.format("id:int,d:date,t:timestamp")
    with path.open("wb") as file, pyorc.Writer(file, schema, converters=kinds) as writer:
        for i in range(-1, 2):
            row = (i, LEAP + i, ((LEAP + i) * 86_400, 1))
            writer.write((0, 1, 1 << 29, i + 1, 1, row))
    (ours.directory("x") / "000000_0").write_bytes(b"a\xffb|1\n\xe9|2\n")
    ours.run(f"""
        CREATE TABLE b (s STRING, n INT) {ACID};
        INSERT INTO b SELECT * FROM x;
        UPDATE b SET n = 3 WHERE n = 2;
        CREATE TABLE c (a ARRAY<CHAR(4)>, m MAP<CHAR(2),CHAR(3)>) {ACID};
        INSERT INTO c SELECT array('x', NULL), map('k', 'v');
    """)
    blocks = hive.run(
        f"""
        CREATE TABLE j (id INT, d DATE, t TIMESTAMP) {ACID};
        !copy {ours.directory("j")} warehouse/j;
        !adopt j 1;
        SELECT id, d, t FROM j ORDER BY id;
        CREATE TABLE b (s STRING, n INT) {ACID};
        !copy {ours.directory("b")} warehouse/b;
        !adopt b 2;
        SELECT hex(s), n FROM b ORDER BY n;
        CREATE TABLE c (a ARRAY<CHAR(4)>, m MAP<CHAR(2),CHAR(3)>) {ACID};
        !copy {ours.directory("c")} warehouse/c;
        !adopt c 1;
        {EXPLODED};
        """,
        tmp_path / "hive",
    )
    days, texts, chars = (block.lines for block in blocks if block.statement.startswith("SELECT"))
    shown = ours.run("SELECT id, d, t FROM j ORDER BY id").rows
    assert days == [f"{row[0]}\t{row[1]}\t{row[2]}" for row in shown]
    assert chars == ["\t".join(map(str, row)) for row in ours.run(EXPLODED).rows]
    assert texts == ["61FF62\t1", "E9\t3"]
    assert [tuple(row) for row in ours.run("SELECT hex(s), n FROM b ORDER BY n").rows] == [
        ("61FF62", 1), ("E9", 3),
    ]  # fmt: skip
