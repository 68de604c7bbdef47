"""Tables of Iceberg and Delta beside ours, in a Spark that its user has set up for them.

``python tests/support/lakes.py DIRECTORY JARS`` runs all and prints what came of each in JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hivesql
from hivesql import migrate_from, migrate_to

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROWS = """SELECT 1 AS id, 'one' AS name, TIMESTAMP '2024-03-10 02:30:00' AS t,
    TIMESTAMP_NTZ '2024-03-10 02:30:00' AS n, DATE '1500-03-01' AS d, named_struct('A', 7) AS s
  UNION ALL SELECT 2, 'two', NULL, TIMESTAMP_NTZ '1500-03-01 00:00:00', NULL, NULL"""
_ACID = "(id INT, name STRING, t TIMESTAMP, n TIMESTAMP, d DATE, s STRUCT<a:INT>) STORED AS ORC"
_ALL = "SELECT id, name, CAST(t AS STRING), CAST(n AS STRING), CAST(d AS STRING), s.a FROM {}"
STEPS: dict[str, tuple[str, ...]] = {
    "SELECT and JOIN": (
        f"HIVE CREATE TRANSACTIONAL TABLE acid {_ACID}",
        f"HIVE {_ALL.format('ice.db.news')} ORDER BY id",
        "HIVE INSERT INTO acid SELECT * FROM ice.db.news",
        f"HIVE {_ALL.format('acid')} ORDER BY id",
        "HIVE SELECT a.id, i.name, d.name, v.name FROM acid a JOIN ice.db.news i ON a.id = i.id "
        "JOIN spark_catalog.default.deltas d ON d.id = i.id JOIN of_path v ON v.id = d.id "
        "WHERE i.t IS NULL",
    ),
    "changes": (
        "HIVE MERGE INTO acid USING spark_catalog.default.deltas x ON acid.id = x.id + 1 "
        "WHEN MATCHED THEN UPDATE SET name = concat(acid.name, ' of ', x.name) "
        "WHEN NOT MATCHED THEN INSERT (id, name) VALUES (x.id + 1, 'new')",
        "HIVE UPDATE acid SET t = NULL WHERE id IN (SELECT id FROM ice.db.news WHERE id = 1)",
        "HIVE DELETE FROM acid WHERE id IN (SELECT id + 2 FROM of_path WHERE id = 1)",
        "HIVE SELECT id, name, CAST(t AS STRING) FROM acid ORDER BY id",
    ),
    "what the user has written since": (
        "USER DELETE FROM ice.db.news WHERE id = 1",
        "USER DELETE FROM deltas WHERE id = 1",
        "HIVE SELECT 'ice', id FROM ice.db.news UNION ALL SELECT 'view', id FROM of_path "
        "UNION ALL SELECT 'delta', id FROM spark_catalog.default.deltas",
    ),
    "our tables by the user's Spark": (
        "USER MERGE INTO ice.db.news t USING ours.default.acid s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET name = s.name "
        "WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
        "USER MERGE INTO ours.default.acid t USING ice.db.news s ON t.id = s.id "
        "WHEN MATCHED AND t.id = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET name = 'theirs'",
        "USER SELECT id, name FROM ice.db.news ORDER BY id",
        "USER SELECT id, name FROM ours.default.acid",
    ),
    "migrations": (
        "HIVE CREATE TRANSACTIONAL TABLE source (k INT, m MAP<STRING, INT>, c CHAR(4), "
        "x DECIMAL(9,2), f DOUBLE) PARTITIONED BY (p STRING) STORED AS ORC",
        "HIVE INSERT INTO source PARTITION (p) SELECT 1, map('a', 1, 'b', CAST(NULL AS INT)), "
        "'x', 1.5, double('NaN'), 'p1' "
        "UNION ALL SELECT 2, CAST(NULL AS MAP<STRING,INT>), NULL, NULL, NULL, 'p2' "
        "UNION ALL SELECT 3, CAST(NULL AS MAP<STRING,INT>), NULL, NULL, NULL, 'p2'",
        "HIVE DELETE FROM source WHERE k = 3",
        "TO iceberg source ice.db.copied",
        "TO delta acid spark_catalog.default.copied",
        "TO iceberg source ice.db.copied",
        "FROM ice.db.copied back p",
        "FROM spark_catalog.default.copied back2 ",
        "HIVE SELECT k, m['a'], c, CAST(f AS STRING), p FROM back ORDER BY k",
        "USER SELECT partition.p, record_count FROM ice.db.copied.partitions ORDER BY 1",
    ),
    "refusals": ("HIVE INSERT INTO ice.db.news SELECT * FROM acid", "HIVE SELECT * FROM ice.db.no"),
}  # fmt: skip


def _user_settings(home: Path, jars: Path) -> dict[str, str]:
    return {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Most of the time would go into compiling what runs once.
        "spark.driver.extraJavaOptions": "-Duser.timezone=America/New_York "
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.session.timeZone": "Asia/Kolkata",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(home / "users"),
        "spark.jars": ",".join(map(str, jars.glob("*.jar"))),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(home / "ice"),
    }


def _main(home: Path, jars: Path) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in _user_settings(home, jars).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for table, kind in (("ice.db.news", "iceberg"), ("deltas", "delta")):
        spark.sql(f"CREATE TABLE {table} USING {kind} AS {_ROWS}")
    deltas = spark.read.format("delta").load(str(home / "users" / "deltas"))
    deltas.createOrReplaceTempView("of_path")
    place = {"metastore": f"sqlite:///{home}/metastore.db", "warehouse": str(home / "warehouse")}
    by_spark = {"hivesql.local.max.bytes": "0"}
    with (
        hivesql.connect(**place, spark=spark, settings=by_spark) as session,
        hivesql.register_catalog(spark, "ours", **place),
    ):
        answers = _answers(session, spark)
    spark.stop()
    sys.stdout.write(json.dumps(answers) + "\n")


def _answers(session: hivesql.Session, spark: SparkSession) -> dict[str, list[Any]]:
    answers: dict[str, list[Any]] = {}
    for name, statements in STEPS.items():
        answers[name] = []
        for statement in statements:
            who, _, text = statement.partition(" ")
            try:
                if who in ("TO", "FROM"):
                    answers[name].append(_migrated(session, who, text))
                    continue
                rows = session.sql(text).rows if who == "HIVE" else spark.sql(text).collect()
                answers[name] += [[list(row) for row in rows]] if text.startswith("SELECT") else []
            except hivesql.HiveSqlError as error:
                answers[name].append(str(error))
    return answers


def _migrated(session: hivesql.Session, who: str, text: str) -> list[Any]:
    """Copy a table: ``TO kind table name``, or ``FROM name table partition-column``."""
    first, second, third = text.split(" ")
    if who == "TO":
        copied = migrate_to(session, second, "delta" if first == "delta" else "iceberg", third)
    else:
        copied = migrate_from(session, first, second, [third] if third else [])
    return [copied.table, copied.rows, copied.columns]


if __name__ == "__main__":
    _main(Path(sys.argv[1]), Path(sys.argv[2]))
