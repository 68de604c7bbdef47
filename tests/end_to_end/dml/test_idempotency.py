"""A program that runs twice, whole or killed, writes its rows once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import hivesql
from hivesql_executor.failpoints import VARIABLE, FailPoint
from tables import LONG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
SCRIPT = f"""
    CREATE TABLE t (id INT, v STRING) {ACID};
    SET hivevar:one=1;
    INSERT INTO t VALUES (${{one}}, 'a'), (2, 'b');
    START TRANSACTION;
    INSERT INTO t VALUES (3, 'c');
    UPDATE t SET v = 'B' WHERE id = 2;
    COMMIT;
    SELECT count(*) FROM t
"""


def rows(session: hivesql.Session, query: str = "SELECT * FROM t") -> list[tuple[Any, ...]]:
    return sorted(map(tuple, session.sql(query).rows))


def test_a_script_under_a_key(session: hivesql.Session) -> None:
    first = list(session.run(SCRIPT, idempotency_key="load"))
    assert [one.affected for one in first] == [None, None, 2, None, 1, 1, None, None]
    assert not any(one.message for one in first)
    for _ in range(2):
        again = list(session.run(SCRIPT, idempotency_key="load"))
        assert list(again[-1].rows) == [(3,)]
        told = [one.message is not None for one in again]
        assert told == [True, False, True, True, True, True, False, False]
        assert "has committed this before" in (again[2].message or "")
        assert session.open_transaction is None
    assert rows(session) == [(1, "a"), (2, "B"), (3, "c")]
    with pytest.raises(hivesql.SemanticError, match="another statement"):
        session.sql(SCRIPT.replace("(2, 'b')", "(2, 'changed')"), idempotency_key="load")
    assert session.forget("load/3") == 1
    session.sql(SCRIPT, idempotency_key="load")
    assert rows(session, "SELECT count(*) FROM t") == [(5,)]
    # Without a key, or under another, everything runs.
    session.sql("INSERT INTO t VALUES (9, 'z')")
    session.sql("INSERT INTO t VALUES (9, 'z')", idempotency_key="other")
    frame = pa.table({"id": [10], "v": ["x"]})
    assert session.append("t", frame, idempotency_key="frame").affected == 1
    assert session.append("t", frame, idempotency_key="frame").affected == 0
    assert session.merge("t", frame, ["id"], idempotency_key="merge").affected == 1
    # A name alone is no condition.
    assert session.merge("t", frame, "ID", idempotency_key="merge").affected == 0
    assert rows(session, "SELECT count(*) FROM t WHERE id > 8") == [(3,)]


def test_plain_tables_want_no_key(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql("CREATE TABLE plain (v STRING) STORED AS TEXTFILE")
    (tmp_path / "x.txt").write_text("x\n")
    for text in ("INSERT INTO plain VALUES ('a')",
                 f"LOAD DATA LOCAL INPATH '{tmp_path}/x.txt' INTO TABLE plain"):  # fmt: skip
        with pytest.raises(hivesql.NotSupported, match="plain, which is not transactional"):
            session.sql(text, idempotency_key="k")
    for _ in range(2):
        session.sql("INSERT OVERWRITE TABLE plain VALUES ('a')", idempotency_key="o")
    assert rows(session, "SELECT * FROM plain") == [("a",)]


def test_the_slower_of_two_gives_way(session: hivesql.Session, spark: SparkSession) -> None:
    session.sql(f"CREATE TABLE t (id INT) {ACID}")
    home = Path(session.runtime.metastore.database("default").location).parent
    other = hivesql.connect(
        f"sqlite:///{home}/metastore.db", str(home / "warehouse"), spark=spark, idempotency_key="k"
    )
    session.sql("START TRANSACTION; INSERT INTO t VALUES (1)", idempotency_key="k")
    other.sql("START TRANSACTION")
    other.sql("INSERT INTO t VALUES (1)")
    other.sql("COMMIT")
    other.close()
    # Both had found that nothing was committed yet.
    assert session.sql("COMMIT").message is not None
    assert session.open_transaction is None
    assert rows(session) == [(1,)]


KILLED = """
    import hivesql
    with hivesql.connect("sqlite:///{place}/metastore.db", "{place}/warehouse",
                         settings={{"spark.master": "local[1]", "spark.driver.memory": "1g"}},
                         idempotency_key="job") as session:
        session.sql("INSERT INTO t VALUES (1)")
        session.sql("START TRANSACTION; INSERT INTO t VALUES (2); COMMIT; INSERT INTO t VALUES (3)")
"""


def test_killed_right_after_a_commit(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql(f"CREATE TABLE t (id INT) {ACID}")
    script = textwrap.dedent(KILLED).format(place=tmp_path)
    codes = []
    for environment in ({VARIABLE: f"{FailPoint.AFTER_COMMIT}:2"}, {}):
        done = subprocess.run(
            [sys.executable, "-c", script], check=False, capture_output=True,
            env={**os.environ, **environment},
        )  # fmt: skip
        codes.append(done.returncode)
    assert codes == [-signal.SIGKILL, 0], done.stderr.decode()[-2000:]
    assert rows(session) == [(1,), (2,), (3,)]


def test_stop_ends_a_statement_that_another_thread_runs(session: hivesql.Session) -> None:
    import threading

    session.sql(f"CREATE TABLE t (id BIGINT) {ACID}")
    assert session.stop(1)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            session.sql(f"INSERT INTO t {LONG}")
        except hivesql.HiveSqlError as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while session.progress() is None and thread.is_alive():
        time.sleep(0.05)
    assert session.stop(30)
    thread.join()
    assert [type(error) for error in failures] == [hivesql.Cancelled]
    assert rows(session) == []
    assert "open" not in {one.state for one in session.runtime.metastore.transactions()}
