"""Warehouses in Google's and Azure's stores by Spark: uploads there, copies here, the same rows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from azure_server import PLACE, azure_server
from gcs_server import gcs_server

pytestmark = [pytest.mark.hive, pytest.mark.slow]
PROGRAM = """
import json, sys
import hivesql
home, settings, statements = json.load(sys.stdin)
with hivesql.connect("sqlite:///m.db", home, settings=settings) as session:
    rows = [[[*row] for row in session.sql(text).rows] for text in statements]
    print(json.dumps([rows, [file.path for file in session.runtime.files(home).list(home)]]))
"""
QUICK = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "hivesql.local.max.bytes": "0",
    # Else small files are no uploads.
    "fs.hivesql.whole.bytes": "0",
}
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
STATEMENTS = {
    f"CREATE TABLE t (k INT, v STRING) PARTITIONED BY (p STRING) {ACID}": [],
    "INSERT INTO t SELECT id, concat('v', id), if(id % 2 = 0, 'a b', 'ü') FROM (SELECT 1) o "
    "LATERAL VIEW posexplode(split(space(99), ' ')) s AS id, x": [],
    "UPDATE t SET v = 'u' WHERE k % 10 = 3": [],
    "DELETE FROM t WHERE k % 10 = 4": [],
    "SELECT p, count(*), sum(k), max(v) FROM t GROUP BY p ORDER BY p": [
        ["a b", 40, 1960, "v98"], ["ü", 50, 2500, "v99"],
    ],
    "ALTER TABLE t PARTITION (p = 'ü') COMPACT 'major'": [],
    "SELECT count(*), sum(k) FROM t": [[90, 4460]],
    "CREATE TABLE q STORED AS PARQUET AS SELECT * FROM t": [],
    "SELECT count(*) FROM q": [[90]],
    "DROP TABLE q": [],
}  # fmt: skip
LEFT = {
    "p=a b": ["delete_delta_0000003_0000003_0000", "delta_0000001_0000001_0000"],
    "p=ü": ["base_0000002_v"],
}


def outcome(home: str, settings: dict[str, str], kind: str, place: Path) -> Any:
    """Rows of each statement, and the files that are left."""
    jars = sorted((PLACE / kind).glob("*.jar"))
    if not jars:
        pytest.skip(f"no jars of Spark for {kind} are there: make stand-ins fetches them")
    asked = {**settings, **QUICK, "spark.jars": ",".join(map(str, jars))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=place, text=True, capture_output=True,
        input=json.dumps([home, asked, [*STATEMENTS]]),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    rows, files = json.loads(done.stdout.splitlines()[-1])
    assert dict(zip(STATEMENTS, rows, strict=True)) == STATEMENTS
    return files


def test_google_cloud_storage(tmp_path: Path) -> None:
    """Nothing of a full ACID table is copied, or is a file before the driver says so."""
    with gcs_server() as server:
        files = outcome(f"{server.home}/w", server.settings(), "gcs", tmp_path)
        asked = [request for request in server.requests if "w%2Ft%2F" in request]
    assert not [one for one in asked if "rewriteTo" in one or "copy" in one or "hive-sta" in one]
    assert sum("uploadType=resumable&ifGenerationMatch=0" in one for one in asked) >= 5
    _check_left(files)


def test_azure(tmp_path: Path) -> None:
    """An account without directories, by ABFS's client for blobs."""
    with azure_server() as server:
        settings = {
            **server.settings(),
            "fs.azure.fns.account.service.type": "BLOB",
            # The other one takes no address without TLS.
            "fs.azure.networking.library": "JDK_HTTP_URL_CONNECTION",
        }
        _check_left(outcome(f"{server.home}/w", settings, "azure", tmp_path))


def _check_left(files: list[str]) -> None:
    for partition, names in LEFT.items():
        of_it = {path.split("/")[2] for path in files if path.startswith(f"t/{partition}/")}
        assert all(any(one.startswith(name) for one in of_it) for name in names), files
        assert len(of_it) == len(names), files
    assert all(path.startswith("t/p=") for path in files), files
