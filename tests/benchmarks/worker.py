"""One contender: runs the operations it is told on standard input, answers with seconds.

Runs in the contender's own environment (its own Spark version), so it imports nothing of the suite.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import star

ROWS = (
    "SELECT id, cast(id % 1000 as int) AS k, id / 7.0D AS v, concat('row ', id % 5000) AS s, "
    "cast(date_add(DATE '2020-09-13', cast(id % 5000 as int)) as timestamp) AS ts, "
    "cast(id % 100000 / 100 as decimal(10,2)) AS d"
)
WIDE = "sha2(cast(id as string), 512)"
"""A text in the place of the short one, of which half is noise."""
COLUMNS = "id bigint, k int, v double, s string, ts timestamp, d decimal(10,2)"
SCAN = "SELECT count(*), sum(id), sum(cast(v * 100 as bigint)), max(s) FROM {table}"
PARTS = 5
NARROW = "SELECT sum(k) FROM {table}"
DELETE = "DELETE FROM {table} WHERE id % 100 = 8"
# Half of the source's rows match, half are new.
MERGE = """MERGE INTO {table} t USING (
  SELECT if(i < {half}, i * 200 + 9, {rows} + i) AS id, 1 AS k, 1.0D AS v, 'merged' AS s,
         TIMESTAMP '2023-11-14 22:13:20' AS ts, cast(1.5 as decimal(10,2)) AS d
  FROM (SELECT posexplode(split(space({source} - 1), ' ')) AS (i, blank)) x) s
ON t.id = s.id
WHEN MATCHED THEN UPDATE SET k = s.k, s = s.s
WHEN NOT MATCHED THEN INSERT (id, k, v, s, ts, d) VALUES (s.id, s.k, s.v, s.s, s.ts, s.d)"""
# A hundred rows, all over the table.
MERGE_FEW = MERGE.replace("i * 200 + 9", "i * {step} + 11")
STATEMENTS = {
    "scan": SCAN,
    "narrow": NARROW,
    "update": "UPDATE {table} SET k = k + 1 WHERE id % 100 = 7",
    "update10": "UPDATE {table} SET k = k + 1 WHERE id % 10 = 3",
    "delete": DELETE,
    # With the one above, a tenth and a half of the rows are gone.
    "delete10": "DELETE FROM {table} WHERE id % 100 BETWEEN 10 AND 18",
    "delete50": "DELETE FROM {table} WHERE id % 100 BETWEEN 20 AND 59",
    "merge": MERGE,
    "mergefew": MERGE_FEW,
}
# One row of a table that is sorted by id; each run takes several, all different.
ROWS_OF_ONE = {
    "lookup": "SELECT * FROM {table} WHERE id = {id}",
    "updaterow": "UPDATE {table} SET k = k + 1 WHERE id = {id}",
    "deleterow": "DELETE FROM {table} WHERE id = {id}",
}
ONES = 5
# What an expert sets for two cores, for each contender.
SHUFFLES = {"spark.sql.shuffle.partitions": "4"}
STORE: dict[str, str] = json.loads(os.environ.get("HIVESQL_BENCH_STORE", "{}"))
"""Of an object store: ``warehouse``, ``jars``, and the settings of S3A; empty on a disk."""
S3A = {key: text for key, text in STORE.items() if key.startswith("fs.")}
if STORE.get("wide"):
    ROWS = ROWS.replace("concat('row ', id % 5000)", WIDE)
READS = ("scan", "narrow", "lookup", *star.QUERIES)


class Contender:
    """A table format under Spark SQL; subclasses say how Spark is set up."""

    table = "t"
    prefix = ""
    """Catalog and database of the tables."""

    def __init__(self, rows: int, home: Path, jars: Path) -> None:
        self.rows, self.home, self.jars, self.number = rows, home, jars, 0
        self.start()

    def conf(self) -> dict[str, str]:
        return {}

    def start(self) -> None:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]")
        settings = {
            "spark.driver.memory": "3g",
            "spark.ui.enabled": "false",
            "spark.sql.session.timeZone": "UTC",
            **SHUFFLES,
            "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
            "spark.sql.warehouse.dir": STORE.get("warehouse", str(self.home / "warehouse")),
            **{f"spark.hadoop.{key}": text for key, text in S3A.items()},
            **self.conf(),
        }
        jars = (settings.get("spark.jars"), STORE.get("jars"))
        settings["spark.jars"] = ",".join(filter(None, jars))
        for key, value in settings.items():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        # The same file of numbers feeds every contender: ours reads tables only.
        numbers = str(self.home / "numbers")
        self.spark.range(0, self.rows, 1, 4).write.orc(numbers)
        self.spark.read.orc(numbers).createOrReplaceTempView("numbers")

    def sql(self, text: str) -> object:
        return [list(row) for row in self.spark.sql(text).collect()]

    def fresh(self) -> None:
        self.number += 1
        self.table = f"{self.prefix}t{self.number}"
        self.create(self.table, COLUMNS)

    def create(self, table: str, columns: str, partition: str = "") -> None:
        """Make an empty table; ``partition`` is a column, such as "day string"."""
        raise NotImplementedError

    def insert(self) -> None:
        self.sql(f"INSERT INTO {self.table} {ROWS} FROM numbers")

    def parts(self) -> None:
        """The same rows in several inserts, then some of them deleted."""
        for part in range(PARTS):
            self.sql(f"INSERT INTO {self.table} {ROWS} FROM numbers WHERE id % {PARTS} = {part}")
        self.sql(DELETE.format(table=self.table))

    def minor(self) -> None:
        raise NotImplementedError

    def major(self) -> None:
        """Few files of the rows that are left."""
        raise NotImplementedError

    def of_star(self, operation: str) -> list[object]:
        """Run an operation on a fact table in partitions and its dimension, made by the first."""
        fact, dim = f"{self.table}_fact", f"{self.table}_dim"
        if operation == star.OPERATIONS[0]:
            self.create(fact, star.FACT, star.DAY)
            self.create(dim, star.DIMENSION)
        texts = star.STATEMENTS[operation]
        step = self.rows // star.FEW // star.DAYS * star.DAYS + (operation == "fewmerges")
        values = {"fact": fact, "dim": dim, "rows": self.rows, "few": star.FEW, "step": step}
        return [self.sql(text.format(**values)) for text in texts]

    def run(self, operation: str) -> object:
        if operation in star.STATEMENTS:
            return self.of_star(operation)
        if operation in ("insert", "parts", "minor", "major"):
            getattr(self, operation)()
            return None
        if operation in ROWS_OF_ONE:
            return [self.one(ROWS_OF_ONE[operation], i) for i in range(ONES)]
        source = 100 if operation == "mergefew" else self.rows // 100
        return self.sql(
            STATEMENTS[operation].format(
                table=self.table,
                rows=self.rows,
                source=source,
                half=source // 2,
                step=self.rows // 50,
            )
        )

    def one(self, text: str, number: int) -> object:
        """A statement about one of the table's rows, far from the one before."""
        number = (self.number * ONES + number) * 7919 * 100 % self.rows
        return self.sql(text.format(table=self.table, id=number))


class Orc(Contender):
    """Plain ORC files: no transactions, no changes."""

    def create(self, table: str, columns: str, partition: str = "") -> None:
        pass

    def insert(self) -> None:
        path = str(self.home / self.table)
        self.spark.sql(f"{ROWS} FROM numbers").write.option("compression", "zstd").orc(path)
        self.spark.read.orc(path).createOrReplaceTempView(self.table)

    def parts(self) -> None:
        path = str(self.home / self.table)
        kept = DELETE.rpartition("WHERE ")[2]
        for part in range(PARTS):
            rows = self.spark.sql(f"{ROWS} FROM numbers WHERE id % {PARTS} = {part} AND NOT {kept}")
            rows.write.mode("append").option("compression", "zstd").orc(path)
        self.spark.read.orc(path).createOrReplaceTempView(self.table)

    def major(self) -> None:
        path = str(self.home / f"{self.table}-again")
        self.spark.table(self.table).write.option("compression", "zstd").orc(path)
        self.spark.read.orc(path).createOrReplaceTempView(self.table)


def with_partition(columns: str, format_name: str, partition: str) -> str:
    """Return a table's columns and format: the partition's column is one of them, the last."""
    if not partition:
        return f"{columns}) USING {format_name}"
    return f"{columns}, {partition}) USING {format_name} PARTITIONED BY ({partition.split()[0]})"


class Delta(Contender):
    """Delta Lake with deletion vectors."""

    def conf(self) -> dict[str, str]:
        jars = ",".join(map(str, self.jars.glob("delta-*.jar")))
        return {
            "spark.jars": jars,
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "spark.databricks.delta.snapshotPartitions": "2",
        }

    def create(self, table: str, columns: str, partition: str = "") -> None:
        self.sql(
            f"CREATE TABLE {table} ({with_partition(columns, 'delta', partition)} TBLPROPERTIES "
            "('delta.enableDeletionVectors'='true')"
        )

    def major(self) -> None:
        self.sql(f"OPTIMIZE {self.table}")


def iceberg_settings(warehouse: Path) -> dict[str, str]:
    """Settings with which a Spark has Iceberg's catalog ``ice`` in a directory."""
    package = "org.apache.iceberg.spark"
    return {
        "spark.sql.extensions": f"{package}.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.ice": f"{package}.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(warehouse),
    }


ICEBERG_PROPERTIES = ", ".join(
    ["'format-version'='3'"]
    + [f"'write.{kind}.mode'='merge-on-read'" for kind in ("update", "delete", "merge")]
)


class Iceberg(Contender):
    """Iceberg v3, merge-on-read (deletion vectors)."""

    prefix = "ice.db."

    def conf(self) -> dict[str, str]:
        jars = ",".join(map(str, self.jars.glob("iceberg-*.jar")))
        return {
            "spark.jars": jars,
            **iceberg_settings(self.home / "iceberg"),
            "spark.sql.defaultCatalog": "spark_catalog",
            **(self.of_store() if STORE else {}),
        }

    def of_store(self) -> dict[str, str]:
        """Its own client of S3, and a catalog in a database, as ours is."""
        catalog = {
            "type": "jdbc",
            "uri": f"jdbc:sqlite:{self.home}/iceberg.db",
            "warehouse": STORE["warehouse"].replace("s3a:", "s3:"),
            "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            "s3.endpoint": STORE["fs.s3a.endpoint"],
            "s3.path-style-access": "true",
            "s3.access-key-id": STORE["fs.s3a.access.key"],
            "s3.secret-access-key": STORE["fs.s3a.secret.key"],
            "client.region": STORE["fs.s3a.endpoint.region"],
        }
        return {f"spark.sql.catalog.ice.{key}": text for key, text in catalog.items()}

    def start(self) -> None:
        super().start()
        if STORE:
            self.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")

    def create(self, table: str, columns: str, partition: str = "") -> None:
        self.sql(
            f"CREATE TABLE {table} ({with_partition(columns, 'iceberg', partition)} "
            f"TBLPROPERTIES ({ICEBERG_PROPERTIES})"
        )

    def major(self) -> None:
        name = self.table.removeprefix("ice.")
        self.sql(
            f"CALL ice.system.rewrite_data_files(table => '{name}', "
            "options => map('rewrite-all', 'true'))"
        )


class HiveSql(Contender):
    """Ours: transactions, locks and the cardinality check included."""

    properties = "'transactional'='true'"
    settings: Mapping[str, str] = {}

    def start(self) -> None:
        import hivesql

        self.session = hivesql.connect(
            f"sqlite:///{self.home}/metastore.db",
            STORE.get("warehouse", str(self.home / "warehouse")),
            settings={
                "spark.master": "local[2]",
                "spark.driver.memory": "3g",
                **SHUFFLES,
                **S3A,
                **({"spark.jars": STORE["jars"]} if STORE else {}),
                **self.settings,
            },
        )
        numbers = str(self.home / "numbers")
        spark = self.session.runtime.spark()
        spark.range(0, self.rows, 1, 4).write.orc(numbers)
        self.sql(
            f"CREATE EXTERNAL TABLE numbers (id bigint) STORED AS ORC LOCATION 'file:{numbers}'"
        )

    def sql(self, text: str) -> object:
        return [list(row) for row in self.session.sql(text).rows]

    def create(self, table: str, columns: str, partition: str = "") -> None:
        partitioned = f"PARTITIONED BY ({partition})" if partition else ""
        self.sql(
            f"CREATE TABLE {table} ({columns}) {partitioned} STORED AS ORC "
            f"TBLPROPERTIES ({self.properties})"
        )

    def minor(self) -> None:
        self.sql(f"ALTER TABLE {self.table} COMPACT 'minor'")

    def major(self) -> None:
        self.sql(f"ALTER TABLE {self.table} COMPACT 'major'")


class Comet(HiveSql):
    """Ours with Spark's operators behind our reader run by Apache DataFusion Comet."""

    settings: Mapping[str, str] = {
        "spark.plugins": "org.apache.spark.CometPlugin",
        "spark.shuffle.manager": (
            "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager"
        ),
        "spark.comet.scan.enabled": "false",
        "spark.comet.sparkToColumnar.enabled": "true",
        "spark.comet.sparkToColumnar.supportedOperatorList": "BatchScan",
        "spark.memory.offHeap.enabled": "true",
        "spark.memory.offHeap.size": "2g",
    }

    def start(self) -> None:
        jars = ",".join(map(str, self.jars.glob("comet-*.jar")))
        self.settings = {**self.settings, "spark.jars": jars}
        super().start()


class Zlib(HiveSql):
    """Ours in Hive's own codec instead of zstd, which is Iceberg's too."""

    properties = f"{HiveSql.properties}, 'orc.compress'='ZLIB'"


CONTENDERS = {
    "hivesql": HiveSql,
    "hivesql-zlib": Zlib,
    "spark-4.1": HiveSql,
    "hivesql-comet": Comet,
    "orc": Orc,
    "delta": Delta,
    "iceberg": Iceberg,
}


def cpu_seconds() -> float:
    """CPU seconds of this process and of everything it started, the JVM included."""
    ticks = 0
    me = str(os.getpid())
    children = {me}
    for stat in sorted(Path("/proc").glob("[0-9]*/stat"), key=lambda p: int(p.parent.name)):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[1] in children:
            children.add(stat.parent.name)
            ticks += int(fields[11]) + int(fields[12])
    # Of itself a process knows more exactly.
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    name, rows, home, jars = sys.argv[1:5]
    answers = sys.stdout
    sys.stdout = sys.stderr
    contender = CONTENDERS[name](int(rows), Path(home), Path(jars))
    print(json.dumps({"ready": name}), file=answers, flush=True)
    for line in sys.stdin:
        operation = line.strip()
        if operation == "fresh":
            contender.fresh()
            answer: dict[str, object] = {}
        else:
            cpu, began = cpu_seconds(), time.monotonic()
            result = contender.run(operation)
            answer = {"seconds": time.monotonic() - began, "cpu": cpu_seconds() - cpu}
            if operation in READS:
                answer["result"] = str(result)
        answer["rss"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
