"""Partitions that come between the planning of a statement and its transaction."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import hivesql
from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.script import split
from hivesql_executor.run import run
from hivesql_executor.transactions.transaction import open_transaction, roll_back
from hivesql_planner.errors import StaleSnapshot
from hivesql_planner.plan import Plan
from hivesql_planner.planning import plan
from waiting import wait_until

READ = "SELECT id FROM p WHERE k > 1"


def planned(text: str, session: hivesql.Session) -> Plan:
    (statement,) = split(text, None, {})
    bound = bind(
        parse(statement), session.temporary, database="default", settings=session.settings
    )  # fmt: skip
    return plan(bound, session.settings)


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a transaction"])
def test_a_plan_whose_partitions_are_others_now_is_made_again(
    tmp_path: Path, *, inside: bool
) -> None:
    place = (f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"))
    with hivesql.connect(*place) as session, hivesql.connect(*place) as other:
        session.sql("""
            CREATE TABLE p (id int) PARTITIONED BY (k int)
            STORED AS ORC TBLPROPERTIES ('transactional'='true');
            INSERT INTO p VALUES (1, 1), (2, 2)
        """)
        for change in (
            "INSERT INTO p VALUES (3, 3)",
            "ALTER TABLE p PARTITION (k = 3) RENAME TO PARTITION (k = 4)",
            "ALTER TABLE p DROP PARTITION (k = 4)",
        ):
            decided = planned(READ, session)
            other.sql(change)
            opened = open_transaction(session.runtime) if inside else None
            with pytest.raises(StaleSnapshot, match="came, went or moved"):
                run(decided, session.runtime, inside=opened)
            if opened is not None:
                roll_back(opened, session.runtime, None)
        decided = planned(READ, session)
        other.sql("INSERT INTO p VALUES (4, 1), (5, 2)")
        assert [row.id for row in run(decided, session.runtime).rows] == [2, 5]


def test_a_transaction_reads_what_a_rename_moved_meanwhile(tmp_path: Path) -> None:
    place = (f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"))
    with hivesql.connect(*place) as session, hivesql.connect(*place) as other:
        session.sql("""
            CREATE TABLE p (id int) PARTITIONED BY (k int)
            STORED AS ORC TBLPROPERTIES ('transactional'='true');
            INSERT INTO p VALUES (1, 1), (2, 2);
            START TRANSACTION
        """)
        other.sql("START TRANSACTION; INSERT INTO p PARTITION (k = 2) VALUES (3)")
        rename = "ALTER TABLE p PARTITION (k = 2) RENAME TO PARTITION (k = 3)"
        with ThreadPoolExecutor() as pool, hivesql.connect(*place) as third:
            # It waits for the other's commit, and the reader for it.
            renamed = pool.submit(third.sql, rename)
            wait_until(lambda: len(other.sql("SHOW LOCKS p").rows) == 2)
            rows = pool.submit(session.sql, "SELECT id, k FROM p")
            wait_until(lambda: len(other.sql("SHOW LOCKS p").rows) == 4)
            other.sql("COMMIT")
            renamed.result()
            assert sorted(map(tuple, rows.result().rows)) == [(1, 1), (2, 3)]
        session.sql("COMMIT")
