"""Tables without row ids in S3, which Spark's readers read: how often the store is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.object_stores.test_s3 import INSERT_ONLY, ROOT, run
from s3_server import BUCKET, S3Server, s3_server, s3a_jars

pytestmark = [pytest.mark.hive, pytest.mark.slow]


@pytest.fixture
def server() -> Iterator[S3Server]:
    with s3_server() as running:
        yield running


PLAIN = {
    "orc": "STORED AS ORC",
    "parquet": "STORED AS PARQUET",
    "text": "STORED AS TEXTFILE",
    "gz": "STORED AS TEXTFILE",
    "csv": "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde'",
    "json": "ROW FORMAT SERDE 'org.apache.hive.hcatalog.data.JsonSerDe'",
    "avro": "STORED AS AVRO",
    "sequence": "STORED AS SEQUENCEFILE",
    "rc": "STORED AS RCFILE",
    "places": "STORED AS TEXTFILE",
    "headers": "STORED AS TEXTFILE TBLPROPERTIES ('skip.header.line.count'='1')",
    "only": f"STORED AS PARQUET {INSERT_ONLY}",
}
"""Tables that are read as Spark reads files, by their names."""


def test_tables_without_row_ids_are_listed_once(server: S3Server, tmp_path: Path) -> None:
    """Of each partition one LIST, of each small file one GET, and of none its length."""
    jars = ",".join(map(str, s3a_jars(ROOT / "build")))
    made, reads = [], []
    for name, stored in PLAIN.items():
        made += [
            f"CREATE TABLE {name} (k INT, v STRING) PARTITIONED BY (p STRING) {stored}",
            f"SET hive.exec.compress.output={str(name == 'gz').lower()}",
            "SET mapreduce.output.fileoutputformat.compress.codec="
            "org.apache.hadoop.io.compress.GzipCodec",
            f"INSERT INTO {name} SELECT stack(4, 1, 'a', 'x/y', 2, 'b', 'x/y', "
            "3, 'c', 'ü %2F#[1]', 4, 'd', 'ü %2F#[1]') AS (k, v, p)",
        ]
        place = ", BLOCK__OFFSET__INSIDE__FILE" if name == "places" else ""
        reads.append(f"SELECT k, v, p, INPUT__FILE__NAME{place} FROM {name}")
    told = run(
        server, jars, f"s3a://{BUCKET}/plain", tmp_path / "m.db", [*made, *reads],
        {"hivesql.local.max.bytes": "0"},
    )  # fmt: skip
    outcomes = told["outcomes"]
    assert [one["error"] for one in outcomes if "error" in one] == []
    for name, outcome in zip(PLAIN, outcomes[len(made) :], strict=True):
        kinds = Counter(request.split()[0] for request in outcome["requests"])
        files = {row[3] for row in outcome["rows"]}
        assert len(files) == 2 and all(f"/plain/{name}/p=" in file for file in files), files
        # A footer is read once more by the driver, which looks for times with nanoseconds in ORC,
        # and in Parquet for decimals that are other numbers in the table.
        gets = 4 if name in ("orc", "parquet", "only") else 2
        assert kinds == {"LIST": 2, "GET": gets}, (name, outcome["requests"])
        rows = sorted(tuple(row[:3]) for row in outcome["rows"])
        first = 2 if name == "headers" else 1
        assert [int(k) for k, _, _ in rows] == [*range(first, 5, first)], (name, rows)
        assert {p for _, _, p in rows} == {"x/y", "ü %2F#[1]"}, (name, rows)
    places = {row[0]: row[4] for row in outcomes[len(made) + [*PLAIN].index("places")]["rows"]}
    assert places == {1: 0, 2: 4, 3: 0, 4: 4}
