"""Scripts that HiveSQL runs and whose tables real Hive must then read, change and compact."""

from __future__ import annotations

from dataclasses import dataclass

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Tables (name and the DDL after it), statements for HiveSQL, then an UPDATE for Hive.

    ``compacted`` is the table or partition that Hive compacts after its UPDATE.
    """

    tables: dict[str, str]
    script: str
    hive_update: str
    compacted: str = "t"
    alter: str = ""
    """What Hive must know beside the DDL, and the script says in its midst."""

    @property
    def ddl(self) -> str:
        """CREATE TABLE of every table, for either side."""
        return "".join(f"CREATE TABLE {name} {rest};\n" for name, rest in self.tables.items())


CASES = {
    "insert, update, delete": Case(
        tables={"t": f"(id INT, v STRING) {ACID}"},
        script="""
            INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, NULL);
            INSERT INTO t (id) VALUES (5);
            UPDATE t SET v = concat(v, '!') WHERE id IN (1, 3);
            UPDATE t SET v = concat(v, '?') WHERE id = 1;
            DELETE FROM t WHERE id = 2;
            DELETE FROM t WHERE id = 4;
            UPDATE t SET v = 'wrong';
            RESTORE TABLE t TO VERSION AS OF 5;
        """,
        hive_update="UPDATE t SET v = 'hive' WHERE id >= 3",
    ),
    "a transaction of many statements": Case(
        tables={
            "t": f"(id INT, v STRING) {ACID}",
            "u": f"(id INT, v STRING) PARTITIONED BY (p INT) {ACID}",
        },
        script="""
            INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');
            START TRANSACTION;
            INSERT INTO t VALUES (4, 'd'), (5, 'e');
            UPDATE t SET v = concat(v, '!') WHERE id IN (2, 4);
            UPDATE t SET v = concat(v, '?') WHERE id = 4;
            DELETE FROM t WHERE id IN (1, 5);
            INSERT INTO u PARTITION (p) SELECT id, v, id % 2 FROM t;
            DELETE FROM u WHERE id = 3;
            MERGE INTO t USING u ON t.id = u.id AND u.id = 4
              WHEN MATCHED THEN UPDATE SET v = 'merged'
              WHEN NOT MATCHED THEN INSERT VALUES (u.id + 100, u.v);
            COMMIT;
            START TRANSACTION;
            INSERT INTO u PARTITION (p = 0) VALUES (6, 'before');
            INSERT OVERWRITE TABLE u PARTITION (p = 0) SELECT id + 1, v FROM u WHERE p = 0;
            DELETE FROM t WHERE id = 3;
            COMMIT;
        """,
        hive_update="UPDATE t SET v = 'hive' WHERE id = 4",
    ),
    "merge": Case(
        tables={"t": f"(id INT, v STRING) {ACID}", "s": f"(id INT, v STRING) {ACID}"},
        script="""
            INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
            INSERT INTO s VALUES (1, 'one'), (2, 'x'), (3, NULL), (9, 'nine');
            MERGE INTO t USING s ON t.id = s.id
              WHEN MATCHED AND s.v <> 'x' THEN UPDATE SET v = s.v
              WHEN MATCHED THEN DELETE
              WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v);
        """,
        hive_update="UPDATE t SET v = 'hive' WHERE id = 9",
    ),
    "rows that move, and rows that no source has": Case(
        tables={
            "t": "(id INT, v STRING) PARTITIONED BY (p STRING) "
            f"CLUSTERED BY (id) INTO 2 BUCKETS {ACID}",
            "s": f"(id INT, v STRING, p STRING) {ACID}",
        },
        script="""
            INSERT INTO t PARTITION (p) VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y'),
              (4, 'd', 'y'), (5, 'e', 'y');
            INSERT INTO s VALUES (1, 'one', 'x'), (2, 'two', 'z'), (9, 'nine', 'x');
            UPDATE t SET p = 'moved', id = id + 10 WHERE id = 3;
            WITH few AS (SELECT * FROM s WHERE id < 10)
            MERGE INTO t USING few ON t.id = few.id
              WHEN MATCHED AND few.id = 1 THEN UPDATE SET v = few.v
              WHEN MATCHED THEN UPDATE SET *
              WHEN NOT MATCHED THEN INSERT *
              WHEN NOT MATCHED BY SOURCE AND id = 4 THEN DELETE
              WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = concat(v, '?'), p = 'gone';
            DELETE FROM t USING s WHERE t.id = s.id AND s.p = 'z';
            UPDATE t SET v = s.p FROM s WHERE t.id = s.id AND s.id = 9;
        """,
        hive_update="UPDATE t SET v = 'hive' WHERE id = 13",
        compacted="t PARTITION (p = 'gone')",
    ),
    "partitioned and bucketed": Case(
        tables={
            "t": "(id INT, v STRING) PARTITIONED BY (d DATE, h INT) "
            f"CLUSTERED BY (id) INTO 3 BUCKETS {ACID}"
        },
        script="""
            INSERT INTO t PARTITION (d = '2024-02-29', h = 1)
              VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (-5, 'e');
            INSERT INTO t PARTITION (d, h)
              VALUES (6, 'f', DATE '2024-02-29', 1), (7, 'g', DATE '2024-03-01', 2);
            UPDATE t SET v = 'upd' WHERE id IN (1, 7);
            DELETE FROM t WHERE id = 2;
        """,
        hive_update="UPDATE t SET v = 'hive' WHERE id IN (3, 6, 7)",
        compacted="t PARTITION (d = '2024-02-29', h = 1)",
    ),
    "odd partition values": Case(
        tables={"t": f"(id INT) PARTITIONED BY (p STRING) {ACID}"},
        script="""
            INSERT INTO t PARTITION (p) VALUES (1, 'a/b=c'), (2, '100%'), (3, 'x{y}'), (4, 'a b'),
              (5, 'é'), (6, '#^*'), (7, NULL), (8, ''), (9, 'A:B?'), (10, "it's");
            DELETE FROM t WHERE p = '100%';
            INSERT INTO t PARTITION (p) VALUES (11, '100%');
        """,
        hive_update="UPDATE t SET id = 100 WHERE p = 'a/b=c'",
        compacted="t PARTITION (p = 'a/b=c')",
    ),
    "renamed partitions and columns": Case(
        tables={"t": f"(id INT, v STRING) PARTITIONED BY (p INT) {ACID}"},
        alter="ALTER TABLE t CHANGE id k INT CASCADE;\n",
        script="""
            INSERT INTO t PARTITION (p) VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2);
            ALTER TABLE t PARTITION (p = 1) RENAME TO PARTITION (p = 7);
            DELETE FROM t WHERE id = 1;
            ALTER TABLE t CHANGE id k INT CASCADE;
            UPDATE t SET v = 'B' WHERE k = 2;
            INSERT INTO t PARTITION (p = 7) VALUES (30, 'z');
        """,
        hive_update="UPDATE t SET v = 'hive' WHERE k >= 3",
        compacted="t PARTITION (p = 7)",
    ),
    "types that a merge has widened": Case(
        tables={
            "t": "(k INT, s SMALLINT, f FLOAT, d DECIMAL(4,1), st STRUCT<a:INT>, "
            f"l ARRAY<STRUCT<a:INT>>) PARTITIONED BY (p INT) {ACID}",
        },
        alter="ALTER TABLE t CHANGE s s BIGINT CASCADE; ALTER TABLE t CHANGE f f DOUBLE CASCADE;\n"
        "ALTER TABLE t CHANGE d d DECIMAL(7,4) CASCADE;\n"
        "ALTER TABLE t CHANGE st st STRUCT<a:BIGINT,b:STRING> CASCADE;\n"
        "ALTER TABLE t CHANGE l l ARRAY<STRUCT<a:INT,b:STRING>> CASCADE;\n"
        "ALTER TABLE t ADD COLUMNS (n INT) CASCADE;\n",
        script="""
            INSERT INTO t PARTITION (p) SELECT i, i + 1, i - 0.5, i + 9.5, named_struct('a', i),
              array(named_struct('a', i)), i % 2 FROM (SELECT explode(array(1, 2, 3)) AS i) q;
            MERGE WITH SCHEMA EVOLUTION INTO t USING (
              SELECT 2 AS k, 5000000000 AS s, CAST(0.1 AS DOUBLE) AS f,
                CAST(12.1234 AS DECIMAL(6,4)) AS d,
                named_struct('a', 6000000000, 'b', 'q') AS st,
                array(named_struct('a', 7, 'b', 'r')) AS l, 0 AS p, 8 AS n
            ) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
            DELETE FROM t WHERE k = 3;
        """,
        hive_update="UPDATE t SET n = 9 WHERE k = 1",
        compacted="t PARTITION (p = 0)",
    ),
    "multi-insert": Case(
        tables={
            "s": f"(id INT, v STRING) {ACID}",
            "t": f"(id INT, v STRING) {ACID}",
            "u": f"(id INT, v STRING) PARTITIONED BY (p INT) {ACID}",
        },
        script="""
            INSERT INTO s VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
            FROM s INSERT INTO t SELECT id, v WHERE id < 3
                   INSERT INTO u PARTITION (p) SELECT id, v, id % 2;
        """,
        hive_update="UPDATE u SET v = 'hive' WHERE id = 4",
        compacted="u PARTITION (p = 0)",
    ),
    "overwrite": Case(
        tables={
            "t": f"(id INT, v STRING) {ACID}",
            "u": f"(id INT, v STRING) PARTITIONED BY (p INT) {ACID}",
        },
        script="""
            INSERT INTO t VALUES (1, 'a'), (2, 'b');
            INSERT OVERWRITE TABLE t VALUES (3, 'c'), (4, 'd');
            INSERT INTO t VALUES (5, 'e');
            DELETE FROM t WHERE id = 3;
            INSERT INTO u PARTITION (p) VALUES (1, 'a', 1), (2, 'b', 2);
            INSERT OVERWRITE TABLE u PARTITION (p) SELECT 5, 'over', 1;
            INSERT OVERWRITE TABLE u PARTITION (p = 3) VALUES (7, 'new');
        """,
        hive_update="UPDATE t SET v = 'hive' WHERE id = 4",
    ),
    "all types": Case(
        tables={
            "t": "(c_bool BOOLEAN, c_tiny TINYINT, c_small SMALLINT, c_int INT, c_big BIGINT, "
            "c_float FLOAT, c_double DOUBLE, c_dec DECIMAL(10,2), c_wide DECIMAL(38,18), "
            "c_string STRING, c_varchar VARCHAR(10), c_char CHAR(5), c_bin BINARY, c_date DATE, "
            "c_ts TIMESTAMP, c_arr ARRAY<INT>, c_map MAP<STRING,INT>, "
            f"c_struct STRUCT<a:INT,b:ARRAY<STRUCT<x:DOUBLE,y:STRING>>>) {ACID}"
        },
        script="""
            INSERT INTO t SELECT true, 1Y, 2S, 3, 4L, CAST(1.5 AS FLOAT), 2.25D,
              CAST(12345678.90 AS DECIMAL(10,2)),
              CAST('12345678901234567890.123456789012345678' AS DECIMAL(38,18)),
              'héllo', CAST('varchar' AS VARCHAR(10)), CAST('ab' AS CHAR(5)), unhex('00FF10'),
              DATE '2024-02-29', TIMESTAMP '2024-02-29 12:34:56.789012', array(1, 2, 3),
              map('k', 1), named_struct('a', 1, 'b', array(named_struct('x', 1.5D, 'y', 'z')));
            INSERT INTO t SELECT false, CAST(-128 AS TINYINT), CAST(-32768 AS SMALLINT),
              -2147483648, -9223372036854775807L, CAST(-0.5 AS FLOAT), -1.0E300D,
              CAST(-0.01 AS DECIMAL(10,2)), CAST('-0.000000000000000001' AS DECIMAL(38,18)),
              '', CAST('' AS VARCHAR(10)), CAST('' AS CHAR(5)), unhex(''), DATE '0001-01-01',
              TIMESTAMP '1500-01-01 00:00:00', array(CAST(NULL AS INT), 7),
              map('n', CAST(NULL AS INT)),
              named_struct('a', CAST(NULL AS INT),
                           'b', array(named_struct('x', CAST(NULL AS DOUBLE), 'y', 'q')));
            INSERT INTO t (c_int) VALUES (NULL);
            INSERT INTO t (c_int) VALUES (42);
            UPDATE t SET c_string = 'updated', c_dec = 1.10, c_char = 'xy' WHERE c_int = 3;
            DELETE FROM t WHERE c_int = 42;
        """,
        hive_update="UPDATE t SET c_string = 'hive' WHERE c_int < 0",
    ),
    "small statements without Spark": Case(
        tables={
            "t": "(id INT, l BIGINT, s SMALLINT, y TINYINT, b BOOLEAN, f FLOAT, d DOUBLE, "
            "n DECIMAL(10,2), w DECIMAL(38,10), v STRING, c CHAR(4), x VARCHAR(3), day DATE, "
            f"ts TIMESTAMP, raw BINARY, many ARRAY<INT>) {ACID}",
            "u": "(id INT, c CHAR(5), n DECIMAL(5,1), ts TIMESTAMP) PARTITIONED BY (p STRING) "
            f"CLUSTERED BY (c, n, ts) INTO 3 BUCKETS {ACID}",
        },
        script="""
            INSERT INTO t VALUES
              (1, 2, 3, 4, true, 1.5, 0.1, 3.455, -99, 'é€𝄞', 'ab', 'abcdef', '2020-02-29',
               '2020-02-29 23:59:59.123456', '�', NULL),
              (2, 2, 3, 4, false, 0.1, 0.1, -3.45, 0.5, '', '', '', '1969-12-31',
               '1969-12-31 23:59:58', '', NULL),
              (3, -9223372036854775808, NULL, NULL, NULL, NULL, NULL, 99999999.99,
               1234567890123456789012345678, NULL, NULL, NULL, '1582-10-15',
               '1582-10-15 00:00:00', NULL, NULL),
              (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '9999-12-31',
               '9999-12-31 23:59:59.999999', NULL, NULL);
            DELETE FROM t WHERE id = 4;
            INSERT INTO t (id, ts) VALUES (5, '1899-12-31 23:59:59');
            UPDATE t SET v = 'new', c = 'x', ts = '1883-11-18 12:03:57' WHERE id IN (1, 5);
            UPDATE t SET x = 'y' WHERE c = 'x' AND NOT b;
            DELETE FROM t WHERE id = 2 AND day = '1969-12-31';
            INSERT INTO u VALUES (1, 'a', 1.5, '2020-01-01 00:00:00.5', 'x'),
              (2, 'b', -2, '1960-01-01 00:00:00', 'y=z'), (3, NULL, NULL, NULL, NULL),
              (4, 'ccccc', 100.5, '2020-06-01 12:00:00', 'x');
            UPDATE u SET id = 7 WHERE c = 'a' AND p = 'x';
            DELETE FROM u WHERE id = 2;
        """,
        hive_update="UPDATE t SET v = 'hive' WHERE id = 5",
    ),
    "major compaction": Case(
        tables={"t": f"(id INT, v STRING) {ACID}"},
        script="""
            INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');
            UPDATE t SET v = 'upd' WHERE id = 1;
            DELETE FROM t WHERE id = 2;
            ALTER TABLE t COMPACT 'major' AND WAIT;
            INSERT INTO t VALUES (4, 'd');
        """,
        hive_update="UPDATE t SET v = 'hive' WHERE id = 3",
    ),
    "rebalance": Case(
        tables={"t": f"(id INT, v STRING) {ACID}"},
        script="""
            INSERT INTO t VALUES (5, 'e'), (3, 'c'), (1, 'a');
            INSERT INTO t VALUES (4, 'd'), (2, 'b');
            UPDATE t SET v = 'B' WHERE id = 2;
            DELETE FROM t WHERE id = 3;
            ALTER TABLE t COMPACT 'rebalance' CLUSTERED INTO 3 BUCKETS ORDER BY v DESC;
            INSERT INTO t VALUES (6, 'f');
            DELETE FROM t WHERE id = 5;
        """,
        hive_update="UPDATE t SET v = 'hive' WHERE id IN (1, 6)",
    ),
    "minor compaction": Case(
        tables={"t": f"(id INT, v STRING) PARTITIONED BY (p INT) {ACID}"},
        script="""
            INSERT INTO t PARTITION (p = 1) VALUES (1, 'a'), (2, 'b'), (3, 'c');
            INSERT INTO t PARTITION (p = 1) VALUES (4, 'd');
            UPDATE t SET v = 'upd' WHERE id = 1;
            DELETE FROM t WHERE id = 2;
            ALTER TABLE t PARTITION (p = 1) COMPACT 'minor' AND WAIT;
            DELETE FROM t WHERE id = 4;
        """,
        hive_update="UPDATE t SET v = 'hive' WHERE id = 3",
        compacted="t PARTITION (p = 1)",
    ),
    "old times, partition values, buckets, evolution": Case(
        tables={
            "t": "(k INT, ts TIMESTAMP, d DATE, c CHAR(4), "
            "m MAP<STRING,ARRAY<STRUCT<x:INT,y:TIMESTAMP>>>, "
            f"s STRUCT<a:MAP<STRING,DATE>,b:INT>) {ACID}",
            "p": "(id INT) PARTITIONED BY (d DATE, ts TIMESTAMP, n DECIMAL(6,3), b BOOLEAN, "
            f"c CHAR(4), x DOUBLE) {ACID}",
            "b1": "(id INT, k STRING, v STRING) CLUSTERED BY (k) INTO 4 BUCKETS "
            "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'bucketing_version'='1')",
            "b2": "(id INT, k STRING, d DECIMAL(10,2), ts TIMESTAMP, v STRING) "
            "CLUSTERED BY (k, d, ts) INTO 4 BUCKETS STORED AS ORC TBLPROPERTIES "
            "('transactional'='true', 'orc.bloom.filter.columns'='*')",
            "e": f"(a INT, b STRING) PARTITIONED BY (p INT) {ACID}",
        },
        alter="ALTER TABLE e ADD COLUMNS (c DOUBLE);\n",
        script="""
            INSERT INTO t SELECT 1, TIMESTAMP '1899-12-31 23:59:59.999999', DATE '1582-10-04',
              CAST('日本' AS CHAR(4)),
              map('k', array(named_struct('x', 1, 'y', TIMESTAMP '1582-10-04 12:00:00'))),
              named_struct('a', map('1', DATE '1500-02-28'), 'b', 255);
            INSERT INTO t SELECT 2, TIMESTAMP '0001-01-01 00:00:00', DATE '1582-10-15', 'a',
              map('', array(named_struct('x', 7, 'y', TIMESTAMP '1900-01-01 00:00:00.123456'))),
              named_struct('a', map('2', DATE '0001-01-01'), 'b', CAST(NULL AS INT));
            INSERT INTO t (k, ts, d) VALUES
              (3, TIMESTAMP '9999-12-31 23:59:59.999999', DATE '9999-12-31'),
              (4, TIMESTAMP '1969-12-31 23:59:59.000001', DATE '1969-12-31'),
              (5, TIMESTAMP '1677-09-21 00:12:43.145224', DATE '1677-09-21');
            UPDATE t SET c = 'upd' WHERE k = 2;
            INSERT INTO p PARTITION (d, ts, n, b, c, x) VALUES
              (1, DATE '2024-02-29', TIMESTAMP '2024-02-29 01:02:03.5', 1.5, true, 'ab', 1.0D),
              (2, DATE '1500-03-01', TIMESTAMP '1850-01-01 00:00:00', -2, false, 'd', 2.5D),
              (3, NULL, NULL, NULL, true, 'c', NULL);
            UPDATE p SET id = id + 10 WHERE id <> 3;
            INSERT INTO b1 VALUES (1,'a','x'), (2,'b','x'), (3,'c','x'), (4,NULL,'x'), (5,'é','x');
            UPDATE b1 SET v = 'u' WHERE id IN (1, 4);
            INSERT INTO b2 VALUES
              (1, 'a', 1.10, TIMESTAMP '2020-01-01 00:00:00', 'x'),
              (2, 'b', -1.5, TIMESTAMP '1899-12-31 23:59:59.999999', 'x'),
              (3, NULL, NULL, NULL, 'x'), (4, 'é', 100, TIMESTAMP '1970-01-01 00:00:00.5', 'x');
            UPDATE b2 SET v = 'u' WHERE id IN (2, 3);
            INSERT INTO e PARTITION (p) VALUES (1, 'one', 1), (2, 'two', 2);
            ALTER TABLE e ADD COLUMNS (c DOUBLE);
            INSERT INTO e PARTITION (p) VALUES (3, 'three', 0.5, 3), (4, 'four', 1.5, 4);
            UPDATE e SET b = 'u' WHERE a IN (1, 3);
        """,
        hive_update="UPDATE t SET c = 'hive' WHERE k IN (1, 2, 4);\n"
        "UPDATE p SET id = id + 100 WHERE id = 12;\n"
        "UPDATE b1 SET v = 'hive' WHERE id IN (2, 4);\n"
        "UPDATE b2 SET v = 'hive' WHERE id IN (2, 3);\n"
        "UPDATE e SET b = 'hive' WHERE a IN (1, 4)",
    ),
}
