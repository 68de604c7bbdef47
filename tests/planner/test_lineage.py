"""What a plan reads and writes, and whether it can be recorded under an idempotency key."""

from __future__ import annotations

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.errors import NotSupported
from hivesql_planner.plan_facts import is_recorded, tables_read, tables_written
from hivesql_planner.planning import plan
from memory_catalog import MemoryCatalog, table

CATALOG = MemoryCatalog.of(
    table("s", "id int"), table("t", "id int"), table("u", "id int"),
    table("plain", "id int", properties={}),
)  # fmt: skip
CASES = {
    # statement: (read, written, recorded; None is refused)
    "SELECT * FROM s JOIN plain ON s.id = plain.id": ("s plain", "", False),
    "INSERT INTO t SELECT id FROM s": ("s", "t", True),
    "INSERT INTO t VALUES (1)": ("", "t", True),
    "FROM s INSERT INTO t SELECT id INSERT INTO u SELECT id": ("s", "t u", True),
    "UPDATE t SET id = 1": ("", "t", True),
    "DELETE FROM t WHERE id IN (SELECT id FROM u)": ("u", "t", True),
    "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE": ("s", "t", True),
    "TRUNCATE TABLE t": ("", "t", True),
    "CREATE TABLE n STORED AS ORC AS SELECT id FROM s": ("s", "n", True),
    "CREATE TABLE n (id INT) STORED AS ORC": ("", "", True),
    "INSERT INTO plain SELECT id FROM s": ("s", "plain", None),
    "INSERT OVERWRITE TABLE plain SELECT id FROM s": ("s", "plain", True),
    "LOAD DATA INPATH '/x' INTO TABLE t": ("", "t", True),
    "LOAD DATA INPATH '/x' INTO TABLE plain": ("", "plain", None),
    "SHOW TABLES": ("", "", False),
}


@pytest.mark.parametrize("text", CASES)
def test_lineage(text: str) -> None:
    read, written, recorded = CASES[text]
    decided = plan(bind(parse(StatementText(text)), CATALOG))
    assert [one.name.name for one in tables_read(decided)] == read.split()
    assert [one.name.name for one in tables_written(decided)] == written.split()
    if recorded is None:
        with pytest.raises(NotSupported, match="plain"):
            is_recorded(decided)
    else:
        assert is_recorded(decided) is recorded
