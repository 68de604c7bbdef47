"""Text that RegexSerDe reads: what real Hive 4.1 makes of the same lines."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

import hivesql
from hivesql_planner.errors import HiveSqlError, SemanticError

pytestmark = pytest.mark.spark

LINES = """\
127.0.0.1 - [10/Oct] "GET /a" 200 2326
bad line
10.0.0.2 frank [11/Oct] "PUT /b" xx -

1.1.1.1 - [12/Oct] "get" 99999999999 7 trailing
9.9.9.9 é [13/Oct] "a\\b" 7 1
"""
LOG = r"""([^ ]*) ([^ ]*) \\[([^\\]]*)\\] "([^"]*)" ([^ ]*) ([^ ]*)"""
NOTHING = (None,) * 6


def table(name: str, columns: str, place: Path, **properties: str) -> str:
    told = ", ".join(f"'{key.replace('_', '.')}'='{text}'" for key, text in properties.items())
    with_properties = f"WITH SERDEPROPERTIES ({told})" if told else ""
    return (
        f"CREATE EXTERNAL TABLE {name} ({columns}) "
        f"ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.RegexSerDe' {with_properties} "
        f"STORED AS TEXTFILE LOCATION '{place}'"
    )


def rows(session: hivesql.Session, sql: str) -> list[Any]:
    return sorted((tuple(row) for row in session.sql(sql).rows), key=str)


def test_lines_that_match_an_expression(session: hivesql.Session, tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "one.txt").write_text(LINES)
    (tmp_path / "times").mkdir()
    (tmp_path / "times" / "t").write_text("2020-01-02,1.5,true\n2020-1-2,x,TRUE\nx,1e400,yes\n")
    columns = "host STRING, who CHAR(4), day VARCHAR(6), req STRING, code INT, size BIGINT"
    session.sql(table("rx", columns, tmp_path / "log", input_regex=LOG))
    assert rows(session, "SELECT * FROM rx") == sorted(
        [
            ("127.0.0.1", "-   ", "10/Oct", "GET /a", 200, 2326),
            ("10.0.0.2", "fran", "11/Oct", "PUT /b", None, None),
            ("9.9.9.9", "é   ", "13/Oct", "a\\b", 7, 1),
            NOTHING, NOTHING, NOTHING,
        ],
        key=str,
    )  # fmt: skip
    assert rows(session, "SELECT count(*) FROM rx") == [(6,)]
    assert rows(session, "SELECT sum(size) FROM rx WHERE host LIKE '1%'") == [(2326,)]
    parts = r"(GET)?.*\\[([^\\]]*)\\].*"
    session.sql(table("parts", "a STRING, b STRING", tmp_path / "log", input_regex=parts))
    # What does not take part in a match is no text.
    assert rows(session, "SELECT DISTINCT a FROM parts") == [(None,)]
    session.sql(
        table("times", "d DATE, f DOUBLE, b BOOLEAN", tmp_path / "times",
              input_regex="([^,]*),([^,]*),([^,]*)")
    )  # fmt: skip
    assert rows(session, "SELECT * FROM times") == sorted(
        [
            (date(2020, 1, 2), 1.5, True),
            (date(2020, 1, 2), None, True),
            (None, float("inf"), False),
        ],
        key=str,
    )
    with pytest.raises(SemanticError, match="serialize"):
        session.sql("INSERT INTO times SELECT DATE '2020-01-01', 1, true")
    for name, kind, properties, problem in (
        ("no_regex", "STRING", {}, "input.regex"),
        ("nested", "ARRAY<STRING>", {"input_regex": "(.*)"}, "doesn't allow column"),
    ):
        with pytest.raises(SemanticError, match=problem):
            session.sql(table(name, f"a {kind}", tmp_path / "log", **dict(properties)))
    assert session.sql("SHOW TABLES").rows == [("parts",), ("rx",), ("times",)]
    session.sql(table("narrow", "a STRING", tmp_path / "log", input_regex="([^ ]*) ([^ ]*).*"))
    with pytest.raises(HiveSqlError, match="matching groups"):
        session.sql("SELECT * FROM narrow")


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("[^\\\\](.*)", "Unclosed character class"),
        ("(.*", "Unclosed group"),
        ("(?P<a>.*)", "Unknown inline modifier"),
        ("(a*+)(\\\\p{Alpha}?)", None),
        ("\\\\Q[\\\\E(.*)", None),
    ],
)
def test_an_expression_is_one_of_java(
    session: hivesql.Session, tmp_path: Path, pattern: str, problem: str | None
) -> None:
    made = table("rx", "a STRING", tmp_path / "log", input_regex=pattern)
    if problem is None:
        session.sql(made)
        return
    with pytest.raises(HiveSqlError) as caught:
        session.sql(made)
    assert (caught.value.code, problem in caught.value.message) == (40000, True)
    assert not (tmp_path / "log").exists()
