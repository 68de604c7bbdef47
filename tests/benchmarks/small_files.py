"""One rival's read of many small files and of many partitions: seconds as JSON, its last line.

python tests/benchmarks/small_files.py NAME COUNT PLACE JARS

Runs in the contender's own environment. One commit makes all the files, which a rival that keeps a
log of commits reads sooner than as many commits.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from worker import CONTENDERS, Contender

READ = "SELECT count(*), max(v) FROM {table}"
WHERE = {"one": " WHERE p = 7", "all": ""}


class Tables:
    """Two tables of a format: one of many files, one of many partitions."""

    def __init__(self, contender: Contender, name: str, count: int, home: Path) -> None:
        self.contender, self.name, self.count, self.home = contender, name, count, home

    def make(self, table: str, query: str, partitioned: str) -> str:
        """Create and fill; how the table is called."""
        rows = self.contender.spark.sql(query)
        if self.name == "orc":
            path = str(self.home / table)
            (rows.write.partitionBy("p") if partitioned else rows.write).orc(path)
            frame = self.contender.spark.read.orc(path)
            frame.createOrReplaceTempView(table)
            return table
        full = f"ice.db.{table}" if self.name == "iceberg" else table
        rows.createOrReplaceTempView("given")
        self.contender.sql(f"CREATE TABLE {full} USING {self.name} {partitioned} AS SELECT * "
                           "FROM given")  # fmt: skip
        return full

    def seconds(self, text: str) -> float:
        """The least of several runs."""
        taken = []
        for _ in range(4):
            began = time.monotonic()
            self.contender.sql(text)
            taken.append(time.monotonic() - began)
        return round(min(taken), 3)


def main() -> None:
    name, count, home, jars = sys.argv[1:5]
    answers = sys.stdout
    sys.stdout = sys.stderr
    contender = CONTENDERS[name](int(count), Path(home), Path(jars))
    tables = Tables(contender, name, int(count), Path(home))
    contender.spark.range(0, int(count), 1, int(count)).createOrReplaceTempView("spread")
    contender.spark.range(0, 4 * int(count), 1, 4).createOrReplaceTempView("four")
    text = "concat('row ', id) AS v"
    one = tables.make("single", f"SELECT id, {text} FROM spread LIMIT 1", "")
    files = tables.make("files", f"SELECT id, {text} FROM spread", "")
    parts = tables.make(
        "parts", f"SELECT id, {text}, cast(id % {count} as int) AS p FROM four DISTRIBUTE BY p",
        "PARTITIONED BY (p)",
    )  # fmt: skip
    found = {"base": tables.seconds(READ.format(table=one))}
    found["files"] = tables.seconds(READ.format(table=files))
    for which, where in WHERE.items():
        found[f"partitions {which}"] = tables.seconds(READ.format(table=parts) + where)
    print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
