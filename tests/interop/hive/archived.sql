-- What most runs use: its classes go into the archive that the build makes.
CREATE TABLE t (a INT, b STRING) PARTITIONED BY (p INT) STORED AS ORC TBLPROPERTIES ('transactional' = 'true');
INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2);
UPDATE t SET b = 'c' WHERE a = 1;
MERGE INTO t USING (SELECT 2 AS a) s ON t.a = s.a WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (3, 'd', 3);
SELECT p, count(*) FROM t GROUP BY p ORDER BY p;
ALTER TABLE t PARTITION (p = 1) COMPACT 'major';
!worker;
!cleaner;
