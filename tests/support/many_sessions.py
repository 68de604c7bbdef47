"""Sessions one after the other in one process, with a Spark of ours and one of the user's.

``python tests/support/many_sessions.py DIRECTORY`` raises where one of them does other than the
first.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import SparkSession

import hivesql
from hivesql import streaming
from hivesql.sessions.spark_start import LazySpark
from hivesql_executor.spark.lines import settings_of

_USERS = {
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    "spark.ui.enabled": "false",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.shuffle.partitions": "3",
}


def all_kinds(session: hivesql.Session, name: str = "users") -> None:
    """Statements of every kind that speaks to the JVM, on new tables."""
    session.sql(f"""
        CREATE TRANSACTIONAL TABLE {name} (k INT, v STRING, d DECIMAL(8,2)) STORED AS ORC;
        INSERT INTO {name} SELECT *, 1.5 FROM (SELECT posexplode(split('a b c d', ' '))) x;
        UPDATE {name} SET v = upper(v) WHERE k IN (SELECT max(k) FROM {name});
        DELETE FROM {name} WHERE concat(v, k) = 'a0';
        MERGE INTO {name} USING (SELECT 1 AS k, 'x' AS w) s ON {name}.k = s.k
            WHEN MATCHED THEN UPDATE SET v = s.w;
    """)
    session.append(name, pa.table({"k": pa.array([7], pa.int32()), "v": ["e"]}))
    session.merge(name, pa.table({"k": pa.array([7], pa.int32()), "v": ["f"]}), on=["k"])
    wanted = [(1, "x"), (2, "c"), (3, "D"), (7, "f")]
    query = f"SELECT k, v FROM {name} WHERE length(v) = 1 ORDER BY k"
    assert [tuple(row) for row in session.sql(query).rows] == wanted
    assert session.frame(query).count() == len(wanted)
    assert session.check(name) == ()
    for kind in ("minor", "major"):
        session.sql(f"ALTER TABLE {name} COMPACT '{kind}'")
        assert [tuple(row) for row in session.sql(query).rows] == wanted
    stream(session, name)
    assert session.sql(f"SELECT sum(k) AS s FROM {name} HAVING s > rand()").rows[0].s == 18
    for kind in ("AVRO", "TEXTFILE", "PARQUET"):
        session.sql(f"CREATE TABLE {name}_{kind} (t TIMESTAMP, s DATE) STORED AS {kind}")
        session.sql(f"INSERT INTO {name}_{kind} VALUES ('2024-01-02 03:04:05', '2024-01-02')")
        (row,) = session.sql(f"SELECT t, s FROM {name}_{kind}").rows
        assert [str(value) for value in row] == ["2024-01-02 03:04:05", "2024-01-02"]


def stream(session: hivesql.Session, name: str) -> None:
    """A file that still grows while it is read."""
    connection = (
        streaming.HiveStreamingConnection.builder()
        .with_session(session)
        .with_table(name)
        .with_transaction_batch_size(2)
        .with_record_writer(streaming.StrictDelimitedInputWriter(field_delimiter=","))
        .connect()
    )
    with connection:
        connection.begin_transaction()
        connection.write("5,g,1\n")
        connection.commit_transaction()
        read = session.sql(f"SELECT v FROM {name} WHERE k = 5 AND length(v) = 1").rows
        assert [row.v for row in read] == ["g"]


def check_listeners(session: hivesql.Session) -> None:
    """Nothing of the JVM can be reached from other machines."""
    context: Any = session.runtime.spark().sparkContext
    assert context.getConf().get("spark.authenticate") == "true"
    process = Path(f"/proc/{context._gateway.proc.pid}")
    if not process.exists():
        return
    sockets = set()
    for one in (process / "fd").iterdir():
        with suppress(OSError):
            sockets.add(str(one.readlink()))
    lines = [line.split() for name in ("tcp", "tcp6")
             for line in (process / "net" / name).read_text().splitlines()[1:]]  # fmt: skip
    listening = [line[1].partition(":")[0] for line in lines
                 if line[3] == "0A" and f"socket:[{line[9]}]" in sockets]  # fmt: skip
    assert listening, "Spark listens somewhere"
    home = ("0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000")
    assert set(listening) <= set(home), listening


def count_by_spark(session: hivesql.Session) -> None:
    """One statement that reads event files by our classes, and changes some."""
    session.sql("UPDATE ours0 SET d = d + 1 WHERE rand() >= 0")
    (row,) = session.sql("SELECT count(*) AS n, sum(k) AS s FROM ours0 WHERE rand() >= 0").rows
    assert tuple(row) == (5, 18)


def fail_in_tasks(session: hivesql.Session) -> None:
    """A query and a write whose tasks fail: the error tells it, and Spark's log not once more."""
    session.sql("CREATE TABLE failed (k INT) PARTITIONED BY (p STRING)")
    for sql, told in (
        ("SELECT assert_true(k < 3) FROM ours0 WHERE rand() >= 0", " < 3)' is not true"),
        ("INSERT INTO failed PARTITION (p) SELECT k, space(300) FROM ours0", "255 bytes"),
    ):
        try:
            session.sql(sql)
        except hivesql.HiveSqlError as error:
            assert told in str(error)
        else:
            raise AssertionError(sql)


_DYING_JAVA = """#!/bin/sh
case "$*" in *launcher.Main*) exec "{java}" "$@";; esac
if mkdir "{home}/died"; then
  "{java}" "$@" &
  # PySpark takes the file away, with its directory, as soon as it has read it.
  told="$_PYSPARK_DRIVER_CONN_INFO_PATH"
  while [ ! -s "$told" ] && [ -d "${{told%/*}}" ] && kill -0 $!; do sleep 0.01; done
  kill -9 $!
  wait
  exit 137
fi 2>/dev/null
exec "{java}" "$@"
"""


def start_where_the_first_jvm_dies(session: hivesql.Session, home: Path) -> None:
    """Start Spark with a Java whose first JVM is killed as soon as it can be spoken to."""
    known = os.environ.get("JAVA_HOME")
    java = Path(known) / "bin" / "java" if known else Path(str(shutil.which("java")))
    wrapper = home / "dying" / "bin" / "java"
    wrapper.parent.mkdir(parents=True)
    wrapper.write_text(_DYING_JAVA.format(java=java.resolve(), home=home))
    wrapper.chmod(0o755)
    os.environ["JAVA_HOME"] = str(home / "dying")
    try:
        assert session.runtime.spark().range(3).count() == 3
    finally:
        os.environ.pop("JAVA_HOME")
        if known:
            os.environ["JAVA_HOME"] = known
    assert (home / "died").exists()


def kill_jvm(session: hivesql.Session) -> None:
    """End the JVM that Spark runs in, as a machine short of memory does.

    Py4J's own thread waits just then for it to forget an object of ours.
    """
    process: Any = SparkContext._gateway
    frame = session.runtime.spark().range(1)
    process.proc.send_signal(signal.SIGSTOP)
    del frame
    time.sleep(1)
    process.proc.kill()
    process.proc.wait()
    # As a server does whose signal to end has reached Spark first.
    spark: Any = session.runtime.spark
    spark.cancel("a statement")
    assert spark.progress("a statement") is None


def deafen_jvm(session: hivesql.Session) -> None:
    """Let the JVM take no calls, as one that is short of memory does while it hangs."""
    gateway: Any = SparkContext._gateway
    session.runtime.spark()
    gateway._gateway_client.shutdown_gateway()
    assert gateway.proc.poll() is None
    try:
        count_by_spark(session)
    except hivesql.HiveSqlError as error:
        assert "another one is started" in str(error), error
    else:
        raise AssertionError("the JVM took calls")
    assert gateway.proc.poll() is not None


def look_while_it_starts_and_stops() -> None:
    """Look for views while Spark starts for sessions that end before it has."""
    conf = {"spark.master": "local[1]"}
    errors: list[str] = []
    stop = threading.Event()

    def look() -> None:
        session = LazySpark(None, conf)
        while not stop.is_set():
            try:
                assert session.temporary_view("nosuch") is None
            except Exception as error:  # noqa: BLE001 - none may be
                errors.append(str(error))

    looking = [threading.Thread(target=look) for _ in range(2)]
    for thread in looking:
        thread.start()
    for waits in (False, True):
        two = [LazySpark(None, conf) for _ in range(2)]
        for one in two:
            one.begin()
        if waits:
            two[0]()
        for one in two:
            one.stop()
        third = LazySpark(None, conf)
        with ThreadPoolExecutor(1) as thread_of_third:
            assert thread_of_third.submit(lambda: third().range(3).count()).result() == 3  # noqa: B023
        third.stop()
    stop.set()
    for thread in looking:
        thread.join()
    assert errors == []
    assert SparkContext._active_spark_context is None, "somebody has started another one"


def main(home: Path) -> None:
    """Open and close them."""
    places = f"sqlite:///{home}/metastore.db", str(home / "warehouse")
    # As notebooks do: ours, closed, and ours again.
    for number in range(2):
        with hivesql.connect(*places) as session:
            if number == 0:
                start_where_the_first_jvm_dies(session, home)
                check_listeners(session)
                all_kinds(session, "ours0")
                kill_jvm(session)
                count_by_spark(session)
                deafen_jvm(session)
                count_by_spark(session)
                fail_in_tasks(session)
            else:
                count_by_spark(session)
        assert SparkContext._active_spark_context is None

    # Two at once share one, which goes with the last.
    with hivesql.connect(*places) as first:
        first.start_spark()
        with hivesql.connect(*places) as second:
            second.start_spark()
        count_by_spark(first)
        # Who is given it is one more who uses it.
        given = SparkSession.builder.getOrCreate()
        third = hivesql.connect(*places, spark=given)
        third.start_spark()
    count_by_spark(third)
    third.close()
    assert SparkContext._active_spark_context is None

    look_while_it_starts_and_stops()

    builder = SparkSession.builder.master("local[2]")
    for key, value in _USERS.items():
        builder = builder.config(key, value)
    # What is no venv's own is not found by the name that PySpark takes otherwise.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    users = builder.getOrCreate()
    before = settings_of(users)
    for spark, use in ((users, all_kinds), (None, count_by_spark)):
        with hivesql.connect(*places, spark=spark) as session:
            use(session)
        assert users.range(3).count() == 3, "the user's Spark goes on"
    assert settings_of(users) == before
    users.stop()

    with hivesql.connect(*places) as session:
        count_by_spark(session)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
