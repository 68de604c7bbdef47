"""Statements whose answers and files must not depend on how a user's Spark is set up.

``python tests/support/own_spark.py DIRECTORY`` runs them beside a Spark of a user's that
differs from ours in all that it may, and prints what came of them in JSON.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import hivesql
from hivesql_executor.spark.lines import settings_of
from stored_orc import stored_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

_OF_ROWS = {
    "spark.sql.session.timeZone": "Asia/Kolkata",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.storeAssignmentPolicy": "STRICT",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.legacy.charVarcharAsString": "false",
    "spark.sql.legacy.sizeOfNull": "false",
    "spark.sql.legacy.setopsPrecedence.enabled": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.orderByOrdinal": "false",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.crossJoin.enabled": "false",
    "spark.sql.datetime.java8API.enabled": "true",
    "spark.sql.error.messageFormat": "MINIMAL",
    "spark.sql.defaultCatalog": "elsewhere",
    "spark.sql.catalog.elsewhere": (
        "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
    ),
    "spark.sql.catalog.elsewhere.url": "jdbc:derby:memory:elsewhere;create=true",
}
_OF_FILES = {
    "spark.sql.orc.impl": "hive",
    "spark.sql.orc.compression.codec": "none",
    "spark.sql.orc.mergeSchema": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "EXCEPTION",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "EXCEPTION",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS",
    "spark.sql.parquet.writeLegacyFormat": "true",
    "spark.sql.parquet.binaryAsString": "true",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
    "spark.sql.sources.useV1SourceList": "",
    "spark.sql.files.maxRecordsPerFile": "2",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
}
_OF_WORK = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.scheduler.mode": "FAIR",
    "spark.task.maxFailures": "1",
    "spark.default.parallelism": "2",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.columnVector.offheap.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.cbo.enabled": "true",
}
USERS = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": "-Duser.timezone=America/New_York",
    **_OF_ROWS,
    **_OF_FILES,
    **_OF_WORK,
}
# In a gap and an overlap of New York's clock, before its zone was one, of the other calendar.
_TIMES = (
    "0001-01-02 00:00:00", "1500-03-01 12:34:56.789", "1582-10-04 23:59:59",
    "1582-10-15 00:00:00.5", "1883-11-18 12:01:00", "1899-12-31 23:59:59.999999",
    "1969-12-31 23:59:59.5", "2011-12-30 10:00:00", "2024-03-10 02:30:00",
    "2024-11-03 01:30:00", "9998-12-31 23:59:59",
)  # fmt: skip
_SOURCE = " UNION ALL ".join(f"SELECT {i} AS i, '{time}' AS t" for i, time in enumerate(_TIMES))
_COLUMNS = """i INT, d DATE, t TIMESTAMP, c CHAR(4), n DECIMAL(12,3), a ARRAY<TIMESTAMP>,
  m MAP<STRING,TIMESTAMP>, s STRUCT<X:INT, t:TIMESTAMP>"""
_ALL = "SELECT x.*, CAST(t AS STRING), year(d) FROM {} x ORDER BY i"
_VALUES = """SELECT i, CAST(t AS DATE), CAST(t AS TIMESTAMP), concat('c', i), i * 1.5,
  array(CAST(t AS TIMESTAMP), NULL), map('k', CAST(t AS TIMESTAMP)),
  named_struct('x', i, 't', CAST(t AS TIMESTAMP))"""
STATEMENTS: dict[str, str] = {
    "INSERT of times": f"""
        CREATE TRANSACTIONAL TABLE times ({_COLUMNS}) STORED AS ORC;
        INSERT INTO times {_VALUES} FROM ({_SOURCE}) x; {_ALL.format("times")}""",
    "filters of times": """
        SELECT i FROM times WHERE t = '2024-03-10 02:30:00' OR d = DATE '1582-10-15'
          OR t < '1500-01-01 00:00:00' OR s.t = TIMESTAMP '1899-12-31 23:59:59.999999'
          ORDER BY i""",
    "UPDATE, DELETE and MERGE of times": f"""
        UPDATE times SET t = t + INTERVAL '2' HOUR, c = upper(c) WHERE i < 3 OR I = 8;
        DELETE FROM times WHERE t = '2024-11-03 01:30:00';
        MERGE INTO times USING (SELECT i + 1 AS k, t FROM times WHERE i > 5) x ON times.i = x.k
          WHEN MATCHED THEN UPDATE SET t = x.t
          WHEN NOT MATCHED THEN INSERT (i, T) VALUES (x.k, x.t);
        {_ALL.format("times")}""",
    "compaction": f"""
        ALTER TABLE times COMPACT 'minor'; {_ALL.format("times")};
        ALTER TABLE times COMPACT 'major'; {_ALL.format("times")}""",
    "partitions of times": """
        CREATE TRANSACTIONAL TABLE days (i INT) PARTITIONED BY (d DATE, t TIMESTAMP) STORED AS ORC;
        INSERT INTO days PARTITION (d, t) SELECT i, d, t FROM times WHERE i IN (0, 2, 8);
        SHOW PARTITIONS days;
        UPDATE days SET i = i + 10 WHERE t = '2024-03-10 04:30:00';
        SELECT * FROM days ORDER BY i""",
    "plain tables": """
        CREATE EXTERNAL TABLE texts (I INT, s STRING) PARTITIONED BY (P STRING) STORED AS PARQUET;
        INSERT INTO texts PARTITION (p) SELECT i, concat('é', i), i % 2 FROM times;
        INSERT OVERWRITE TABLE texts PARTITION (p) SELECT I + 1, S, p FROM Texts WHERE p = '1';
        SELECT * FROM texts ORDER BY i;
        CREATE TABLE lines (i INT, t TIMESTAMP, c CHAR(3), d DECIMAL(6,2)) STORED AS TEXTFILE;
        INSERT INTO lines SELECT i, t, c, n FROM times;
        SELECT * FROM lines ORDER BY i;
        CREATE TABLE orcs (i INT, s STRING, v VARCHAR(2)) STORED AS ORC
          TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only');
        INSERT INTO orcs SELECT i, c, c FROM times;
        SELECT * FROM orcs ORDER BY i""",
    "times in ORC without row ids": f"""
        CREATE EXTERNAL TABLE zoned ({_COLUMNS}, b BINARY, l BIGINT, f FLOAT, `ü,x` VARCHAR(3))
          PARTITIONED BY (p INT, q STRING) STORED AS ORC;
        INSERT INTO zoned PARTITION (p = 1, q) SELECT x.*, CAST(concat(i) AS BINARY), i,
          i / 2, concat(i), if(i < 4, 'a b', NULL) FROM ({_VALUES} FROM ({_SOURCE}) x) x;
        {_ALL.format("zoned")};
        SELECT i, p, q, INPUT__FILE__NAME LIKE '%/p=1/q=%' FROM zoned
          WHERE t >= '2024-03-10 02:30:00' AND q <> 'a b' ORDER BY i;
        ALTER TABLE zoned CHANGE i i BIGINT;
        ALTER TABLE zoned ADD COLUMNS (more STRING);
        INSERT OVERWRITE TABLE zoned PARTITION (p = 1, q = 'a b')
          SELECT i, d, t, c, n, a, m, s, b, l, f, `ü,x`, CAST(t AS STRING) FROM zoned WHERE i < 3;
        {_ALL.format("zoned")};
        SELECT count(*), count(DISTINCT p) FROM zoned;
        SELECT q, count(*) FROM zoned WHERE p = 1 GROUP BY q ORDER BY q;
        CREATE TABLE added (i INT, t TIMESTAMP) CLUSTERED BY (i) SORTED BY (t) INTO 2 BUCKETS
          STORED AS ORC TBLPROPERTIES ('transactional'='true', 'orc.compress'='SNAPPY',
          'transactional_properties'='insert_only');
        INSERT INTO added SELECT i, t FROM times;
        INSERT INTO added SELECT i + 20, t FROM zoned;
        ALTER TABLE added COMPACT 'major';
        SELECT * FROM added ORDER BY i;
        CREATE EXTERNAL TABLE taken STORED AS ORC AS SELECT max(t) AS t FROM added;
        INSERT OVERWRITE TABLE taken SELECT t FROM taken WHERE t IS NULL;
        SELECT * FROM taken""",
    "times in Parquet": f"""
        CREATE EXTERNAL TABLE parquets (t TIMESTAMP) STORED AS PARQUET;
        INSERT INTO parquets SELECT t FROM ({_SOURCE}) x WHERE t > '1901';
        INSERT INTO parquets VALUES (NULL);
        SELECT t, CAST(t AS STRING) FROM parquets WHERE t IS NULL OR t > '1970' ORDER BY t""",
    "expressions": """
        SELECT CAST('x' AS INT), 1/0, CAST(300 AS TINYINT), 2147483647 + 1, array(1)[4], size(NULL),
          map('a', 1, 'a', 2), '1' = 1, 10 / 4, 1.10 * 2.20, regexp_replace('a.b', '\\\\.', '-'),
          date_format('2024-03-10 02:30:00', 'yyyy MM u HH'), CAST('2024-02-31' AS DATE),
          unix_timestamp('2024-03-10 02:30:00'), "text", CAST(2.5 AS DECIMAL(38,18)) / 3.7;
        SELECT x.I, `i` FROM Times x ORDER BY 1 LIMIT 2;
        SELECT count(*) FROM times x, (SELECT 1 AS one) y;
        SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3""",
    "stores of other types": """
        CREATE TRANSACTIONAL TABLE narrow (a TINYINT, b VARCHAR(2), d DATE) STORED AS ORC;
        INSERT INTO narrow SELECT 300, concat('abc', i), 'no date' FROM times WHERE i = 1;
        SELECT * FROM narrow""",
    "a temporary view of the user's": "SELECT * FROM mine",
    "a table without files": """
        CREATE TRANSACTIONAL TABLE nothing (i INT) STORED AS ORC; SELECT count(*) FROM nothing""",
}

ZONED = {
    "early times into Parquet": "INSERT INTO parquets VALUES ('1899-12-31 23:59:59')",
    "early times in Parquet": """
        LOAD DATA LOCAL INPATH '{}' INTO TABLE parquets;
        SELECT * FROM parquets WHERE t < '1900-01-01'""",
    "times inside of others in Parquet": """
        CREATE EXTERNAL TABLE inside (a ARRAY<TIMESTAMP>) STORED AS PARQUET;
        INSERT INTO inside SELECT array(t) FROM times""",
}
"""Where Spark itself goes by the JVM's zone."""


def run(spark: SparkSession, home: Path) -> dict[str, Any]:
    """Run all; tell what came of each, the files, and what of the user's is not as before."""
    spark.range(3).createOrReplaceTempView("mine")
    before = _state(spark)
    told: dict[str, Any] = {}
    early = home / "early.parquet"
    pq.write_table(
        pa.table({"t": [datetime(1880, 1, 1)]}), early, use_deprecated_int96_timestamps=True
    )
    with hivesql.connect(
        f"sqlite:///{home}/metastore.db", str(home / "warehouse"), spark=spark,
        settings={"hivesql.local.max.bytes": "0"},
    ) as session:  # fmt: skip
        for name, script in STATEMENTS.items():
            told[name] = []
            for statement in script.split(";"):
                told[name] += [str(tuple(row)) for row in session.sql(statement).rows or ()]
        for name, script in ZONED.items():
            try:
                told[name] = [
                    str(tuple(row)) for row in session.sql(script.format(early)).rows or ()
                ]
            except hivesql.HiveSqlError as error:
                told[name] = str(error)
    told["files"] = sorted(_files(home / "warehouse"))
    told["rows in files"] = sorted(_rows(home / "warehouse" / "zoned"))
    told["left"] = {key: value for key, value in _state(spark).items() if value != before[key]}
    spark.catalog.dropTempView("mine")
    return told


def _state(spark: SparkSession) -> dict[str, Any]:
    """Tell what of a user's Spark our statements have to leave alone."""
    own: Any = spark
    context = own.sparkContext
    catalog = own._jsparkSession.sessionState().catalog()
    levels = context._jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel()
    return {
        "settings": settings_of(spark),
        "temporary views": catalog.listLocalTempViews("*").toString(),
        "database": catalog.getCurrentDatabase(),
        "active": type(spark).getActiveSession() is spark,
        "job": [
            context.getLocalProperty(f"spark.job{key}") for key in ("Group.id", ".description")
        ],
        "log level": str(levels),
        "zone": context._jvm.java.util.TimeZone.getDefault().getID(),
        "checkpoints": str(context._jsc.sc().getCheckpointDir()),
        "persisted": context._jsc.sc().getPersistentRDDs().size(),
    }


def _files(warehouse: Path) -> list[list[str]]:
    """Tell the bytes of files of full ACID, by their directory.

    Those of partitions hold which task wrote them, and Spark's own differ from run to run.
    """
    return [
        [str(file.parent.relative_to(warehouse)).partition("_v")[0],
         hashlib.sha256(file.read_bytes()).hexdigest()]
        for file in warehouse.rglob("*")
        if file.is_file() and file.relative_to(warehouse).parts[0] in ("times", "narrow")
    ]  # fmt: skip


def _rows(table: Path) -> Iterator[str]:
    """Tell what is in the ORC files of a table."""
    for file in table.rglob("[!._]*"):
        if file.is_file():
            # To Spark's writer a CHAR is a string.
            yield from (re.sub(" +'", "'", str(row)) for row in stored_rows(file))


def _main(home: Path) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in USERS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    told = run(spark, home)
    spark.stop()
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
