"""Statements in HDFS whose user loses rights while they run, and what they say and leave.

``HADOOP_USER_NAME=ann python tests/support/lost_rights.py HOME URI`` prints for each of them and
each moment what went wrong, in JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import hivesql
from faults import Faults, faulty
from hivesql_executor.compaction.cleaner import clean
from hivesql_executor.compaction.worker import run_next

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
TABLES = f"""
    CREATE TABLE t (a INT, b INT) {ACID};
    CREATE TABLE p (a INT) PARTITIONED BY (k INT) {ACID};
    CREATE TABLE e (a INT) PARTITIONED BY (k INT) STORED AS PARQUET;
    INSERT INTO t VALUES (1, 1), (2, 2); INSERT INTO t VALUES (3, 3);
    INSERT INTO p PARTITION (k) VALUES (1, 1), (2, 2);
    INSERT INTO e PARTITION (k) VALUES (1, 1);
"""
# Ids of transactions are certain that much later.
AGE = 1.2
LOCKED, COMMITS = "metastore.enqueue_locks", "metastore.commit_txn"
STARTED, CLEANED = "metastore.set_compaction_txn", "metastore.ready_to_clean"
ATTEMPTS = (
    ("t", "INSERT INTO t VALUES (7, 7)", "555", LOCKED),
    ("t", "UPDATE t SET b = b + 1 WHERE a < 3", "555", LOCKED),
    ("t", "SELECT a, b FROM t", "000", LOCKED),
    ("t", "UPDATE t SET b = b + 1 WHERE a < 3", "555", COMMITS),
    ("p", "INSERT OVERWRITE TABLE p PARTITION (k) SELECT a + 1, k FROM p", "555", LOCKED),
    ("p", "ALTER TABLE p DROP PARTITION (k=1)", "555", LOCKED),
    ("p", "ALTER TABLE p ADD PARTITION (k=9)", "555", LOCKED),
    ("e", "INSERT INTO e PARTITION (k) SELECT 9, 2", "555", LOCKED),
    ("e", "INSERT OVERWRITE TABLE e PARTITION (k=1) SELECT 9", "555", LOCKED),
)


@dataclass
class Losing(Faults):
    """At the first call of a name rights are lost, and the call is made."""

    lose: Callable[[], None] = print

    def call(self, name: str) -> None:
        self.seen.append(name)
        if name == self.at and not self.hit:
            self.hit = True
            self.lose()


class House:
    """A session, and the name node's administrator."""

    def __init__(self, session: hivesql.Session, uri: str, notes: list[str]) -> None:
        self.session, self.notes = session, notes
        spark: Any = session._spark()
        self.jvm = spark.sparkContext._jvm
        conf = spark.sparkContext._jsc.hadoopConfiguration()
        address = self.jvm.java.net.URI(uri)
        self.files = self.jvm.org.apache.hadoop.fs.FileSystem.get(address, conf, "root")
        self.home = f"{uri}/warehouse"

    def open_to_all(self) -> None:
        """Make the warehouse, in which everybody may make directories."""
        home = self.jvm.org.apache.hadoop.fs.Path(self.home)
        self.files.mkdirs(home)
        mode = self.jvm.org.apache.hadoop.fs.permission.FsPermission("1777")
        self.files.setPermission(home, mode)

    def chmod(self, path: str, mode: str) -> None:
        """Change a directory and all below it."""
        where = self.jvm.org.apache.hadoop.fs.Path(path)
        self.files.setPermission(where, self.jvm.org.apache.hadoop.fs.permission.FsPermission(mode))
        for status in self.files.listStatus(where):
            if status.isDirectory():
                self.chmod(str(status.getPath().toString()), mode)

    @contextmanager
    def losing(self, table: str, mode: str, at: str) -> Iterator[Losing]:
        """Lose rights at the table in the block, from a call of the metastore on."""
        losing = Losing(at=at, lose=lambda: self.chmod(f"{self.home}/{table}", mode))
        try:
            with faulty(self.session, losing, has_spark=True, has_files=True):
                yield losing
        finally:
            self.chmod(f"{self.home}/{table}", "755")

    def rows(self, table: str) -> list[Any]:
        return sorted(tuple(row) for row in self.session.sql(f"SELECT * FROM {table}").rows)

    def left(self) -> list[str]:
        """What should not be there after a statement has ended."""
        opened = [row[1] for row in self.session.sql("SHOW TRANSACTIONS").rows if row[1] == "OPEN"]
        return [*(str(tuple(row)) for row in self.session.sql("SHOW LOCKS").rows), *opened]

    def compact(self) -> dict[str, Any]:
        """Lose rights in a compaction, then in the cleaning after one; what is told of them."""
        session = self.session
        before = self.rows("t")
        for mode, at in ("555", STARTED), ("755", STARTED):
            session.sql("ALTER TABLE t COMPACT 'major'")
            with self.losing("t", mode, at), suppress(hivesql.HiveSqlError):
                run_next(session.runtime)
        for mode in "555", "755":
            time.sleep(AGE)
            with self.losing("t", mode, CLEANED):
                clean(session.runtime)
        queue = session.runtime.metastore.compactions()
        return {
            "told": [(row.state, row.error) for row in sorted(queue, key=lambda row: row.id)],
            "notes": self.notes, "left": self.left(), "same": self.rows("t") == before,
            "wrong": [str(one) for one in session.check("t")],
            "directories": [*session.runtime.files(self.home).directories(f"{self.home}/t")],
        }  # fmt: skip

    def attempt(self, table: str, text: str, mode: str, at: str) -> dict[str, Any]:
        """Run a statement whose user loses rights; what came of it."""
        before, told = self.rows(table), None
        with self.losing(table, mode, at) as losing:
            try:
                self.session.sql(text)
            except Exception as error:  # noqa: BLE001 - whatever it is, the test judges it
                told = error
        return {
            "table": table, "statement": text, "at": at, "mode": mode, "hit": losing.hit,
            "error": told and f"{type(told).__name__}: {told}",
            "ours": told is None or isinstance(told, hivesql.HiveSqlError),
            "same": self.rows(table) == before, "left": self.left(),
            "wrong": [str(one) for one in self.session.check(table)] if table != "e" else [],
        }  # fmt: skip


def main(home: str, uri: str) -> None:
    """Try each statement, a compaction and a cleaning."""
    settings = {
        "spark.master": "local[2]", "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false", "hivesql.compactor.inline": "false",
        "hive.compactor.cleaner.retry.retention.time": "100ms",
    }  # fmt: skip
    notes: list[str] = []
    metastore, warehouse = f"sqlite:///{home}/metastore.db", f"{uri}/warehouse"
    with hivesql.connect(metastore, warehouse, settings=settings, notify=notes.append) as session:
        house = House(session, uri, notes)
        house.open_to_all()
        session.sql(TABLES)
        found = [house.attempt(*one) for one in ATTEMPTS]
        sys.stdout.write(f"{json.dumps([found, house.compact()])}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
