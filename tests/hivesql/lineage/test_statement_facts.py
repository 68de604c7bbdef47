"""What a statement's facts are, and that a log carries all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import hivesql
from hivesql.lineage.column_lineage import ColumnSource
from hivesql.lineage.statement_facts import FACTS_START, ColumnFacts, StatementFacts, facts_of


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as opened:
        yield opened


def test_facts_have_columns_their_sources_and_rows(session: hivesql.Session) -> None:
    session.sql("CREATE TABLE s (n DECIMAL(9,2) COMMENT 'ä\n', m MAP<STRING,INT>) STORED AS ORC")
    session.sql("CREATE TRANSACTIONAL TABLE t (n INT) PARTITIONED BY (day STRING) STORED AS ORC")
    facts = facts_of(session.sql("INSERT INTO t PARTITION (day = 'a') VALUES (1), (2)"))
    columns = [ColumnFacts("n", "int", None), ColumnFacts("day", "string", None)]
    assert facts == StatementFacts(read={}, written={"default.t": columns}, affected=2, sources={})
    facts = facts_of(session.sql("INSERT INTO t PARTITION (day = 'b') SELECT n FROM s"))
    assert facts is not None
    assert facts.read == {
        "default.s": [
            ColumnFacts("n", "decimal(9,2)", "ä\n"), ColumnFacts("m", "map<string,int>", None),
        ]
    }  # fmt: skip
    assert facts.sources["default.t"]["n"] == [ColumnSource("default.s", "n")]
    line = facts.to_json()
    assert line.startswith(FACTS_START)
    assert "\n" not in line
    assert StatementFacts.from_json(line) == facts


def test_statements_that_plan_nothing_have_none(session: hivesql.Session) -> None:
    assert facts_of(session.sql("SET x=1")) is None
