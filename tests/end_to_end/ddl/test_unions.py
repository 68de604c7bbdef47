"""UNIONTYPE: columns are read as real Hive 4.1 prints them, and never written; functions."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

import hivesql
from hivesql.rendering.hive_text import hive_text, with_hive_types
from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError

pytestmark = pytest.mark.spark

UNION = "uniontype<int,double,array<string>,struct<a:int,b:char(2)>,map<string,timestamp>>"
# Hive 4.1 wrote these lines.
LINES = ("1\x010\x025\x01one", "2\x011\x022.0\x01two", "3\x012\x02x\x03y\x01three",
         "4\x013\x021\x03q\x01four", "5\x01\\N\x01five")  # fmt: skip
PRINTED = ["{0:5}", "{1:2.0}", '{2:["x","y"]}', '{3:{"a":1,"b":"q "}}', "NULL"]
# Members are 7, 8 / "x", NULL / 2020-01-02.
TAGS = [0, 1, 2, 0, 1]
IN_ORC = "uniontype<int,string,array<date>>"
ORC_PRINTED = ["{0:7}", '{1:"x"}', '{2:["2020-01-02"]}', "{0:8}", "{1:null}"]


def _printed(session: hivesql.Session, query: str) -> list[str]:
    result = session.sql(query)
    return [hive_text(row[0]) for row in with_hive_types(result.types, result.rows)]


def _make_text_table(session: hivesql.Session, root: Path, union: str = UNION) -> None:
    (root / "lines").mkdir()
    (root / "lines/f").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    session.sql(
        f"CREATE EXTERNAL TABLE t (id INT, u {union}, s STRING) STORED AS TEXTFILE "
        f"LOCATION '{root}/lines'"
    )


def _write_orc(path: Path, repeated: int = 1) -> None:
    tags, offsets = pa.array(TAGS, pa.int8()), pa.array([0, 0, 0, 1, 1], pa.int32())
    days = pa.array([[18263]], pa.list_(pa.int32())).cast(pa.list_(pa.date32()))
    members = [pa.array([7, 8], pa.int32()), pa.array(["x", None]), days]
    union = pa.UnionArray.from_dense(tags, offsets, members)
    rows = pa.table({"id": pa.array(range(5), pa.int32()), "u": union, "s": list("abcde")})
    path.parent.mkdir(exist_ok=True)
    orc.write_table(pa.concat_tables([rows] * repeated), path)


def test_text(session: hivesql.Session, tmp_path: Path) -> None:
    _make_text_table(session, tmp_path)
    assert _printed(session, "SELECT s FROM t ORDER BY id")[0] == "one"
    assert _printed(session, "SELECT u FROM t ORDER BY id") == PRINTED
    assert sorted(_printed(session, "SELECT DISTINCT u FROM t")) == sorted(PRINTED)
    assert session.sql("SELECT id FROM t WHERE u IS NULL").rows == [(5,)]
    described = session.sql("DESCRIBE t").rows
    assert described[1][1] == UNION


@pytest.mark.parametrize("repeated", [1, 2000])
def test_orc(session: hivesql.Session, tmp_path: Path, repeated: int) -> None:
    _write_orc(tmp_path / "data/f.orc", repeated)
    session.sql(
        f"CREATE EXTERNAL TABLE t (id INT, u {IN_ORC}, s STRING) STORED AS ORC "
        f"LOCATION '{tmp_path}/data'"
    )
    assert _printed(session, "SELECT u FROM t ORDER BY id") == [
        text for text in ORC_PRINTED for _ in range(repeated)
    ]
    # Rows that a condition leaves out are taken out of ORC's own vectors.
    assert _printed(session, "SELECT u FROM t WHERE s IN ('b', 'c', 'e') ORDER BY id") == [
        text for i in (1, 2, 4) for text in [ORC_PRINTED[i]] * repeated
    ]
    assert session.sql("SELECT count(*), max(s) FROM t").rows == [(5 * repeated, "e")]
    nested = _printed(session, "SELECT array(u) FROM t WHERE id < 2 ORDER BY id")
    assert sorted(set(nested)) == ["[{0:7}]", '[{1:"x"}]']


def test_unions_in_full_acid_tables(session: hivesql.Session, tmp_path: Path) -> None:
    """A file of Hive's that was there before the table became transactional."""
    _write_orc(tmp_path / "f.orc")
    session.sql(f"CREATE TABLE t (id INT, u {IN_ORC}, s STRING) STORED AS ORC "
                "TBLPROPERTIES ('transactional'='true')")  # fmt: skip
    session.sql(f"LOAD DATA LOCAL INPATH '{tmp_path}/f.orc' INTO TABLE t")
    assert _printed(session, "SELECT u FROM t ORDER BY id") == ORC_PRINTED


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t SELECT * FROM t",
        "INSERT INTO t (id) VALUES (9)",
        "INSERT INTO acid (id) VALUES (9)",
        "UPDATE acid SET id = 3",
        "DELETE FROM acid",
        "MERGE INTO acid USING (SELECT 1 AS k) q ON acid.id = q.k WHEN MATCHED THEN DELETE",
        "ALTER TABLE acid COMPACT 'major'",
        "CREATE TABLE new AS SELECT u FROM t",
        "INSERT OVERWRITE LOCAL DIRECTORY '{root}/out' SELECT u FROM t",
        "SELECT CAST(u AS STRING) FROM t",
        "SELECT * FROM json",
    ],
)
def test_refused_before_anything_is_touched(
    session: hivesql.Session, tmp_path: Path, statement: str
) -> None:
    _make_text_table(session, tmp_path)
    session.sql("CREATE TABLE acid (id INT, u uniontype<int,string>) STORED AS ORC "
                "TBLPROPERTIES ('transactional'='true')")  # fmt: skip
    session.sql("CREATE TABLE json (u uniontype<int,string>) STORED AS JSONFILE")
    with pytest.raises(NotSupported, match=r"(?i)uniontype"):
        session.sql(statement.format(root=tmp_path))
    assert session.sql("SHOW TABLES").rows == [("acid",), ("json",), ("t",)]
    assert not (tmp_path / "out").exists()
    assert len(list((tmp_path / "lines").iterdir())) == 1


def test_parquet_has_none(session: hivesql.Session) -> None:
    with pytest.raises(SemanticError, match=r"Unknown field type: uniontype<int,string>") as caught:
        session.sql("CREATE TABLE p (u uniontype<int,string>) STORED AS PARQUET")
    assert caught.value.code == 40000


def test_unions_are_made_and_taken_apart(session: hivesql.Session) -> None:
    """What real Hive 4.1 gives, but for a constant union's other member, which it does not lose."""
    session.sql("CREATE TABLE t (i INT, s STRING); INSERT INTO t VALUES (0, 'a'), (1, 'b')")
    made = "SELECT i, create_union(i, 7, s) AS u FROM t"
    assert _printed(session, f"SELECT u FROM ({made}) q ORDER BY i") == ["{0:7}", '{1:"b"}']
    member = '{"tag_0":null,"tag_1":"b"}'
    inside = "named_struct('l', array(u), 'm', map('k', u))"
    for expression, expected in (
        ("extract_union(u)", ['{"tag_0":7,"tag_1":null}', member]),
        ("extract_union(u, 0)", ["7", "NULL"]),
        ("extract_union(u, 1)", ["NULL", "b"]),
        ("extract_union(u).tag_1", ["NULL", "b"]),
        (f"extract_union(if(i = 1, {inside}, NULL))",
         ["NULL", f'{{"l":[{member}],"m":{{"k":{member}}}}}']),
    ):  # fmt: skip
        query = f"SELECT {expression} FROM ({made}) q ORDER BY i"
        assert _printed(session, query) == expected, expression
    twice = f"SELECT u, count(*) FROM ({made} UNION ALL {made}) q GROUP BY u"
    assert [row[1] for row in session.sql(twice).rows] == [2, 2]


@pytest.mark.parametrize(
    ("expression", "code", "message"),
    [
        ("create_union(2, 1, 'a')", None, "the tag is 2, and not 0 to 1"),
        ("create_union('0', 1)", 40000, "is an int, not string"),
        ("create_union(0)", 40000, "takes a tag and at least one value"),
        ("extract_union(create_union(0, 1, 'a'), 2)", 10014, "Expected 0-1 got: 2"),
        ("extract_union(create_union(0, 1), 1 - 1)", 10014, "a union and an int constant"),
        ("extract_union(array(1))", 40000, "No unions found in array<int>"),
        ("create_union(0, 1) = create_union(0, 1)", 10014, "EQUAL does not support UNION types"),
    ],
)
def test_what_unions_are_not_made_of(
    session: hivesql.Session, expression: str, code: int | None, message: str
) -> None:
    with pytest.raises(HiveSqlError, match=message) as caught:
        session.sql(f"SELECT {expression}")
    assert caught.value.code == code
