"""Statements that Spark runs, in a process of their own that is killed among them.

``python tests/support/killed_program.py METASTORE WAREHOUSE SOURCES`` prints ``ready`` once Spark
has started, and the number of each statement that ended. ``SOURCES`` is a directory of the user.
"""

from __future__ import annotations

import sys

import hivesql

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
SETTINGS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "hivesql.local.max.bytes": "0",
}

SETUP = f"""
    CREATE TABLE acid (k INT, v STRING) PARTITIONED BY (p STRING) {ACID};
    CREATE TABLE bucketed (k INT, v STRING) CLUSTERED BY (k) INTO 2 BUCKETS {ACID};
    CREATE TABLE only (k INT, v STRING) PARTITIONED BY (p STRING) STORED AS ORC {INSERT_ONLY};
    CREATE TABLE plain (v STRING) PARTITIONED BY (p STRING) STORED AS TEXTFILE;
    CREATE TABLE one (v STRING) STORED AS TEXTFILE;
    INSERT INTO acid VALUES (1, 'a', 'x'), (2, 'b', 'y'), (3, 'c', 'x');
    INSERT INTO bucketed VALUES (1, 'a'), (2, 'b'), (3, 'c')
"""

_STATEMENTS = """
    MERGE INTO acid USING (SELECT posexplode(split('a b c d e f', ' ')) AS (n, w)) s ON acid.k = s.n
        WHEN MATCHED AND s.n = 3 THEN DELETE WHEN MATCHED THEN UPDATE SET v = concat(v, 'm')
        WHEN NOT MATCHED THEN INSERT VALUES (s.n, concat('new', s.n), concat('q', s.n % 2));
    INSERT OVERWRITE TABLE plain PARTITION (p) SELECT concat(v, k), p FROM acid;
    CREATE TABLE copy {acid} AS SELECT k, v, p FROM acid;
    INSERT OVERWRITE TABLE only PARTITION (p) SELECT k, v, p FROM acid WHERE k > 1;
    INSERT INTO only PARTITION (p = 'z') SELECT k, v FROM bucketed;
    UPDATE bucketed SET v = concat(v, 'u') WHERE k IN (SELECT min(k) FROM bucketed);
    FROM acid INSERT INTO bucketed SELECT k + 10, v WHERE k > 2
        INSERT OVERWRITE TABLE plain PARTITION (p = 'many') SELECT v;
    INSERT OVERWRITE TABLE acid PARTITION (p = 'x') SELECT k, v FROM bucketed WHERE k < 5;
    CREATE TABLE text STORED AS TEXTFILE AS SELECT v FROM bucketed;
    DELETE FROM bucketed WHERE k IN (SELECT max(k) FROM bucketed);
    ALTER TABLE bucketed COMPACT 'major';
    LOAD DATA LOCAL INPATH '{sources}/one' OVERWRITE INTO TABLE one;
    TRUNCATE TABLE only PARTITION (p = 'z');
    INSERT OVERWRITE TABLE one SELECT concat(v, k) FROM bucketed
"""


def statements(sources: str) -> list[str]:
    """Return them all; ``sources`` is the user's directory."""
    return [text.strip() for text in _STATEMENTS.format(acid=ACID, sources=sources).split(";")]


def main(metastore: str, warehouse: str, sources: str) -> None:
    """Run the statements, and tell of each that has ended."""
    with hivesql.connect(metastore, warehouse, settings=SETTINGS) as session:
        session.sql("SELECT count(*) FROM bucketed b JOIN acid a ON a.k = b.k")
        print("ready", flush=True)  # noqa: T201
        for number, statement in enumerate(statements(sources), 1):
            session.sql(statement)
            print(number, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
