"""INSERT OVERWRITE DIRECTORY: the files that real Hive 4.1 makes of the same rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import orc, parquet

import hivesql
from hivesql_planner.errors import ExecutionError, HiveSqlError, NotSupported, SemanticError

pytestmark = pytest.mark.spark

CSV = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde'"
JSON = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.JsonSerDe'"
PIPES = (
    "ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' COLLECTION ITEMS TERMINATED BY '|' "
    "MAP KEYS TERMINATED BY ':' NULL DEFINED AS 'NIL'"
)
# What follows DIRECTORY '…', and the bytes that Hive wrote.
TEXTS = {
    "SELECT 1, 'a', CAST(NULL AS STRING), true, DATE '2020-01-02', "
    "TIMESTAMP '2020-01-02 03:04:05', array(1, 2), map('k', 'v', 'l', null), "
    "named_struct('x', 1, 'y', 'z'), cast('ab' AS BINARY), 1e10, '', 'tab\\tin\\nnl\\\\'":
        "1\x01a\x01\\N\x01true\x012020-01-02\x012020-01-02 03:04:05\x011\x022\x01"
        "k\x03v\x02l\x03\\N\x011\x02z\x01YWI\x011.0E10\x01\x01tab\tin\nnl\\\n",
    f"{PIPES} SELECT 1, 'a,b', null, array(1, 2), map('k', 'v', 'l', null)":
        "1,a,b,NIL,1|2,k:v|l:NIL\n",
    "ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' ESCAPED BY '\\\\' SELECT 1, 'a,b', null":
        "1,a\\,b,\\N\n",
    f"{CSV} SELECT a, b FROM tx ORDER BY a": '"1","x"\n"2","yyy"\n"3","z"\n',
    f"{JSON} SELECT a, b FROM tx WHERE a < 3":
        '{"_col0":1,"_col1":"x"}\n{"_col0":2,"_col1":"yyy"}\n',
    "SELECT a, b FROM tx ORDER BY a DESC": "3\x01z\n2\x01yyy\n1\x01x\n",
}  # fmt: skip


def contents(directory: Path) -> str:
    """All files that are not hidden, one after the other."""
    found = sorted(one for one in directory.iterdir() if not one.name.startswith("."))
    return "".join(one.read_text() for one in found)


def test_text_files(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql("""
        CREATE TABLE tx (a int, b string) STORED AS TEXTFILE
            TBLPROPERTIES ('transactional'='false');
        INSERT INTO tx VALUES (1, 'x'), (2, 'yyy'), (3, 'z');
    """)
    out = tmp_path / "out" / "deep"
    for i, (text, expected) in enumerate(TEXTS.items()):
        local = "LOCAL " if i % 2 else ""
        session.sql(f"INSERT OVERWRITE {local}DIRECTORY '{out}' {text}")
        assert contents(out) == expected, text
        assert [one.name for one in out.iterdir()] == ["000000_0"]
    result = session.sql(f"FROM tx INSERT OVERWRITE DIRECTORY '{out}' SELECT a WHERE a > 1")
    assert (result.affected, contents(out)) == (2, "2\n3\n")
    with pytest.raises(HiveSqlError):
        session.sql(f"INSERT OVERWRITE LOCAL DIRECTORY '{out}' SELECT assert_true(a < 3) FROM tx")
    assert contents(out) == "2\n3\n"
    assert [one.name for one in out.iterdir()] == ["000000_0"]
    for local in ("", "LOCAL "):
        new = tmp_path / "new" / "deep"
        with pytest.raises(HiveSqlError):
            session.sql(
                f"INSERT OVERWRITE {local}DIRECTORY '{new}' SELECT assert_true(a < 3) FROM tx"
            )
        assert not new.parent.exists()
    session.sql(f"WITH q AS (SELECT * FROM tx) INSERT OVERWRITE DIRECTORY '{out}' "
                "SELECT * FROM q WHERE a > 9")  # fmt: skip
    assert list(out.iterdir()) == []


def test_other_files_and_errors(session: hivesql.Session, tmp_path: Path) -> None:
    out = tmp_path / "out"
    session.sql(f"INSERT OVERWRITE DIRECTORY '{out}' STORED AS ORC SELECT 1 AS a, 'x' b")
    (file,) = out.iterdir()
    assert orc.ORCFile(file).read().to_pydict() == {"_col0": [1], "_col1": ["x"]}
    session.sql(f"INSERT OVERWRITE LOCAL DIRECTORY '{out}' STORED AS PARQUET VALUES (1, 'x')")
    (file,) = out.iterdir()
    assert parquet.read_table(file).to_pydict() == {"_col0": [1], "_col1": ["x"]}
    told = session.sql(f"EXPLAIN INSERT OVERWRITE DIRECTORY '{out}' SELECT 1").rows
    assert any(f"REPLACE textfile files of {out}" in str(row) for row in told)
    with pytest.raises(SemanticError, match="is a file"):
        session.sql(f"INSERT OVERWRITE DIRECTORY '{file}' SELECT 1")
    with pytest.raises(SemanticError, match="empty string"):
        session.sql("INSERT OVERWRITE DIRECTORY '' SELECT 1")
    with pytest.raises(ExecutionError, match="/proc/nope cannot be made"):
        session.sql("INSERT OVERWRITE LOCAL DIRECTORY '/proc/nope/x' SELECT 1")
    with pytest.raises(NotSupported, match="beside other INSERTs"):
        session.sql(f"FROM (SELECT 1 AS a) q INSERT OVERWRITE DIRECTORY '{out}' SELECT a "
                    f"INSERT OVERWRITE DIRECTORY '{out}2' SELECT a")  # fmt: skip
    assert [one.name for one in out.iterdir()] == [file.name]
