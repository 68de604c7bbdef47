CREATE TABLE emp (id INT, name STRING, dept STRING, salary DECIMAL(10,2), hired DATE, bonus DOUBLE, big BIGINT, flag BOOLEAN, ts TIMESTAMP, f FLOAT, sm SMALLINT, vc VARCHAR(5), ch CHAR(5), num STRING) STORED AS ORC;
INSERT INTO emp VALUES
 (1, 'Ann', 'dev', 100.50, '2019-01-15', 1.5, 10, true, '2020-01-01 10:00:00', 1.1, 1, 'ab', 'ab', '10'),
 (2, 'Bob', 'dev', 200.00, '2019-02-28', NULL, 20, false, '2020-01-01 11:30:00.5', 2.5, 2, 'abc', 'abc', '9'),
 (3, 'Cid', 'ops', 150.25, '2020-02-29', 2.5, -30, NULL, NULL, NULL, 3, NULL, NULL, '1.5'),
 (4, NULL, 'ops', NULL, '2018-12-31', 3.5, 40, true, '2021-06-30 23:59:59', 4.5, NULL, 'x', 'x', 'abc'),
 (5, 'Eve', NULL, 99.99, NULL, -1.0, NULL, false, '2020-02-29 12:00:00', -5.5, 5, 'ab ', 'ab ', NULL),
 (6, 'Fay', 'dev', 200.00, '2019-02-28', 0.0, 60, true, '1999-12-31 23:59:59', 0.0, -6, '', '', '');
CREATE TABLE dept (dept STRING, title STRING, boss INT) STORED AS ORC;
INSERT INTO dept VALUES ('dev', 'Development', 1), ('ops', 'Operations', 3), ('hr', 'People', NULL);
CREATE TABLE nest (id INT, a ARRAY<INT>, m MAP<STRING,INT>, s STRUCT<x:INT,y:STRING>, aa ARRAY<STRUCT<k:STRING,v:INT>>) STORED AS ORC;
INSERT INTO nest
 SELECT 1, array(3, 1, 2), map('a', 1, 'b', 2), named_struct('x', 10, 'y', 'ten'), array(named_struct('k', 'p', 'v', 1), named_struct('k', 'q', 'v', 2));
INSERT INTO nest
 SELECT 2, array(7), map('c', 3), named_struct('x', 20, 'y', 'twenty'), array(named_struct('k', 'r', 'v', 3));
CREATE TABLE sales (region STRING, product STRING, amount INT) STORED AS ORC;
INSERT INTO sales VALUES ('n', 'a', 10), ('n', 'b', 20), ('s', 'a', 30), ('s', NULL, 40), (NULL, 'a', 50);
CREATE TABLE parted (id INT, v STRING) PARTITIONED BY (d DATE, k INT) STORED AS ORC;
INSERT INTO parted PARTITION (d = '2020-01-01', k = 1) VALUES (1, 'a'), (2, 'b');
INSERT INTO parted PARTITION (d = '2020-01-02', k = 2) VALUES (3, 'c');
CREATE VIEW rich AS SELECT id, name, salary * 2 AS twice FROM emp WHERE salary > 100;
CREATE VIEW named (who, pay) AS SELECT name, salary FROM emp WHERE id < 3;
CREATE TABLE src (key string, value string) STORED AS ORC;
INSERT INTO src VALUES ('1','a'),('2','b'),('1','a'),(NULL,'c');
CREATE TABLE em (a int, b int, c int) STORED AS ORC;
CREATE TABLE five (a int, b int, c int) STORED AS ORC;
INSERT INTO five VALUES (1,1,10),(1,2,20),(2,1,30);
CREATE TABLE lk (c string) STORED AS ORC;
INSERT INTO lk VALUES ('abc'),('xyz'),('a%'),(NULL),('');
CREATE VIEW starred AS SELECT *, 12, upper(title) FROM dept;
CREATE TABLE win (g STRING, i INT, x DOUBLE, d DATE, t TIMESTAMP, n DECIMAL(6,2), s STRING) STORED AS ORC;
INSERT INTO win VALUES
 ('a', 1, 1.5, '2020-01-01', '2020-01-01 00:00:00', 1.25, 'k'),
 ('a', 2, NULL, '2020-01-03', '2020-01-01 00:00:10', 2.50, NULL),
 ('a', 2, 2.5, NULL, NULL, NULL, 'm'),
 ('a', NULL, 4.0, '2020-02-01', '2020-01-02 12:00:00', -1.00, 'k'),
 ('b', 5, -1.0, '2020-01-02', '2020-01-01 00:00:05.5', 0.75, 'z'),
 ('b', 7, 0.0, '2020-01-02', '2020-01-01 01:00:00', 9.99, ''),
 (NULL, 9, 3.0, '1969-12-31', '1969-12-31 23:59:59', 100.00, 'Z'),
 (NULL, -3, NULL, '2024-02-29', '2024-02-29 10:20:30.123', 5.00, 'a b');
