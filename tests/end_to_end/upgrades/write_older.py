"""A program for an older release: writes a metastore, a warehouse and a stream's checkpoint.

``python write_older.py METASTORE_URL DIRECTORY``, by the Python of an environment that has the old
code (git archive). It ends as a program that is killed does: with an open transaction, its locks,
a streaming file that grows, and a stream's batch that is committed and not in the checkpoint.
"""

from __future__ import annotations

import getpass
import json
import os
import sys
from pathlib import Path

import hivesql
from hivesql import streaming

try:
    from hivesql_executor.metastore.database import revisions
except ImportError:
    from hivesql_executor.metastore import revisions

URL, HOME = sys.argv[1], Path(sys.argv[2])
SPARK = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}
PLACE = {"metastore": URL, "warehouse": str(HOME / "warehouse")}
DEFINITIONS = """
CREATE TRANSACTIONAL TABLE stock (id INT COMMENT 'its number', n DECIMAL(8,2), note STRING)
  PARTITIONED BY (day DATE) STORED AS ORC TBLPROPERTIES ('made'='long ago');
CREATE TRANSACTIONAL TABLE buckets (id INT, v STRING, PRIMARY KEY (id) DISABLE NOVALIDATE)
  CLUSTERED BY (id) INTO 2 BUCKETS STORED AS ORC;
CREATE TABLE flags (id INT, flag BOOLEAN) STORED AS PARQUET
  TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only');
CREATE TABLE lines (id INT, v STRING) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',';
CREATE VIEW stocked AS SELECT id, n FROM stock WHERE n > 0;
CREATE TRANSACTIONAL TABLE orders (id INT, state STRING) STORED AS ORC;
CREATE TRANSACTIONAL TABLE clicks (id INT, page STRING) STORED AS ORC;
CREATE TRANSACTIONAL TABLE waiting (id INT) STORED AS ORC;
CREATE DATABASE other COMMENT 'a second one';
"""
WRITES = """
INSERT INTO stock PARTITION (day='2026-01-01') VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'ü');
INSERT INTO stock PARTITION (day) VALUES (4, 40, NULL, '2026-01-02'), (5, -5, 'e', '2026-01-02');
UPDATE stock SET n = n + 0.5 WHERE id = 2;
ALTER TABLE stock PARTITION (day='2026-01-01') COMPACT 'major' AND WAIT;
DELETE FROM stock WHERE id = 3;
INSERT INTO buckets VALUES (1, 'one'), (2, 'two'), (3, 'three');
MERGE INTO buckets t USING (SELECT 2 AS id, 'deux' AS v UNION ALL SELECT 4, 'quatre') s
  ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v
  WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v);
INSERT INTO flags VALUES (1, true), (2, false);
INSERT INTO lines VALUES (1, 'x'), (2, 'y');
INSERT INTO waiting VALUES (1);
INSERT INTO waiting VALUES (2);
ANALYZE TABLE buckets COMPUTE STATISTICS FOR COLUMNS;
SET hivesql.compactor.inline=false;
ALTER TABLE waiting COMPACT 'major';
"""
# Once roles and functions were kept; the older code refuses the setting.
IS_SEVENTH = revisions.REVISIONS[-1] >= "0007"
ADMIN = {"hive.users.in.admin.role": getpass.getuser()} if IS_SEVENTH else {}
FROM_SEVEN = """
CREATE FUNCTION other.mask AS 'org.apache.hadoop.hive.ql.udf.UDFToInteger';
SET ROLE admin; CREATE ROLE readers; GRANT SELECT ON TABLE stock TO ROLE readers;
"""


def deliver(session: hivesql.Session, name: str, *orders: dict[str, object]) -> None:
    """Add a file of orders, and let the stream merge it."""
    (HOME / "in" / name).write_text("\n".join(map(json.dumps, orders)), encoding="utf-8")
    spark = session.runtime.spark()
    incoming = spark.readStream.schema("id INT, state STRING").json(str(HOME / "in"))
    sink = hivesql.streaming_sink("orders", **PLACE, merge_on=["id"])
    stream = incoming.writeStream.foreachBatch(sink).trigger(availableNow=True)
    stream.option("checkpointLocation", str(HOME / "checkpoint")).start().awaitTermination()
    sink.close()


def main() -> None:
    """Write all of it."""
    (HOME / "in").mkdir(parents=True)
    session = hivesql.connect(**PLACE, settings=SPARK | ADMIN)
    session.sql(DEFINITIONS)
    for statement in filter(str.strip, WRITES.split(";\n")):
        session.sql(statement)
    session.sql("INSERT INTO waiting VALUES (3)", idempotency_key="night/2026-01-01")
    if IS_SEVENTH:
        session.sql(FROM_SEVEN)
    deliver(session, "1.json", {"id": 1, "state": "new"}, {"id": 2, "state": "new"})
    deliver(session, "2.json", {"id": 1, "state": "paid"}, {"id": 3, "state": "new"})
    # As if it had been killed before it noted that its batch is done: the batch comes again.
    (HOME / "checkpoint" / "commits" / "1").unlink()
    connection = (
        streaming.HiveStreamingConnection.builder()
        .with_session(session).with_table("clicks").with_transaction_batch_size(5)
        .with_record_writer(streaming.StrictJsonWriter()).connect()
    )  # fmt: skip
    for number in range(2):
        connection.begin_transaction()
        connection.write(json.dumps({"id": number, "page": f"/{number}"}))
        connection.commit_transaction()
    connection.begin_transaction()
    connection.write(json.dumps({"id": 9, "page": "/never"}))
    lost = hivesql.connect(**PLACE, settings=SPARK, spark=session.runtime.spark())
    lost.sql("START TRANSACTION")
    lost.sql("INSERT INTO stock PARTITION (day='2026-01-03') VALUES (99, 99, 'never')")
    sys.stdout.write(f"written at revision {revisions.REVISIONS[-1]}\n")
    sys.stdout.flush()
    os._exit(0)


main()
