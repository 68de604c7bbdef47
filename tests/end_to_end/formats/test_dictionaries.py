"""Dictionaries of string columns: as ORC's own tree writes them, to the byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyarrow import orc

import hivesql

pytestmark = pytest.mark.spark

IMPLEMENTATION = "orc.dictionary.implementation"
COLUMNS = (
    "id BIGINT, few STRING, odd STRING, c CHAR(4), v VARCHAR(9), "
    "l ARRAY<STRING>, m MAP<STRING, STRING>, s STRUCT<a: STRING>"
)
# Few words and many, none, empty ones, words that begin alike, and bytes that are negative in Java.
ROWS = """
SELECT id, concat('word ', pmod(id * 7919, 501)) AS few,
       element_at(array('', 'é', 'z', '\\uff0c', '😀', null, 'zz', 'z\\u0000', concat('only ', id)),
                  cast(pmod(id, 9) + 1 AS int)) AS odd,
       cast(concat('c', id % 50) AS char(4)) AS c, cast(concat('v', id % 3000) AS varchar(9)) AS v,
       array(concat('l', id % 40), null) AS l,
       map(concat('k', id % 30), concat('v', id % 20)) AS m,
       named_struct('a', concat('s', id % 10)) AS s
FROM range(0, 60000, 1, 2)
"""


def bucket_files(directory: Path) -> dict[str, bytes]:
    """By their paths without the transaction of a compaction."""
    return {f"{path.parent.name.partition('_v')[0]}/{path.name}": path.read_bytes()
            for path in directory.rglob("bucket_*")}  # fmt: skip


def written(session: hivesql.Session, root: Path, table: str, stripe: int) -> dict[str, bytes]:
    session.sql(
        f"CREATE TABLE {table} ({COLUMNS}) STORED AS ORC "
        f"TBLPROPERTIES ('transactional'='true', 'orc.stripe.size'='{stripe}')"
    )
    session.append(table, session.runtime.spark().sql(ROWS))
    session.sql(f"UPDATE {table} SET few = concat(few, 'x') WHERE id % 3 = 0")
    (place,) = root.rglob(table)
    files = bucket_files(place)
    session.sql(f"ALTER TABLE {table} COMPACT 'major'")
    return files | bucket_files(place)


def both(session: hivesql.Session, root: Path, stripe: int) -> tuple[dict[str, bytes], ...]:
    context: Any = session.runtime.spark().sparkContext
    settings = context._jsc.hadoopConfiguration()
    ours = written(session, root, "ours", stripe)
    settings.set(IMPLEMENTATION, "rbtree")
    try:
        return ours, written(session, root, "tree", stripe)
    finally:
        settings.unset(IMPLEMENTATION)


def test_files_are_those_of_the_tree(session: hivesql.Session, tmp_path: Path) -> None:
    ours, trees = both(session, tmp_path, 64 << 20)
    assert len(ours) == 8
    assert ours == trees


def test_dictionaries_of_several_stripes_hold_the_same_words(
    session: hivesql.Session, tmp_path: Path
) -> None:
    # The tree takes itself for larger, so stripes end elsewhere.
    both(session, tmp_path, 1 << 20)
    (place,) = tmp_path.rglob("ours")
    stripes = [orc.ORCFile(path).nstripes for path in place.rglob("base_*/bucket_*")]
    assert min(stripes) > 1
    words = "id, few, odd, c, v, l[0], map_keys(m)[0], map_values(m)[0], s.a"
    for one, other in (("ours", "tree"), ("tree", "ours")):
        missing = f"SELECT {words} FROM {one} EXCEPT ALL SELECT {words} FROM {other}"
        assert session.sql(missing).rows == []
