"""A warehouse in S3: requests and seconds of each kind of statement, by how long a request takes.

python tests/benchmarks/object_store.py [milliseconds …]

The server is that of the tests, on this machine, which makes each request wait so long (0, 20
and 100 ms); Maven fetches S3A once. All statements run on two tables; the second counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SUPPORT = ROOT / "tests" / "support"
sys.path.insert(0, str(SUPPORT))

from s3_server import ASKED, BUCKET, S3Server, s3_server, s3a_jars  # noqa: E402

KINDS = ("LIST", "HEAD", "GET", "PUT", "POST", "DELETE")
LATENCIES = ("0", "20", "100")
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
ROWS = "SELECT id, concat('v', id), id % 4 FROM (SELECT 1) o LATERAL VIEW posexplode(split(space"
STATEMENTS = {
    "create a table": f"CREATE TABLE {{0}} (k INT, v STRING) PARTITIONED BY (p INT) {ACID}",
    "insert 10,000 rows into 4 partitions": f"INSERT INTO {{0}} {ROWS}(9999), ' ')) s AS id, x",
    "insert one row": "INSERT INTO {0} VALUES (20000, 'x', 1)",
    "select one partition": "SELECT * FROM {0} WHERE p = 1 AND k = 5",
    "select, grouped": "SELECT p, count(*), max(v) FROM {0} GROUP BY p",
    "update one row": "UPDATE {0} SET v = 'u' WHERE p = 1 AND k = 5",
    "update a tenth": "UPDATE {0} SET v = concat(v, 'u') WHERE k % 10 = 3",
    "delete a tenth": "DELETE FROM {0} WHERE k % 10 = 4",
    "merge 100 rows": "MERGE INTO {0} USING (SELECT id AS k FROM (SELECT 1) o LATERAL VIEW "
    "posexplode(split(space(99), ' ')) s AS id, x) s ON {0}.k = s.k "
    "WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT VALUES (s.k, 'n', 0)",
    "overwrite a partition": "INSERT OVERWRITE TABLE {0} PARTITION (p = 2) "
    "SELECT k, v FROM {0} WHERE p = 2",
    "compact a partition": "ALTER TABLE {0} PARTITION (p = 1) COMPACT 'major'",
    "write a Parquet table": "CREATE TABLE {0}_p STORED AS PARQUET AS SELECT * FROM {0}",
    "drop a table": "DROP TABLE {0}",
}


def measure(server: S3Server, milliseconds: str, place: Path) -> list[dict[str, Any]]:
    """Run the statements with requests that take so long; what the program tells of the second."""
    server.latency = 0.0
    texts = [text.format(table) for table in ("warm", "t") for text in STATEMENTS.values()]
    asked = {
        "metastore": f"sqlite:///{place}/{milliseconds}.db",
        "warehouse": f"s3a://{BUCKET}/{milliseconds}",
        "settings": {
            **server.settings(),
            "spark.jars": ",".join(map(str, s3a_jars(ROOT / "build"))),
            "spark.sql.shuffle.partitions": "2",
        },
        "statements": texts,
    }
    server.latency = int(milliseconds) / 1000
    done = subprocess.run(
        [sys.executable, SUPPORT / "s3_program.py", f"{server.url}{ASKED}"],
        input=json.dumps(asked), capture_output=True, text=True, check=True,
    )  # fmt: skip
    told: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])["outcomes"]
    failed = [one["error"] for one in told if "error" in one]
    assert not failed, failed
    return told[len(STATEMENTS) :]


def main(latencies: list[str]) -> None:
    """Print a line for each kind of statement."""
    with s3_server() as server, tempfile.TemporaryDirectory() as directory:
        runs = [measure(server, one, Path(directory)) for one in latencies]
    print("|", " | ".join(["statement", *KINDS, *(f"s at {one} ms" for one in latencies)]), "|")
    print("|---" * (1 + len(KINDS) + len(latencies)) + "|")
    for number, name in enumerate(STATEMENTS):
        counts = Counter(request.split()[0] for request in runs[0][number]["requests"])
        seconds = [f"{run[number]['seconds']:.2f}" for run in runs]
        print("|", " | ".join([name, *(str(counts[kind]) for kind in KINDS), *seconds]), "|")


if __name__ == "__main__":
    main(sys.argv[1:] or [*LATENCIES])
