"""Sessions under DummyTxnManager: LOCK, UNLOCK, SHOW LOCKS, and who waits for whom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import hivesql
from hivesql_executor.runtime import Clock
from hivesql_planner.settings.transaction_keys import DUMMY_TXN_MANAGER

DUMMY = {
    "hive.txn.manager": DUMMY_TXN_MANAGER,
    "hive.lock.numretries": "1",
    "hive.lock.sleep.between.retries": "10ms",
}


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[hivesql.Session, hivesql.Session, list[str]]]:
    """Two sessions; statements that start no Spark are enough here."""
    told: list[str] = []
    url, home = f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse")
    with (
        hivesql.connect(url, home, settings=DUMMY) as one,
        hivesql.connect(url, home, settings=DUMMY, notify=told.append) as other,
    ):
        one.sql("CREATE TABLE t (a int) PARTITIONED BY (p int) STORED AS ORC")
        one.sql("CREATE TABLE u (a int) STORED AS ORC; ALTER TABLE t ADD PARTITION (p=1)")
        yield one, other, told


def test_locks_outlive_their_statement(
    pair: tuple[hivesql.Session, hivesql.Session, list[str]],
) -> None:
    one, other, told = pair
    one.sql("LOCK TABLE t PARTITION (p=1) EXCLUSIVE; LOCK TABLE u SHARED")
    shown = other.sql("SHOW LOCKS")
    assert shown.columns == ("tab_name", "mode")
    assert shown.rows == [("default@t@p=1", "EXCLUSIVE"), ("default@u", "SHARED")]
    extended = other.sql("SHOW LOCKS t EXTENDED")
    (row, *more) = extended.rows
    assert {cell for _, cell in more} == {""}
    (_, *sent) = extended.of_server or ()
    assert sent == [(line, None) for line, _ in more]
    assert row == ("default@t@p=1", "EXCLUSIVE")
    texts = [line for line, _ in more]
    assert texts[2:] == [
        "LOCK_MODE:EXPLICIT",
        "LOCK_QUERYSTRING:LOCK TABLE t PARTITION (p=1) EXCLUSIVE",
    ]
    assert len(other.sql("SHOW LOCKS DATABASE default").rows) == 2

    for statement in ("ALTER TABLE t DROP PARTITION (p=1)", "DROP TABLE u"):
        with pytest.raises(hivesql.LockTimeout, match="is locked") as raised:
            other.sql(statement)
        assert raised.value.code == 10104
    waits = r"waiting for locks for \d+\.\d s: default@t@p=1 is locked \(exclusive\)"
    assert re.match(waits, told[0])
    other.sql("LOCK TABLE u SHARED; ALTER TABLE t ADD PARTITION (p=2)")

    other.sql("UNLOCK TABLE t PARTITION (p=1); UNLOCK TABLE u")
    one.sql("ALTER TABLE t DROP PARTITION (p=1); DROP TABLE u")
    assert one.sql("SHOW LOCKS").rows == []
    with pytest.raises(hivesql.SemanticError, match="Table t is not locked"):
        one.sql("UNLOCK TABLE t")
    one.sql("LOCK DATABASE default EXCLUSIVE")
    with pytest.raises(hivesql.LockTimeout):
        other.sql("CREATE TABLE v (a int)")
    one.sql("UNLOCK DATABASE default")
    with pytest.raises(hivesql.SemanticError, match="Database default is not locked"):
        one.sql("UNLOCK DATABASE default")


def test_a_wait_ends_with_the_lock(
    pair: tuple[hivesql.Session, hivesql.Session, list[str]],
) -> None:
    one, other, _ = pair
    one.sql("LOCK TABLE u EXCLUSIVE")
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            one.sql("UNLOCK TABLE u")

    other.sql("SET hive.lock.sleep.between.retries=60s")
    other.runtime = replace(other.runtime, clock=Clock(sleep=sleep))
    other.sql("LOCK TABLE u SHARED")
    # Who is next looks again soon, whatever the setting says.
    assert len(slept) == 3 and max(slept) < 0.1
    assert other.sql("SHOW LOCKS").rows == [("default@u", "SHARED")]


def test_without_concurrency_there_are_no_locks(
    pair: tuple[hivesql.Session, hivesql.Session, list[str]],
) -> None:
    one, other, _ = pair
    one.sql("LOCK TABLE u EXCLUSIVE; SET hive.support.concurrency=false")
    with pytest.raises(hivesql.SemanticError) as raised:
        one.sql("LOCK TABLE t SHARED")
    assert raised.value.code == 10102
    one.sql("DROP TABLE u")
    with pytest.raises(hivesql.SemanticError) as raised:
        other.sql("START TRANSACTION")
    assert raised.value.code == 10265


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM u",
        "DELETE FROM nosuch WHERE a = 1",
        "UPDATE u SET a = 1",
        "MERGE INTO u USING (SELECT 1 k) s ON u.a = s.k WHEN MATCHED THEN DELETE",
    ],
)
def test_rows_are_not_changed_whatever_the_table(
    text: str, pair: tuple[hivesql.Session, hivesql.Session, list[str]]
) -> None:
    with pytest.raises(hivesql.SemanticError, match="DbTxnManager") as raised:
        pair[0].sql(text)
    assert raised.value.code == 10294
