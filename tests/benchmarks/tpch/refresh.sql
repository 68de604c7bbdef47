-- Refresh functions as Hive's DML, for DuckDB as well. `arrivals` holds orders and `arrived_lines` their lines:
-- half of them are new, the others replace what is there.

-- M1: orders arrive or change
MERGE INTO orders USING arrivals a ON orders.o_orderkey = a.o_orderkey
WHEN MATCHED THEN UPDATE SET o_totalprice = a.o_totalprice, o_comment = a.o_comment
WHEN NOT MATCHED THEN INSERT VALUES (a.o_orderkey, a.o_custkey, a.o_orderstatus, a.o_totalprice, a.o_orderdate,
  a.o_orderpriority, a.o_clerk, a.o_shippriority, a.o_comment);

-- M2: and their lines
MERGE INTO lineitem USING arrived_lines a ON lineitem.l_orderkey = a.l_orderkey AND lineitem.l_linenumber = a.l_linenumber
WHEN MATCHED AND a.l_quantity > 45 THEN DELETE
WHEN MATCHED THEN UPDATE SET l_quantity = a.l_quantity, l_extendedprice = a.l_extendedprice
WHEN NOT MATCHED THEN INSERT VALUES (a.l_orderkey, a.l_partkey, a.l_suppkey, a.l_linenumber, a.l_quantity,
  a.l_extendedprice, a.l_discount, a.l_tax, a.l_returnflag, a.l_linestatus, a.l_shipdate, a.l_commitdate,
  a.l_receiptdate, a.l_shipinstruct, a.l_shipmode, a.l_comment);

-- U1: a price list changes
UPDATE lineitem SET l_discount = l_discount + 0.01 WHERE l_partkey % 100 = 3 AND l_discount < 0.10;

-- D1: old orders go
DELETE FROM orders WHERE o_orderkey % 1000 BETWEEN 32 AND 34;

-- D2: with their lines
DELETE FROM lineitem WHERE l_orderkey % 1000 BETWEEN 32 AND 34;
